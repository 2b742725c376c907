//! Gate `placeholder`: neither the final result nor a file still holds what stands in for the real thing.
//!
//! Marks of unfinished code (`TODO`, `FIXME`, `TBD`) may stand in comments.

use serde_json::Value;

use super::outcome::Payload;
use super::{Facts, Gate, Outcome, Run};

/// Places told of one file or result: the first few show what kind of text it is.
const PLACES_MAX: usize = 5;
/// Characters of a line that are shown around a placeholder.
const SHOWN_CHARS_MAX: usize = 60;

/// Keys of a result that nobody filled in.
const KEYS: &[&str] = &["your", "your_field", "your_key", "your_value", "field_name", "key_name", "example_field"];
/// What a comment begins with.
const COMMENTS: &[&str] = &["//", "/*", "#", "<!--", "--"];
/// What its further lines begin with, and what ends it.
const COMMENT_GOES_ON: &str = "*";
const COMMENT_ENDS: &str = "*/";
/// What it begins with in prose, where `*` and `--` are lists.
const COMMENTS_IN_PROSE: &[&str] = &["//", "/*", "#", "<!--"];
/// What begins a comment beyond doubt, in prose too.
const COMMENT_IN_MARKUP: &str = "<!--";
/// What begins a comment in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// As in most languages.
    Code,
    /// As in documents, where `#` begins a heading and `*` an item.
    Prose,
    /// Nothing does.
    None,
}

/// Comments that end within a line, and where.
const CLOSED: &[(&str, &str)] = &[("<!--", "-->"), ("/*", COMMENT_ENDS)];

/// A text that stands in for another: its lowercase spelling, whether a comment excuses it, and what else must hold.
struct Pattern {
    spelled: &'static str,
    excused: bool,
    holds: fn(Spot<'_>) -> bool,
}

/// Where a spelling was found in a line.
#[derive(Clone, Copy)]
struct Spot<'a> {
    before: &'a str,
    found: &'a str,
    behind: &'a str,
}

const fn pattern(spelled: &'static str, holds: fn(Spot<'_>) -> bool) -> Pattern {
    Pattern { spelled, excused: false, holds }
}

const PATTERNS: &[Pattern] = &[
    Pattern { spelled: "todo", excused: true, holds: is_todo },
    Pattern { spelled: "tbd", excused: true, holds: is_word },
    Pattern { spelled: "fixme", excused: true, holds: is_word },
    pattern("xx", is_xx),
    pattern("???", |_| true),
    pattern("placeholder", is_placeholder),
    pattern("{{", is_template),
    pattern("lorem ipsum", is_word),
    pattern("final output here", is_word),
    pattern("why the task is complete", is_word),
    pattern("<your", |spot| spot.behind.chars().take(SHOWN_CHARS_MAX).any(|c| c == '>')),
    pattern("your_value", is_word),
    pattern("your_field", is_word),
    pattern("your_key", is_word),
    pattern("example_value", is_word),
    pattern("fill in here", is_word),
    pattern("fill_in_here", is_word),
];

pub(super) fn judge(run: &Run, facts: &Facts) -> Outcome {
    let mut payload = Payload { findings: in_result(&run.final_result), ..Payload::default() };
    for file in facts.files.iter().filter(|file| !file.placeholders.is_empty()) {
        payload.findings.extend(file.placeholders.iter().map(|place| format!("`{}` {place}", file.path)));
        payload.files.push(file.path.clone());
        payload.makeable.extend(file.declared.clone());
    }
    let seen = !payload.findings.is_empty();
    payload.findings.extend(facts.unverified.iter().cloned());
    let reason = if seen { "placeholders stand where results should be" } else { "not everything could be looked at" };
    Outcome::of(Gate::Placeholder, reason, payload)
}

/// The placeholders of a result, by where they are in it.
fn in_result(result: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(result, "result", &mut found);
    found
}

