//! What is wrong with a definition, where, and what to do about it; drawn for a person as plain text.

use std::fmt::Write as _;

/// Columns of a source line that are drawn; the rest of a longer line is left out around the fault.
const LINE_COLUMNS_MAX: usize = 100;
/// Columns kept in front of the fault when a line is cut, so that its key is still seen.
const LINE_COLUMNS_BEFORE: usize = 30;
/// Bytes of a line that are looked at on either side of a fault: no more columns fit, and a program may write a file
/// of one line with a thousand faults in it.
const LINE_BYTES_AROUND: usize = 512;
/// How a tab is drawn, so that carets stand where they should.
const TAB_COLUMNS: usize = 4;
/// Characters of a value quoted in a message: enough to recognise it.
const QUOTED_CHARS_MAX: usize = 60;
/// Faults kept of each kind (errors, warnings): more help nobody, and a hostile file could cause 50,000.
pub const FAULTS_MAX: usize = 500;
/// Unknown keys of one file that are compared with the known ones: a file that has more was not misspelled.
const COMPARED_MAX: usize = 5_000;

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// Byte offsets, the end exclusive.
    pub start: usize,
    pub end: usize,
    /// Both from one; the column in characters.
    pub line: u32,
    pub column: u32,
}

impl Span {
    /// Whether `other` lies inside.
    #[must_use]
    pub const fn contains(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// Why a definition cannot be used, or (a warning) why it may not do what its owner thinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Lowercase, one line, no final period, the owner's values in backticks.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// Where; `None` for a definition built in code.
    pub span: Option<Span>,
    pub warning: bool,
}

impl Fault {
    /// An error.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, span: None, warning: false }
    }

    /// A warning.
    #[must_use]
    pub fn warning(message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::error(message) }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The same with a remedy, if there is one.
    #[must_use]
    pub fn help_if(self, help: Option<String>) -> Self {
        Self { help: help.or(self.help), ..self }
    }

    /// The same with its place.
    #[must_use]
    pub fn at(self, span: Span) -> Self {
        Self { span: Some(span), ..self }
    }
}

/// Why a definition that was put together in code cannot be used: all its errors, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faulty {
    pub faults: Vec<Fault>,
}

impl std::fmt::Display for Faulty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let first = self.faults.first().map(|fault| fault.message.as_str()).unwrap_or_default();
        write!(f, "the definition has {} fault(s): {first}", self.faults.len())
    }
}

impl std::error::Error for Faulty {}

/// Faults as they are found, bounded by kind so that warnings never crowd out an error.
#[derive(Debug, Default)]
pub struct Faults {
    found: Vec<Fault>,
    errors: usize,
    warnings: usize,
    compared: usize,
}

impl Faults {
    /// Whether one more unknown key may be compared with the known ones.
    pub(super) const fn may_compare(&mut self) -> bool {
        self.compared += 1;
        self.compared <= COMPARED_MAX
    }

    /// Keeps a fault while there is room for its kind.
    pub fn push(&mut self, fault: Fault) {
        if self.room(fault.warning) {
            self.found.push(fault);
        }
    }

    /// Keeps an error that costs something to word, if there is room.
    pub fn error_with(&mut self, fault: impl FnOnce() -> Fault) {
        if self.room(false) {
            self.found.push(fault());
        }
    }

    /// Keeps a warning that costs something to word, if there is room.
    pub fn warn_with(&mut self, fault: impl FnOnce() -> Fault) {
        if self.room(true) {
            self.found.push(fault());
        }
    }

    /// Counts one of a kind and says whether it can be kept.
    const fn room(&mut self, warning: bool) -> bool {
        let count = if warning { &mut self.warnings } else { &mut self.errors };
        *count += 1;
        *count <= FAULTS_MAX
    }

    /// Whether any error was found, kept or not.
    #[must_use]
    pub const fn any_error(&self) -> bool {
        self.errors > 0
    }

    /// Whether an error kept so far lies inside a place.
    #[must_use]
    pub fn error_inside(&self, place: &Span) -> bool {
        self.found.iter().any(|fault| !fault.warning && fault.span.is_some_and(|span| place.contains(&span)))
    }

    /// What was kept, in the order of the source, and how many there were beyond it.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Fault> {
        let lost = self.errors.saturating_sub(FAULTS_MAX);
        self.found.sort_by_key(|fault| fault.span.map(|span| (span.start, span.end)));
        if lost > 0 {
            self.found.push(Fault::error(format!("{lost} more errors are not shown")));
        }
        self.found
    }
}

/// A value of the owner's in backticks: one line, clipped, nothing a terminal would obey.
#[must_use]
pub fn quoted(value: &str) -> String {
    let mut text = String::from("`");
    for (at, c) in value.chars().enumerate() {
        if at == QUOTED_CHARS_MAX {
            text.push('…');
            break;
        }
        if is_plain(c) {
            text.push(c);
        } else {
            text.extend(c.escape_default());
        }
    }
    text.push('`');
    text
}

