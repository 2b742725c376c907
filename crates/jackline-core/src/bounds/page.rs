//! Asks for a page instead of cutting a whole file afterwards, where a tool has arguments for it.

use serde_json::{Value, json};

use crate::definition::Bounds;
use crate::tools::Paging;

/// Arguments that ask for no more than is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Paged {
    /// All arguments, as the tool shall see them.
    pub args: Value,
    pub meta: Value,
}

/// The arguments with a limit in them; `None` where the call asks for no more than the bounds by itself.
///
/// A limit that is no number, or none that can be meant, is left for the tool to refuse: a wrong argument is never
/// mended in silence, and what is read all the same is cut afterwards.
#[must_use]
pub fn ask(args: &Value, paging: &Paging, bounds: Bounds) -> Option<Paged> {
    let mut fields = args.as_object()?.clone();
    let asked = fields.get(paging.limit).filter(|limit| !limit.is_null()).cloned();
    match &asked {
        // Without a limit the tool has its own; a larger one would show more than before.
        None if bounds.lines_max >= paging.usual => return None,
        None => {}
        Some(limit) if limit.as_f64().is_some_and(|limit| limit > bounds.lines_max as f64) => {}
        Some(_) => return None,
    }
    fields.insert(paging.limit.to_owned(), json!(bounds.lines_max));
    let meta = json!({
        "lines_max": bounds.lines_max,
        "lines_asked": asked,
        "start_line": skipped(args, paging).saturating_add(1),
        "truncated_by": "lines",
    });
    Some(Paged { args: Value::Object(fields), meta })
}

/// The lines that a call's arguments skip.
#[must_use]
pub fn skipped(args: &Value, paging: &Paging) -> u64 {
    let offset = args.get(paging.offset).and_then(Value::as_u64).unwrap_or_default();
    offset.saturating_sub(paging.first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGING: Paging = Paging { offset: "offset", limit: "limit", first: 1, usual: 2000 };

    #[track_caller]
    fn check(args: Value, lines_max: u64, want: Option<Value>) {
        let asked = ask(&args, &PAGING, Bounds { lines_max, ..Bounds::default() });
        assert_eq!(asked.map(|asked| asked.args), want, "{args}");
    }

    #[test]
    fn a_page_is_asked_for() {
        check(json!({"file_path": "a"}), 500, Some(json!({"file_path": "a", "limit": 500})));
        check(json!({"limit": null}), 500, Some(json!({"limit": 500})));
        check(json!({"limit": 501, "offset": 7}), 500, Some(json!({"limit": 500, "offset": 7})));
        check(json!({"limit": 1e9}), 500, Some(json!({"limit": 500})));
        check(json!({"limit": 500}), 500, None);
        check(json!({"limit": 0}), 500, None);
        check(json!({"limit": "9999"}), 500, None);
        check(json!({}), 5000, None);
        check(json!({"limit": 9999}), 5000, Some(json!({"limit": 5000})));
        check(json!("a"), 500, None);
    }

    #[test]
    fn the_page_says_where_it_begins() {
        let start = |args: Value| ask(&args, &PAGING, Bounds::default()).unwrap().meta["start_line"].clone();
        assert_eq!(start(json!({})), 1);
        assert_eq!(start(json!({"offset": 1})), 1);
        assert_eq!(start(json!({"offset": 501})), 501);
    }
}