/// Recursion is bounded by the reader of JSON.
fn walk(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            found.extend(in_text(text, Comments::Prose).into_iter().map(|place| format!("`{at}` {place}")));
            if text.trim().eq_ignore_ascii_case("n/a") {
                found.push(format!("`{at}` is only `{}`", text.trim()));
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| walk(item, &format!("{at}[{index}]"), found));
        }
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(key, _)| !key.starts_with('_')) {
                if KEYS.contains(&key.to_lowercase().as_str()) {
                    found.push(format!("`{at}.{key}` has the name of a template"));
                }
                walk(value, &format!("{at}.{key}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The placeholders of a text, each with its line. A result is prose; what is fenced in prose is code.
pub(super) fn in_text(text: &str, comments: Comments) -> Vec<String> {
    let mut found = Vec::new();
    let (mut fenced, mut open) = (false, false);
    for (number, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let code = fenced && comments == Comments::Prose;
        let comments = if code { Comments::Code } else { comments };
        let spelled = in_line(line, (comments, open));
        open = comments == Comments::Code && leaves_open(line, open);
        if let Some(spelled) = spelled {
            found.push(format!("line {}: `{spelled}` in `{}`", number + 1, shown(line, spelled)));
        }
        if found.len() == PLACES_MAX {
            break;
        }
    }
    found
}

/// Whether a comment is open behind a line: one that was open before, or that the line begins with.
fn leaves_open(line: &str, open: bool) -> bool {
    (open || line.trim_start().starts_with("/*")) && !line.contains(COMMENT_ENDS)
}

/// The first placeholder of a line, as it is written; `open` says whether a comment goes on in it.
fn in_line(line: &str, (comments, open): (Comments, bool)) -> Option<&str> {
    let lower = line.to_ascii_lowercase();
    let comment = Comment::of(line, (comments, open));
    PATTERNS.iter().find_map(|pattern| {
        let spots = lower.match_indices(pattern.spelled).filter_map(|(at, spelled)| spot(line, at, spelled.len()));
        let mut counting = spots.filter(|spot| (pattern.holds)(*spot) && !(pattern.excused && comment.excuses(*spot)));
        counting.next().map(|spot| spot.found)
    })
}

fn spot(line: &str, at: usize, length: usize) -> Option<Spot<'_>> {
    let (before, rest) = line.split_at_checked(at)?;
    let (found, behind) = rest.split_at_checked(length)?;
    Some(Spot { before, found, behind })
}

/// The comment that a line begins with. Looked for once in each line: a line may be the whole of a long file.
#[derive(Clone, Copy)]
struct Comment {
    /// Where it ends in the line; at its beginning, when there is none.
    end: usize,
    /// A heading or an odd line of a document, which is a comment only where it is written as code writes it.
    heading: bool,
}

impl Comment {
    fn of(line: &str, (comments, open): (Comments, bool)) -> Self {
        let begin = line.trim_start();
        if open && begin.starts_with(COMMENT_GOES_ON) {
            let code = begin.split_once(COMMENT_ENDS).map_or("", |(_, code)| code);
            return Self { end: line.len() - code.len(), heading: false };
        }
        let (markers, prose) = match comments {
            Comments::Code => (COMMENTS, false),
            Comments::Prose => (COMMENTS_IN_PROSE, true),
            Comments::None => (&[][..], false),
        };
        let Some(marker) = markers.iter().find(|marker| begin.starts_with(**marker)) else {
            return Self { end: 0, heading: false };
        };
        Self { end: line.len() - behind(begin, marker).len(), heading: prose && *marker != COMMENT_IN_MARKUP }
    }

    fn excuses(self, spot: Spot<'_>) -> bool {
        spot.before.len() < self.end && (!self.heading || spot.behind.starts_with([':', '(']))
    }
}

/// What stands behind a comment, and behind those that follow it at once.
fn behind<'a>(mut line: &'a str, marker: &str) -> &'a str {
    let Some((_, close)) = CLOSED.iter().find(|(open, _)| *open == marker) else { return "" };
    while line.starts_with(marker) {
        let inside = line.get(marker.len()..).unwrap_or_default();
        match inside.split_once(close) {
            Some((_, rest)) => line = rest.trim_start(),
            None => return "",
        }
    }
    line
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn begins_word(spot: Spot<'_>) -> bool {
    !spot.before.ends_with(joins)
}

fn is_word(spot: Spot<'_>) -> bool {
    begins_word(spot) && !spot.behind.starts_with(joins)
}

/// Shouted, or with a colon: `todo` is also a word of other languages.
fn is_todo(spot: Spot<'_>) -> bool {
    is_word(spot) && (spot.found == "TODO" || spot.behind.starts_with([':', '(']))
}

/// `XX`, `XXX` or `XX%`; not `XXL`.
fn is_xx(spot: Spot<'_>) -> bool {
    spot.found == "XX" && begins_word(spot) && !spot.behind.trim_start_matches('X').starts_with(joins)
}

/// The word; not the attribute of an input field.
fn is_placeholder(spot: Spot<'_>) -> bool {
    is_word(spot) && !spot.behind.trim_start().starts_with('=')
}

/// `{{ name }}`: a template that nobody filled.
fn is_template(spot: Spot<'_>) -> bool {
    let near: String = spot.behind.chars().take(SHOWN_CHARS_MAX).collect();
    let Some((name, _)) = near.split_once("}}") else { return false };
    let name = name.trim();
    // A dotted name belongs to a language of its own, whose files are finished so: `${{ matrix.os }}`.
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(|c| joins(c) || c == ' ')
}

/// The part of a line around what was found.
fn shown(line: &str, found: &str) -> String {
    let at = line.find(found).unwrap_or_default();
    let before = line.get(..at).unwrap_or_default().chars().count();
    let skipped = before.saturating_sub(SHOWN_CHARS_MAX / 2);
    line.chars().skip(skipped).take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(line: &str, wanted: Option<&str>) {
        assert_eq!(in_line(line, (Comments::Code, false)), wanted, "{line}");
    }

    #[test]
    fn placeholders_are_seen() {
        for (line, wanted) in [
            ("TODO", "TODO"),
            ("the rest is TODO", "TODO"),
            ("x = 1  # TODO", "TODO"),
            ("todo: write", "todo"),
            ("TBD", "TBD"),
            ("Fixme", "Fixme"),
            ("grew by XX%", "XX"),
            ("page XX of 3", "XX"),
            ("XXX", "XX"),
            ("costs ???", "???"),
            ("<placeholder for text>", "placeholder"),
            ("Dear {{ first_name }},", "{{"),
            ("Lorem ipsum dolor", "Lorem ipsum"),
            ("<your name here>", "<your"),
            ("a: your_value", "your_value"),
            ("<!-- x --><p>Revenue: TODO</p>", "TODO"),
            ("/* x */ a = \"TODO\"", "TODO"),
            ("* Revenue: TODO", "TODO"),
            ("*/ char *a = \"TODO\";", "TODO"),
            ("Your final output here", "final output here"),
        ] {
            check(line, Some(wanted));
        }
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        for line in [
            "size XXL",
            "hay que hacer todo",
            "TODOS",
            "mastodon",
            "what??",
            "<input placeholder=\"Name\">",
            "{{ 1 + 2 }}",
            "os: ${{ matrix.os }}",
            "image: {{ .Values.image }}",
            "x = {{1, 2}}",
            "# TODO: later",
            "  // FIXME: later",
            "-- TBD",
            "<!-- TODO -->",
            "<!-- a --> <!-- TODO --> text",
            "/* TODO */ x = 1",
            "exxon",
            "Exxx",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn a_comment_goes_on_only_where_it_is_open() {
        let found = |text: &str| in_text(text, Comments::Code).len();
        assert_eq!(found("/**\n * TODO(me) later\n * and FIXME\n */\nint a;\n"), 0);
        assert_eq!(found("/* x\n*/ char *a = \"TODO\";\n"), 1);
        assert_eq!(found("/* x\n * y */ char *a = \"TODO\";\n"), 1);
        assert_eq!(found("/* x */\n* Revenue: TODO\n"), 1);
        assert_eq!(found("x = glob(\"out/*.md\")\n* Revenue: TODO\n"), 1);
        assert_eq!(in_text("```c\n/*\n * TODO: later\n */\n```\n* TODO\n", Comments::Prose).len(), 1);
    }

    #[test]
    fn a_heading_is_no_comment() {
        assert_eq!(in_text("# TODO\n\ntext\n", Comments::Prose).len(), 1);
        for line in ["* TODO", "* TODO: write", "-- TBD", "// TODO", "#TODO"] {
            assert_eq!(in_text(line, Comments::Prose).len(), 1, "{line}");
        }
        assert_eq!(in_text("<!-- TODO -->\n// FIXME: later\n", Comments::Prose), Vec::<String>::new());
        assert_eq!(in_text("# TODO: in code\n```\n# TODO\n```\n", Comments::Prose), Vec::<String>::new());
        assert_eq!(in_text("/* TODO\n * TODO\n */ char *a = \"TODO\";\n", Comments::Code).len(), 1);
        assert_eq!(in_text("id,name\n#1,TBD\n* x,TODO\n-- ,FIXME\n", Comments::None).len(), 3);
        assert_eq!(in_text("a\nb TODO c\n", Comments::Prose), ["line 2: `TODO` in `b TODO c`"]);
    }

    /// What is not linear takes many minutes here.
    #[test]
    fn long_lines_are_searched_in_time() {
        for shape in ["X", "{{", "todo ", "a {{ ", "<your", "placeholder =", "\u{e9}"] {
            let text = format!("{}{}", " ".repeat(200_000), shape.repeat(200_000));
            let begun = std::time::Instant::now();
            in_text(&text, Comments::Prose);
            assert!(begun.elapsed().as_secs() < 10, "{shape} took {:?}", begun.elapsed());
        }
    }

    #[test]
    fn results_are_walked() {
        let result = json!({"a": ["fine", {"b": "# TBD"}], "your_value": 1, "_notes": "TODO", "c": "N/A", "d": null});
        let wanted = [
            "`result.a[1].b` line 1: `TBD` in `# TBD`",
            "`result.c` is only `N/A`",
            "`result.your_value` has the name of a template",
        ];
        assert_eq!(in_result(&result), wanted);
    }
}
