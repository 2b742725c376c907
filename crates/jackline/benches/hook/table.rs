//! The numbers of a run, and whether they keep what is promised.

use super::programs::{DIST, EMPTY, PLAIN, PYTHON, Program, TRUE};
use super::spawn::Ended;
use super::world::{Guards, KINDS, Kind};

/// How much longer than an empty program a build may take.
const OVER_EMPTY: [(&str, f64); 2] = [(PLAIN, 1.5), (DIST, 0.7)];
/// How much longer an event may take after the longest history than without one.
const OVER_NO_HISTORY: f64 = 1.1;
/// How many times as long the hook in Python takes at least.
const UNDER_PYTHON: f64 = 20.0;
/// Mebibytes of memory that a hook has at most.
const MEMORY_MIB: f64 = 6.0;

/// One program, and what it is asked.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) program: Program,
    /// What is asked; nothing for programs that are not ours.
    pub(crate) asked: Option<Asked>,
    pub(crate) microseconds: Vec<f64>,
    pub(crate) bytes: u64,
}

/// A question to a build of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) guards: Guards,
    /// Earlier events of the session.
    pub(crate) length: u64,
    pub(crate) kind: Kind,
}

impl Row {
    pub(crate) const fn new(program: Program, asked: Option<Asked>) -> Self {
        Self { program, asked, microseconds: Vec::new(), bytes: 0 }
    }

    /// A program that failed, or a call that was not allowed, measured something else.
    pub(crate) fn check(&self, ended: &Ended) {
        let name = self.program.name;
        assert_eq!((ended.code, ended.said.as_str()), (Some(0), ""), "{name} let the call pass");
    }
}

/// All numbers of a run.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub(crate) rows: Vec<Row>,
    pub(crate) lengths: &'a [u64],
}

impl Table<'_> {
    pub(crate) fn print(&self) {
        println!("\nmicroseconds from the start of the process to its end, all in turn in one run");
        println!("{:<44} {:>7} {:>7} {:>7} {:>9} {:>9}", "", "min", "median", "p99", "× empty", "MiB");
        for name in [EMPTY, TRUE, PYTHON].iter().filter(|name| !self.of(name, None, None).is_empty()) {
            self.line(name, &self.of(name, None, None));
        }
        for (build, _) in OVER_EMPTY.iter().filter(|(build, _)| !self.of(build, None, None).is_empty()) {
            for length in self.lengths {
                self.line(&format!("{build}, {length} earlier"), &self.of(build, Some(*length), None));
            }
            for kind in KINDS {
                let name = format!("  {} {}, all histories", kind.event, kind.tool);
                self.line(&name, &self.of(build, None, Some(kind)));
            }
            self.line(&format!("{build}, all guards on"), &self.guarded(build, None));
            for kind in KINDS {
                let name = format!("  {} {}, all guards on", kind.event, kind.tool);
                self.line(&name, &self.guarded(build, Some(kind)));
            }
        }
        println!();
        OVER_EMPTY.iter().for_each(|(build, over)| self.judge(build, *over));
    }

    fn line(&self, name: &str, rows: &[&Row]) {
        let (least, median, worst) = (share(rows, 0.0), share(rows, 0.5), share(rows, 0.99));
        let ratio = median / self.median(EMPTY);
        println!("{name:<44} {least:>7.0} {median:>7.0} {worst:>7.0} {ratio:>9.2} {:>9.1}", mebibytes(rows));
    }

    /// Says of each promise whether this run kept it; the longest history stands for all.
    fn judge(&self, build: &str, over_empty: f64) {
        let (Some(none), Some(longest)) = (self.lengths.first(), self.lengths.last()) else { return };
        let (without, with) = (self.of(build, Some(*none), None), self.of(build, Some(*longest), None));
        if with.is_empty() {
            return;
        }
        let median = share(&with, 0.5);
        let at_most = |what: &str, value: f64, bound: f64| {
            let met = if value <= bound { "met" } else { "MISSED" };
            println!("{build}: {what} {value:.2}, at most {bound}: {met}");
        };
        let guarded = self.guarded(build, None);
        at_most("× the empty program", median / self.median(EMPTY), over_empty);
        at_most("× the empty program, all guards on", share(&guarded, 0.5) / self.median(EMPTY), over_empty);
        at_most(
            &format!("× itself without earlier events, after {longest}"),
            median / share(&without, 0.5),
            OVER_NO_HISTORY,
        );
        at_most("MiB of memory", mebibytes(&with).max(mebibytes(&guarded)), MEMORY_MIB);
        if !self.of(PYTHON, None, None).is_empty() {
            let times = self.median(PYTHON) / median;
            let met = if times >= UNDER_PYTHON { "met" } else { "MISSED" };
            println!("{build}: {times:.1} times as fast as the hook in Python, at least {UNDER_PYTHON}: {met}");
        }
    }

    /// The rows of a program under the usual guards, if any.
    fn of(&self, name: &str, length: Option<u64>, kind: Option<Kind>) -> Vec<&Row> {
        let fits = |row: &&Row| {
            row.program.name == name
                && row.asked.is_none_or(|asked| asked.guards == Guards::Usual)
                && length.is_none_or(|length| row.asked.is_some_and(|asked| asked.length == length))
                && kind.is_none_or(|kind| row.asked.is_some_and(|asked| asked.kind == kind))
        };
        self.rows.iter().filter(fits).collect()
    }

    /// The rows of a program with all guards on.
    fn guarded(&self, name: &str, kind: Option<Kind>) -> Vec<&Row> {
        let all = |asked: Asked| asked.guards == Guards::All && kind.is_none_or(|kind| asked.kind == kind);
        self.rows.iter().filter(|row| row.program.name == name && row.asked.is_some_and(all)).collect()
    }

    fn median(&self, name: &str) -> f64 {
        share(&self.of(name, None, None), 0.5)
    }
}

fn mebibytes(rows: &[&Row]) -> f64 {
    rows.iter().map(|row| row.bytes).max().unwrap_or_default() as f64 / f64::from(1 << 20)
}

/// The time below which this share of all times lies.
fn share(rows: &[&Row], part: f64) -> f64 {
    let mut times: Vec<f64> = rows.iter().flat_map(|row| &row.microseconds).copied().collect();
    times.sort_by(f64::total_cmp);
    times.get((times.len() as f64 * part) as usize).copied().unwrap_or_default()
}