/// Whether a character may be shown as it is: no controls, no marks that reorder or hide text.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Draws all faults with the lines they speak of, and counts them.
#[must_use]
pub fn render(faults: &[Fault], source: &str, name: &str) -> String {
    let mut text = String::new();
    for fault in faults {
        let level = if fault.warning { "warning" } else { "error" };
        draw(&mut text, level, fault, (source, name));
        text.push('\n');
    }
    let warnings = faults.iter().filter(|fault| fault.warning).count();
    text.push_str(&count_line(faults.len() - warnings, warnings));
    text.push('\n');
    text
}

/// Draws one fault under a label, with the line it speaks of in a source of this name.
pub fn draw(text: &mut String, label: &str, fault: &Fault, (source, name): (&str, &str)) {
    let _ = writeln!(text, "{label}: {}", fault.message);
    let mut gutter = " ".to_owned();
    if let Some(span) = fault.span {
        gutter = " ".repeat(span.line.to_string().len() + 1);
        let _ = writeln!(text, "{gutter}--> {name}:{}:{}", span.line, span.column);
        let (line, before, marked) = excerpt(source, span);
        let _ = writeln!(text, "{gutter} |");
        let _ = writeln!(text, " {} | {line}", span.line);
        let _ = writeln!(text, "{gutter} | {}{}", " ".repeat(before), "^".repeat(marked.max(1)));
    }
    if let Some(help) = &fault.help {
        let _ = writeln!(text, "{gutter} = help: {help}");
    }
}

/// The line of a span as it is drawn, the columns in front of the mark, and the columns marked.
fn excerpt(source: &str, span: Span) -> (String, usize, usize) {
    let start = floor(source, span.start);
    let from = floor(source, start.saturating_sub(LINE_BYTES_AROUND));
    let seen = source.get(from..start).unwrap_or_default();
    let head = seen.rsplit(['\n', '\r']).next().unwrap_or_default();
    let whole = from == 0 || head.len() < seen.len();
    let tail = source.get(start..floor(source, start.saturating_add(LINE_BYTES_AROUND))).unwrap_or_default();
    let tail = tail.split(['\n', '\r']).next().unwrap_or_default();
    let (inside, after) = tail.split_at(floor(tail, span.end.saturating_sub(start)));
    let mut line = Drawn::default();
    line.cut_head(head, whole);
    let before = line.columns;
    line.extend(inside.trim_end());
    let marked = line.columns - before;
    line.extend(inside.get(inside.trim_end().len()..).unwrap_or_default());
    line.extend(after);
    (line.text.trim_end().to_owned(), before, marked)
}

