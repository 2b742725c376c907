//! An account as SVG: a row for each agent, bars for its work, marks for what gates and the manager said. Drawn by
//! ourselves, readable on light and dark screens, by people and by screen readers.

use std::fmt::Write as _;

use super::{Account, Outcome, Step, duration};
use crate::graph::label::{columns, cut};
use crate::visible::escaped;

/// Rows that are drawn; a run with more agents has the rest in its other forms.
const ROWS_MAX: usize = 80;
/// Bars and marks that are drawn.
const MARKS_MAX: usize = 3_000;
/// Columns of an agent's name.
const NAME_COLUMNS_MAX: usize = 28;
/// Columns of the title: what the page has room for.
const TITLE_COLUMNS_MAX: usize = 90;
/// Columns of a line of a tooltip.
const TOOLTIP_COLUMNS_MAX: usize = 200;
/// Ticks of the time line: about this many.
const TICKS: u64 = 6;

/// Pixels of the page, and of its parts.
const WIDTH_PX: u64 = 960;
const MARGIN_PX: u64 = 20;
const NAMES_PX: u64 = 210;
const ROW_PX: u64 = 26;
const BAR_PX: u64 = 16;
/// The shortest bar that can still be seen.
const BAR_PX_MIN: u64 = 3;
const TOP_PX: u64 = 92;
const LEGEND_PX: u64 = 14;

/// What shapes mean.
const LEGEND: &str =
    "bars: work, outlined if it failed, dashed if skipped or open; diamonds: decisions, gates, refusals";

