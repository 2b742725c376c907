//! How a run goes, as it is recorded: redrawn on a terminal, one plain line for each thing elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jackline_workflow::Workflow;
use jackline_workflow::run::{Entry, Observer};
use serde_json::Value;

use super::spent::Spent;
use crate::{screen, timeline};

/// How often the clock is drawn anew: it shows seconds.
const TICK: Duration = Duration::from_secs(1);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Terminal,
    Lines,
}

/// Shows how a run goes.
#[derive(Debug)]
pub(super) struct Progress {
    way: Way,
    /// The level of each node.
    levels: BTreeMap<String, usize>,
    began: Instant,
    seen: Mutex<Seen>,
}

/// What was seen so far.
#[derive(Debug, Default)]
struct Seen {
    /// Steps at work, and who does them.
    at_work: BTreeMap<String, String>,
    finished: BTreeSet<String>,
    /// Why each agent failed last, as it was told.
    failed: BTreeMap<String, Value>,
    /// What the manager has left.
    budget: String,
    /// What the run used of what it may use.
    spent: Spent,
    /// Time that was used before the run was taken up again.
    before: Duration,
    /// Whether the last line is to be drawn over.
    drawn: bool,
}

impl Progress {
    pub(super) fn new(way: Way, flow: &Workflow) -> Self {
        let levels = flow.dag.levels();
        let names = flow.manifest().into_iter().flat_map(|manifest| manifest.graph());
        let names = names.map(|node| node.id().and_then(|id| id.text()).unwrap_or_default().to_owned());
        let levels = names.zip(levels).collect();
        let seen = Seen { spent: Spent::of(flow), ..Seen::default() };
        Self { way, levels, began: Instant::now(), seen: Mutex::new(seen) }
    }

    /// Does something while the clock is shown: an agent may be at work for long without a record.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.way == Way::Lines {
            return work();
        }
        thread::scope(|scope| {
            let (over, waits) = mpsc::channel::<()>();
            let ticks = move || {
                while waits.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    self.redraw()
                }
            };
            // Without the clock the run goes on as well.
            drop(thread::Builder::new().spawn_scoped(scope, ticks));
            let done = work();
            drop(over);
            done
        })
    }

    fn redraw(&self) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.drawn {
            screen::draw(&self.status(&seen));
        }
    }

    /// Nothing more is to come.
    pub(super) fn end(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        clear(&mut seen);
    }

    /// Who is at work, on which level, and what is left.
    fn status(&self, seen: &Seen) -> String {
        let names: BTreeSet<&str> = seen.at_work.values().map(String::as_str).collect();
        let level = names.iter().filter_map(|name| self.levels.get(*name)).max();
        let level = level.map(|level| format!("level {} of {} · ", level + 1, self.depth())).unwrap_or_default();
        let names: Vec<String> = names.into_iter().map(timeline::shown).collect();
        let names = if names.is_empty() { "…".to_owned() } else { names.join(", ") };
        let seconds = (seen.before + self.began.elapsed()).as_secs();
        format!("{seconds:>4}s  {level}{names}{}{}", seen.budget, seen.spent.shown())
    }

    fn depth(&self) -> usize {
        self.levels.values().max().map_or(1, |level| level + 1)
    }
}

impl Observer for Progress {
    fn saw(&self, entry: &Entry) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let line = told(entry, &self.levels).filter(|_| !seen.repeats(entry));
        seen.take(entry);
        match self.way {
            Way::Lines => line.into_iter().for_each(|line| screen::complain(&line)),
            Way::Terminal => {
                clear(&mut seen);
                line.filter(|_| entry.kind != "agent.started").into_iter().for_each(|line| screen::complain(&line));
                screen::draw(&self.status(&seen));
                seen.drawn = true;
            }
        }
    }
}

impl Seen {
    /// Whether it was told already why somebody gave up.
    fn repeats(&self, entry: &Entry) -> bool {
        entry.kind == "agent.gave_up" && self.failed.get(&entry.agent) == entry.data.get("reason")
    }

    fn take(&mut self, entry: &Entry) {
        self.spent.take(entry);
        let step = entry.step.clone().unwrap_or_default();
        if entry.kind == "agent.failed" {
            self.failed.insert(entry.agent.clone(), entry.data.get("reason").cloned().unwrap_or_default());
        }
        match entry.kind {
            "agent.started" => drop(self.at_work.insert(step, entry.agent.clone())),
            "agent.finished" | "agent.failed" | "agent.stopped" => {
                self.at_work.remove(&step);
                self.finished.insert(step);
            }
            "run.resumed" => {
                let spent = entry.data.get("spent_ms").and_then(Value::as_u64);
                self.before = Duration::from_millis(spent.unwrap_or_default());
                self.left(entry);
            }
            "manager.decided" => self.left(entry),
            _ => {}
        }
    }

    /// What a record says that a manager has left.
    fn left(&mut self, entry: &Entry) {
        let left = |name: &str| entry.data.pointer(&format!("/budget/{name}")).and_then(Value::as_u64);
        if let (Some(loops), Some(workers)) = (left("loops"), left("workers")) {
            self.budget = format!(" · {loops} turns and {workers} workers left");
        }
    }
}

fn clear(seen: &mut Seen) {
    if std::mem::take(&mut seen.drawn) {
        screen::draw("");
    }
}

/// One line for what is worth one.
fn told(entry: &Entry, levels: &BTreeMap<String, usize>) -> Option<String> {
    let text = |name: &str| timeline::shown(entry.data.get(name).and_then(Value::as_str).unwrap_or_default());
    let agent = timeline::shown(&entry.agent);
    let again = |attempt: u64| if attempt > 1 { format!(" (try {attempt})") } else { String::new() };
    let attempt = again(entry.data.get("attempt").and_then(Value::as_u64).unwrap_or(1));
    Some(match entry.kind {
        "run.started" => format!("run of {agent} started"),
        "run.resumed" => format!("run of {agent} taken up again"),
        "agent.started" => {
            let level = levels.get(&entry.agent).map(|level| format!(", level {}", level + 1)).unwrap_or_default();
            format!("  {agent} started{attempt}{level}")
        }
        "agent.finished" => format!("  {agent} finished{attempt}"),
        "agent.failed" => format!("  {agent} failed{attempt}: {}", text("reason")),
        "agent.gave_up" => match text("on_failure") {
            none if none.is_empty() => format!("  {agent} gave up: {}", text("reason")),
            on_failure => format!("  {agent} gave up ({on_failure}): {}", text("reason")),
        },
        "agent.skipped" => format!("  {agent} skipped: {}", text("reason")),
        "agent.stopped" => format!("  {agent} stopped"),
        "state.refused" => format!(
            "  {agent} wrote reserved keys: {}",
            entry.data.get("keys").map(ToString::to_string).unwrap_or_default()
        ),
        "message.rejected" => format!("  {agent} sent a message that is not delivered: {}", text("reason")),
        "manager.decided" => match text("refused") {
            none if none.is_empty() => format!("  {agent} decided {}", text("decision")),
            refused => format!("  {agent} decided {}: {refused}", text("decision")),
        },
        "manager.refused" => format!("  {agent} is told: {}", text("refused")),
        "gate.event" if entry.data.get("triggered") == Some(&Value::Bool(true)) => {
            format!("  gate {}: {}", text("gate"), text("reason"))
        }
        _ => return None,
    })
}
