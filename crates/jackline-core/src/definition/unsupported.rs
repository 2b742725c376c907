//! What the format has and this version does not judge yet. A guard that arrives deletes its row here.
//!
//! Such a key is an error, never skipped: an owner must not believe in a guard that is not there.

use super::fault::{Fault, Faults, Span};
use super::yaml::{Entry, Node, Value};

/// A key that is not supported: where it is (`*` for any name or item, `**` for any check), and what it is called in the fault.
struct Row {
    path: &'static [&'static str],
    label: &'static str,
    /// `false` is the default and says nothing.
    unless_false: bool,
}

const fn row(path: &'static [&'static str], label: &'static str) -> Row {
    Row { path, label, unless_false: false }
}

const ROWS: &[Row] =
    &[row(&["completion", "**", "file_policies"], "file_policies"), row(&["file_policies"], "file_policies")];

/// Reports every key that is there and not supported.
pub(super) fn report(root: &Node, faults: &mut Faults) {
    for row in ROWS {
        walk(row, row.path, root, faults);
    }
}

fn walk(row: &Row, path: &[&str], node: &Node, faults: &mut Faults) {
    match path {
        [] => {}
        // Here, and in every check below `all` and `any`. Recursion is bounded by the tree's depth.
        ["**", rest @ ..] => {
            walk(row, rest, node, faults);
            let inner = ["all", "any"].iter().filter_map(|key| node.get(key)).flat_map(Node::items);
            inner.for_each(|inner| walk(row, path, inner, faults));
        }
        ["*", rest @ ..] => {
            node.items().iter().for_each(|item| walk(row, rest, item, faults));
            node.entries().iter().for_each(|entry| walk(row, rest, &entry.value, faults));
        }
        [last] => {
            if let Some(entry) = node.entry(last).filter(|entry| speaks(row, entry)) {
                faults.push(fault(row, entry.key_span));
            }
        }
        [key, rest @ ..] => node.get(key).into_iter().for_each(|node| walk(row, rest, node, faults)),
    }
}

fn speaks(row: &Row, entry: &Entry) -> bool {
    !(row.unless_false && entry.value.value == Value::Bool(false))
}

fn fault(row: &Row, span: Span) -> Fault {
    Fault::error(format!("`{}` is not supported by this version", row.label))
        .at(span)
        .help("remove it; it is an error so that nothing is ignored silently")
}

#[cfg(test)]
mod tests {
    use super::super::{parse, yaml};
    use super::*;

    #[track_caller]
    fn check(source: &str, want: &[&str]) {
        let mut faults = Faults::default();
        let node = yaml::read(source, &mut faults).unwrap();
        report(&node, &mut faults);
        let found: Vec<String> = faults.into_sorted().into_iter().map(|fault| fault.message).collect();
        let want: Vec<String> = want.iter().map(|key| format!("`{key}` is not supported by this version")).collect();
        assert_eq!(found, want, "{source}");
    }

    #[test]
    fn what_is_not_there_yet_is_refused() {
        check("file_policies: {}", &["file_policies"]);
        check("use: [git]", &[]);
        check("completion: {all: [{files: [a]}, {any: [{file_policies: satisfied}]}]}", &["file_policies"]);
        check("completion: {file_policies: satisfied}", &["file_policies"]);
    }

    #[test]
    fn every_row_is_a_key_of_the_table() {
        for row in ROWS {
            let mut source = String::from("1");
            for part in row.path.iter().rev() {
                source = match *part {
                    "**" => source,
                    "*" if source.starts_with('{') && row.path[0] != "tools" => format!("[{source}]"),
                    "*" => format!("{{x: {source}}}"),
                    key => format!("{{{key}: {source}}}"),
                };
            }
            let faults = parse(&source, &[]).unwrap_err();
            assert!(faults.iter().any(|fault| fault.message.contains("is not supported by")), "{source}");
            assert!(!faults.iter().any(|fault| fault.message.contains("unknown key")), "{source}: {faults:?}");
        }
    }
}