/// The nearest character boundary at or below an offset.
fn floor(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A line being drawn, with the columns it takes up.
#[derive(Default)]
struct Drawn {
    text: String,
    columns: usize,
    full: bool,
}

impl Drawn {
    /// Draws what is in front of the fault, leaving out the beginning of a long line. `whole`: the line begins with it.
    fn cut_head(&mut self, head: &str, whole: bool) {
        let kept: Vec<char> = head.chars().rev().take(LINE_COLUMNS_BEFORE * 2).collect();
        let all: usize = kept.iter().map(|c| columns(*c)).sum();
        let whole = whole && kept.len() == head.chars().count();
        if whole && all <= LINE_COLUMNS_BEFORE * 2 {
            return self.extend(head);
        }
        self.extend("…");
        let tail: Vec<char> = kept.into_iter().take(LINE_COLUMNS_BEFORE).collect();
        tail.into_iter().rev().for_each(|c| self.push(c));
    }

    fn extend(&mut self, text: &str) {
        for c in text.chars() {
            if self.full {
                return;
            }
            self.push(c);
        }
    }

    fn push(&mut self, c: char) {
        let width = columns(c);
        if self.columns + width > LINE_COLUMNS_MAX {
            self.text.push('…');
            self.columns += 1;
            self.full = true;
            return;
        }
        match c {
            '\t' => self.text.push_str(&" ".repeat(TAB_COLUMNS)),
            c if is_plain(c) => self.text.push(c),
            _ => self.text.push('\u{fffd}'),
        }
        self.columns += width;
    }
}

/// How many columns a terminal gives a character; the ranges are those in everyday use, not all of Unicode.
const fn columns(c: char) -> usize {
    match c {
        '\t' => TAB_COLUMNS,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// How many there are of each kind, as a line says it.
#[must_use]
pub fn count_line(errors: usize, warnings: usize) -> String {
    let count = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    match (errors, warnings) {
        (errors, 0) => count(errors, "error"),
        (0, warnings) => count(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    }
}

/// The nearest of some names, if one is near enough to have been meant.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    crate::nearest::names(word, names, 1).into_iter().next()
}

/// The question that goes with a near miss.
#[must_use]
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, names).map(|name| format!("did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span_of(source: &str, word: &str) -> Span {
        let start = source.find(word).unwrap();
        let before = &source[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Span {
            start,
            end: start + word.len(),
            line: before.matches('\n').count() as u32 + 1,
            column: source[line_start..start].chars().count() as u32 + 1,
        }
    }

    #[track_caller]
    fn check(source: &str, word: &str, want: &str) {
        let fault = Fault::error("m").at(span_of(source, word));
        let text = render(&[fault], source, "f");
        let lines: Vec<&str> = text.lines().skip(3).take(2).collect();
        assert_eq!(lines.join("\n"), want);
    }

    #[test]
    fn a_fault_is_drawn_with_its_line() {
        let source = "jackline: 1\n\npolices:\n  - a\n";
        let faults = [
            Fault::error("unknown key `polices`").at(span_of(source, "polices")).help("did you mean `policies`?"),
            Fault::warning("nobody knows `a`").at(span_of(source, "- a")),
        ];
        let want = "error: unknown key `polices`
  --> jackline.yaml:3:1
   |
 3 | polices:
   | ^^^^^^^
   = help: did you mean `policies`?

warning: nobody knows `a`
  --> jackline.yaml:4:3
   |
 4 |   - a
   |   ^^^

1 error, 1 warning
";
        assert_eq!(render(&faults, source, "jackline.yaml"), want);
    }

    #[test]
    fn marks_stand_under_tabs_and_wide_characters() {
        check("a:\t\tb", "b", " 1 | a:        b\n   |           ^");
        check("名前: x", "x", " 1 | 名前: x\n   |       ^");
        check("e\u{301}: x", "x", " 1 | e\u{301}: x\n   |    ^");
        check("\u{1b}[31m: x", "x", " 1 | \u{fffd}[31m: x\n   |        ^");
        check("a: b\r\nc: d\r\n", "d", " 2 | c: d\n   |    ^");
        check("a: |\n  x\n  y\n", "x\n  y", " 2 |   x\n   |   ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_fault() {
        let source = format!("{}bad{}", "x".repeat(300), "y".repeat(300));
        let text = render(&[Fault::error("m").at(span_of(&source, "bad"))], &source, "f");
        assert!(text.lines().all(|line| line.chars().count() < 115), "{text}");
        let at = |line: &str, needle: &str| line.find(needle).map(|at| line[..at].chars().count());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(at(lines[3], "bad"), at(lines[4], "^^^"));
        let long = Fault::error("m").at(Span { start: 0, end: source.len(), line: 1, column: 1 });
        assert!(render(&[long], &source, "f").lines().all(|line| line.chars().count() < 115));
    }

    #[test]
    fn spans_beyond_the_source_do_no_harm() {
        let far = Span { start: 900, end: 1_000, line: 70_000, column: 1 };
        assert!(render(&[Fault::error("m").at(far)], "é", "f").contains("f:70000:1"));
        let inside = Span { start: 1, end: 1, line: 1, column: 1 };
        assert!(render(&[Fault::error("m").at(inside)], "é", "f").contains('^'));
        assert_eq!(render(&[], "", "f"), "0 errors\n");
    }

    #[test]
    fn values_are_quoted_harmlessly() {
        assert_eq!(quoted("a\nb\u{1b}[31m"), "`a\\nb\\u{1b}[31m`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), QUOTED_CHARS_MAX + 3);
        assert_eq!(quoted("\u{202e}a"), "`\\u{202e}a`");
    }

    #[test]
    fn near_names_are_found() {
        assert_eq!(nearest("polices", ["policies", "paths"]), Some("policies"));
        assert_eq!(nearest("Mode", ["mode"]), Some("mode"));
        assert_eq!(nearest("shel", ["shell"]), Some("shell"));
        assert_eq!(nearest("sehll", ["shell"]), Some("shell"));
        assert_eq!(nearest("banana", ["policies", "mode"]), None);
        assert_eq!(nearest(&"a".repeat(1_000_000), ["a"]), None);
    }

    #[test]
    fn warnings_never_crowd_out_an_error() {
        let mut faults = Faults::default();
        (0..2_000).for_each(|_| faults.push(Fault::warning("w")));
        faults.push(Fault::error("e"));
        assert!(faults.any_error());
        assert!(faults.into_sorted().iter().any(|fault| fault.message == "e"));
        let mut faults = Faults::default();
        (0..FAULTS_MAX + 3).for_each(|_| faults.push(Fault::error("e")));
        let found = faults.into_sorted();
        assert_eq!(found.len(), FAULTS_MAX + 1);
        assert_eq!(found[FAULTS_MAX].message, "3 more errors are not shown");
    }
}