/// Colours for light screens, then for dark ones; each has the contrast that reading needs. Shapes differ too, so that colours
/// are not all there is.
pub(super) const STYLE: &str = "\
text{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:12px;fill:#1f2328}
.page{fill:#ffffff}.title{font-size:15px;font-weight:600}.muted{fill:#59636e}
.grid{stroke:#d1d9e0;stroke-width:1}.row{stroke:#eff2f5;stroke-width:1}
rect.done{fill:#2da44e;stroke:#1a7f37}rect.failed{fill:#ffebe9;stroke:#cf222e;stroke-width:2}
rect.skipped{fill:none;stroke:#59636e;stroke-dasharray:4 3}rect.open{fill:#fff8c5;stroke:#9a6700;stroke-dasharray:4 3}
path.mark{fill:#0969da}path.bad{fill:#cf222e}path.passed{fill:#1a7f37}
text.done{fill:#1a7f37}text.failed{fill:#a40e26}text.warned{fill:#7d4e00}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.page{fill:#0d1117}.muted{fill:#9198a1}.grid{stroke:#3d444d}.row{stroke:#21262d}
rect.done{fill:#238636;stroke:#3fb950}rect.failed{fill:#3a1416;stroke:#ff7b72}
rect.skipped{stroke:#9198a1}rect.open{fill:#2d2206;stroke:#d29922}
path.mark{fill:#58a6ff}path.bad{fill:#ff7b72}path.passed{fill:#3fb950}
text.done{fill:#3fb950}text.failed{fill:#ffa198}text.warned{fill:#e3b341}
}
";

impl Account {
    /// As a picture, whole and by itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.picture(true)
    }

    /// The picture; inside of a page its colours are the page's.
    pub(super) fn picture(&self, alone: bool) -> String {
        let rows = self.rows();
        let height = TOP_PX + (rows.len() as u64 + 1) * ROW_PX + 2 * MARGIN_PX + LEGEND_PX;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH_PX}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH_PX} {height}\" role=\"img\" aria-labelledby=\"title desc\">\n"
        );
        let _ = writeln!(text, "<title id=\"title\">{}</title>", escaped(&cut(&self.title(), TOOLTIP_COLUMNS_MAX)));
        let _ = writeln!(text, "<desc id=\"desc\">{}</desc>", escaped(&self.described(&rows)));
        if alone {
            let _ = writeln!(text, "<style>\n{STYLE}</style>");
        }
        let _ = writeln!(text, "<rect class=\"page\" width=\"{WIDTH_PX}\" height=\"{height}\"/>");
        self.draw_head(&mut text);
        let scale = Scale { total_ms: self.elapsed_ms.max(1) };
        draw_ticks(&mut text, scale, height - LEGEND_PX - MARGIN_PX / 2);
        for (at, name) in rows.iter().enumerate() {
            draw_name(&mut text, name, top(at));
        }
        for step in self.steps.iter().take(MARKS_MAX) {
            if let Some(at) = rows.iter().position(|row| *row == step.agent) {
                draw_bar(&mut text, step, (scale, top(at)));
            }
        }
        self.draw_marks(&mut text, scale, top(rows.len()));
        let more = self.agents().len().saturating_sub(rows.len());
        let more = if more > 0 { format!("and {more} more agents; ") } else { String::new() };
        draw_text(&mut text, "muted", (MARGIN_PX, height - LEGEND_PX), &format!("{more}{LEGEND}"));
        text.push_str("</svg>\n");
        text
    }

    fn title(&self) -> String {
        format!("{}: {}", self.workflow, self.standing())
    }

    /// Agents in the order they first worked.
    fn agents(&self) -> Vec<&str> {
        let mut agents: Vec<&str> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for step in &self.steps {
            if seen.insert(step.agent.as_str()) {
                agents.push(&step.agent);
            }
        }
        agents
    }

    fn rows(&self) -> Vec<&str> {
        let mut rows = self.agents();
        rows.truncate(ROWS_MAX);
        rows
    }

    /// What a screen reader says.
    fn described(&self, rows: &[&str]) -> String {
        let mut text = format!("took {}", duration(self.elapsed_ms));
        for agent in rows {
            let of = |outcome| self.steps.iter().filter(|step| step.agent == *agent && step.outcome == outcome).count();
            let counts = [Outcome::Done, Outcome::Failed, Outcome::Skipped, Outcome::Open];
            let counts = counts.map(|outcome| (of(outcome), outcome.word()));
            let told: Vec<String> =
                counts.iter().filter(|(count, _)| *count > 0).map(|(n, word)| format!("{n} {word}")).collect();
            let _ = write!(text, ". {}: {}", cut(agent, NAME_COLUMNS_MAX), told.join(", "));
        }
        text
    }

    fn draw_head(&self, text: &mut String) {
        draw_text(text, "title", (MARGIN_PX, 30), &cut(&self.workflow, TITLE_COLUMNS_MAX));
        let end = format!("{}, took {}", self.standing(), duration(self.elapsed_ms));
        draw_text(text, self.class(), (MARGIN_PX, 50), &cut(&end, TITLE_COLUMNS_MAX));
        let run = format!("run {}, began {}", self.run, self.began);
        draw_text(text, "muted", (MARGIN_PX, 68), &cut(&run, TITLE_COLUMNS_MAX));
    }

    /// The last row: what was decided, and what gates said.
    fn draw_marks(&self, text: &mut String, scale: Scale, y: u64) {
        draw_name(text, "decisions, gates", y);
        for moment in self.moments.iter().take(MARKS_MAX) {
            let class = if moment.bad { "bad" } else { "mark" };
            draw_mark(text, class, (scale.x(moment.at_ms), y), &format!("{} {}", moment.kind, moment.text));
        }
        for gate in self.gates.iter().take(MARKS_MAX) {
            let (class, word) = if gate.passed { ("passed", "passed") } else { ("bad", "rejected") };
            let reason = gate.reason.as_deref().unwrap_or_default();
            draw_mark(text, class, (scale.x(gate.at_ms), y), &format!("{word} {} {reason}", gate.gate));
        }
    }
}

/// From milliseconds to pixels.
#[derive(Debug, Clone, Copy)]
struct Scale {
    total_ms: u64,
}

impl Scale {
    fn x(self, ms: u64) -> u64 {
        let room = WIDTH_PX - 2 * MARGIN_PX - NAMES_PX;
        MARGIN_PX
            + NAMES_PX
            + u64::try_from(u128::from(ms.min(self.total_ms)) * u128::from(room) / u128::from(self.total_ms))
                .unwrap_or(room)
    }
}

fn top(row: usize) -> u64 {
    TOP_PX + row as u64 * ROW_PX
}

fn draw_text(text: &mut String, class: &str, (x, y): (u64, u64), said: &str) {
    let _ = writeln!(text, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(said));
}

fn draw_name(text: &mut String, name: &str, y: u64) {
    let _ = writeln!(
        text,
        "<line class=\"row\" x1=\"{MARGIN_PX}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\"/>",
        y + ROW_PX,
        WIDTH_PX - MARGIN_PX
    );
    draw_text(text, "name", (MARGIN_PX, y + 17), &cut(name, NAME_COLUMNS_MAX));
}

/// Lines at round times.
fn draw_ticks(text: &mut String, scale: Scale, height: u64) {
    let step = tick(scale.total_ms);
    for at in (0..=scale.total_ms).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
        let x = scale.x(at);
        let _ = writeln!(
            text,
            "<line class=\"grid\" x1=\"{x}\" y1=\"{TOP_PX}\" x2=\"{x}\" y2=\"{}\"/>",
            height - MARGIN_PX
        );
        let said = duration(at);
        // The last one would run out of the page.
        let anchor = if x + 8 * columns(&said) as u64 > WIDTH_PX { "end" } else { "start" };
        let _ = writeln!(
            text,
            "<text class=\"muted\" x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{said}</text>",
            TOP_PX - 6
        );
    }
}

/// A round time between two ticks: 1, 2 or 5 times a power of ten.
fn tick(total_ms: u64) -> u64 {
    let wanted = (total_ms / TICKS).max(1);
    let power = 10_u64.pow(wanted.ilog10());
    [1, 2, 5, 10].into_iter().map(|times| times * power).find(|step| *step >= wanted).unwrap_or(wanted)
}

fn draw_bar(text: &mut String, step: &Step, (scale, y): (Scale, u64)) {
    let from = scale.x(step.from_ms);
    let to = scale.x(step.to_ms.unwrap_or(scale.total_ms)).max(from + BAR_PX_MIN);
    let (class, width, y) = (step.outcome.word(), to - from, y + (ROW_PX - BAR_PX) / 2);
    let took = step.to_ms.map(|to| format!(", {}", duration(to.saturating_sub(step.from_ms)))).unwrap_or_default();
    let note = step.note.as_deref().unwrap_or_default();
    let told = cut(&format!("{} {class}{took} {note}", step.agent), TOOLTIP_COLUMNS_MAX);
    let _ = writeln!(
        text,
        "<rect class=\"{class}\" x=\"{from}\" y=\"{y}\" width=\"{width}\" height=\"{BAR_PX}\" rx=\"3\"><title>{}</title></rect>",
        escaped(&told)
    );
}

/// A diamond.
fn draw_mark(text: &mut String, class: &str, (x, y): (u64, u64), told: &str) {
    let told = escaped(&cut(told.trim(), TOOLTIP_COLUMNS_MAX));
    let _ = writeln!(text, "<path class=\"{class}\" d=\"M{x} {}l6 7l-6 7l-6 -7z\"><title>{told}</title></path>", y + 6);
}
