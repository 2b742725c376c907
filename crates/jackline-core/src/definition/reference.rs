//! The settings reference as markdown, drawn from the table of shapes.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::form::{Form, Key, Shape};
use super::shape::ROOT;
use super::shape::file_policy::FILE_POLICY;
use super::validate::any_of;

/// The page that lists every key of `jackline.yaml`: one table per map.
#[must_use]
pub fn reference_markdown() -> String {
    tables("# The definition: `jackline.yaml`\n", &ROOT)
}

/// The page that lists every key of a file policy's front matter.
#[must_use]
pub fn file_policy_markdown() -> String {
    tables("# File policies: front matter\n\nHow to use them: [the guide](../guides/file-policies.md).\n", &FILE_POLICY)
}

fn tables(title: &str, root: &'static Shape) -> String {
    let mut page = title.to_owned();
    let mut waiting: VecDeque<&'static Shape> = VecDeque::from([root]);
    let mut seen: Vec<&'static str> = vec![root.name];
    while let Some(shape) = waiting.pop_front() {
        section(&mut page, shape);
        for below in shape.keys.iter().flat_map(|key| shapes(&key.form)) {
            if !seen.contains(&below.name) {
                seen.push(below.name);
                waiting.push_back(below);
            }
        }
    }
    page
}

fn section(page: &mut String, shape: &Shape) {
    let _ = writeln!(page, "\n## `{}`\n\n{}", shape.name, shape.doc);
    if !shape.one_of.is_empty() {
        let _ = writeln!(page, "\nExactly one of {} must be given.", any_of(shape.one_of));
    }
    if shape.keys.is_empty() {
        return;
    }
    page.push_str("\n| key | type | default | meaning |\n|---|---|---|---|\n");
    for key in shape.keys {
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", key.name, describe(&key.form), default(key), key.doc);
    }
}

fn default(key: &Key) -> String {
    match key.default {
        _ if key.required => "required".to_owned(),
        Some(json) => format!("`{}`", json.trim_matches('"')),
        None => "–".to_owned(),
    }
}

fn shapes(form: &'static Form) -> Vec<&'static Shape> {
    match form {
        Form::Map(shape) => vec![shape],
        Form::List(of) | Form::Some(of) | Form::Many(of) | Form::Named(of) => shapes(of),
        Form::Either(forms) => forms.iter().flat_map(shapes).collect(),
        _ => Vec::new(),
    }
}

fn describe(form: &Form) -> String {
    match form {
        Form::Flag => "`true` or `false`".to_owned(),
        Form::Yes => "`true`".to_owned(),
        Form::Whole { min, max } if min == max => format!("`{min}`"),
        Form::Whole { min, .. } => format!("whole number, at least {min}"),
        Form::Number => "number".to_owned(),
        Form::Positive => "number above 0".to_owned(),
        Form::NotNegative => "number of at least 0".to_owned(),
        Form::Fraction => "number from 0 to 1".to_owned(),
        Form::Text | Form::Matching(_) => "text".to_owned(),
        Form::Choice(names) => any_of(names),
        Form::Duration => "duration".to_owned(),
        Form::Moment => "duration or RFC 3339 time".to_owned(),
        Form::Literal => "value".to_owned(),
        Form::Free => "map".to_owned(),
        Form::List(of) => format!("list of {}", describe(of)),
        Form::Some(of) => format!("list of {}, not empty", describe(of)),
        Form::Many(of) => format!("{} or list of them", describe(of)),
        Form::Named(of) => format!("names, each with {}", describe(of)),
        Form::Map(shape) => format!("[{0}](#{0})", shape.name),
        Form::Either(forms) => forms.iter().map(describe).collect::<Vec<_>>().join(", or "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_to_a_section() {
        let page = reference_markdown();
        for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(page.contains(&format!("\n## `{link}`\n")), "{link}");
        }
        assert!(page.contains("| `mode` | `enforce` or `observe` | `enforce` | Whether verdicts"));
        assert!(page.contains("| `jackline` | `1` | required |"));
        let cells = |line: &str| line.matches(" | ").count();
        assert!(page.lines().filter(|line| line.starts_with("| `")).all(|line| cells(line) == 3), "{page}");
    }
}
