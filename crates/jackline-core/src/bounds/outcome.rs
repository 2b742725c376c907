//! Cuts an outcome where its texts stand and leaves the rest of its shape as it is: hosts take nothing else.

use serde_json::{Value, json};

use super::cut::{By, Pager, Summary};
use crate::definition::Bounds;
use crate::tools::Counts;

/// Members that hold what is shown, in outcomes whose shape nobody described.
const USUAL_TEXTS: &[&str] = &["stdout", "stderr", "content", "text", "output", "result", "error"];
/// Members by which hosts say that they cut the text before us.
const CUT_BEFORE: &[&str] = &["persistedOutputPath", "truncated"];

/// What is known of an outcome beforehand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    /// Members that hold texts; empty where every usual place is looked at.
    pub texts: &'static [&'static str],
    pub counts: Option<Counts>,
    /// Lines that the arguments skipped.
    pub skipped: u64,
    /// What the first line's offset is.
    pub first: u64,
    /// The tool has an argument that asks for the lines after those that are shown.
    pub paged: bool,
    /// The host takes the outcome in its own shape only.
    pub native: bool,
    /// Whether a newline ends the file, where that is known.
    pub ended: Option<bool>,
}

/// An outcome of which no more is shown than the bounds allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    pub value: Value,
    pub meta: Value,
}

/// The outcome within its bounds; `None` when it is already, or is of a shape in which nothing of it is text.
#[must_use]
pub fn bound(outcome: &Value, place: &Place, bounds: Bounds) -> Option<Bounded> {
    // A picture that a command printed: half of it is none.
    if place.native && outcome.get("isImage") == Some(&Value::Bool(true)) {
        return None;
    }
    if place.texts.iter().any(|member| at(outcome, member).is_some()) {
        return cut(outcome.clone(), place, bounds);
    }
    if place.native && !place.texts.is_empty() {
        return None;
    }
    let usual = Place { texts: &[], counts: None, ..*place };
    // What stands in no usual place is shown all the same, as JSON.
    let beside = beside_texts(outcome);
    let strange = !place.native && (beside.bytes > bounds.bytes_max || beside.breaks > bounds.lines_max);
    cut(if strange { Value::String(as_text(outcome)) } else { outcome.clone() }, &usual, bounds)
}

/// An outcome as JSON, with lines where its texts have them.
fn as_text(outcome: &Value) -> String {
    outcome.to_string().replace("\\n", "\n")
}

fn cut(mut value: Value, place: &Place, bounds: Bounds) -> Option<Bounded> {
    let page = Page::of(&value, place);
    let mut texts = Vec::new();
    each_text(&mut value, place.texts, &mut |text| texts.push(std::mem::take(text)));
    let mut pager = Pager::new(bounds);
    let noted = show(&mut texts, &mut pager);
    let summary = page.summary(&pager, place);
    let reached = pager.lines_shown >= bounds.lines_max && summary.lines_remaining() > 0;
    if pager.cut.is_none() && !reached {
        return None;
    }
    if let Some(text) = noted.and_then(|index| texts.get_mut(index)).filter(|_| pager.cut != Some(By::Binary)) {
        text.push_str(if text.is_empty() || text.ends_with('\n') { "" } else { "\n" });
        text.push_str(&summary.note());
    }
    let mut texts = texts.into_iter();
    each_text(&mut value, place.texts, &mut |text| *text = texts.next().unwrap_or_default());
    prune(&mut value, place.texts);
    if let Some(shown) = place.counts.and_then(|counts| at_mut(&mut value, counts.shown)) {
        *shown = json!(summary.lines_shown);
    }
    Some(Bounded { value, meta: summary.meta() })
}

/// Shortens the texts; and which of them the line about it belongs to: the one that was cut, else the last.
fn show(texts: &mut [String], pager: &mut Pager) -> Option<usize> {
    let (mut noted, mut stopped) = (None, false);
    for (index, text) in texts.iter_mut().enumerate() {
        let shown = pager.show(text);
        if !stopped && !text.is_empty() {
            noted = Some(index);
            stopped = matches!(pager.cut, Some(By::Lines | By::Bytes));
        }
        if let Some(shown) = shown {
            *text = shown;
        }
    }
    noted
}

/// Where in a file the text of an outcome stands.
struct Page {
    before: u64,
    /// Lines of the whole file, where the outcome ends before it does.
    total: Option<u64>,
    exact: bool,
}

impl Page {
    fn of(outcome: &Value, place: &Place) -> Self {
        let cut_before = CUT_BEFORE
            .iter()
            .any(|member| outcome.get(member).is_some_and(|value| !value.is_null() && *value != json!(false)));
        let Some((shown, start, total)) = counted(outcome, place) else {
            return Self { before: place.skipped, total: None, exact: !cut_before };
        };
        let before = start.saturating_sub(1);
        if before.saturating_add(shown) >= total {
            return Self { before, total: None, exact: !cut_before };
        }
        // A newline at the end was counted as one line more.
        let total = if place.ended == Some(true) { total.saturating_sub(1) } else { total };
        Self { before, total: Some(total), exact: place.ended.is_some() && !cut_before }
    }

    fn summary(&self, pager: &Pager, place: &Place) -> Summary {
        let first = place.paged.then_some(place.first);
        Summary { exact: self.exact, ..Summary::new(pager, self.before, self.total, first) }
    }
}

/// What an outcome counts by itself: lines that are there, the first one's number, lines of the whole file.
fn counted(outcome: &Value, place: &Place) -> Option<(u64, u64, u64)> {
    let counts = place.counts?;
    let count = |member| at(outcome, member)?.as_u64();
    Some((count(counts.shown)?, count(counts.start)?, count(counts.total)?))
}

/// Whether the file goes on after the text of an outcome, as far as the outcome itself says.
#[must_use]
pub fn goes_on(outcome: &Value, place: &Place) -> bool {
    counted(outcome, place).is_some_and(|(shown, start, total)| start.saturating_sub(1).saturating_add(shown) < total)
}

/// Visits every text that is shown, in the order in which it is.
fn each_text(outcome: &mut Value, members: &[&str], visit: &mut impl FnMut(&mut String)) {
    each_holder(outcome, members, &mut |value| match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter_mut().filter_map(item_text).for_each(&mut *visit),
        _ => {}
    });
}

/// Visits the outcome itself, or those of its members that hold texts.
fn each_holder(outcome: &mut Value, members: &[&str], visit: &mut impl FnMut(&mut Value)) {
    let members = if members.is_empty() { USUAL_TEXTS } else { members };
    match outcome {
        Value::Object(_) => {
            for member in members {
                at_mut(outcome, member).into_iter().for_each(&mut *visit);
            }
        }
        outcome => visit(outcome),
    }
}

/// A text of a list; that of a content block; or that of the resource which a block embeds.
fn item_text(item: &mut Value) -> Option<&mut String> {
    let place = if item.get("resource").is_some() { "resource.text" } else { "text" };
    let text = if item.is_string() { item } else { at_mut(item, place)? };
    if let Value::String(text) = text { Some(text) } else { None }
}

/// Takes what is empty now off the ends of lists: a thousand empty names are no page.
fn prune(value: &mut Value, members: &[&str]) {
    each_holder(value, members, &mut |value| {
        if let Value::Array(items) = value {
            while items.last_mut().and_then(item_text).is_some_and(|text| text.is_empty()) {
                items.pop();
            }
        }
    });
}

/// The member at `a.b`.
fn at<'v>(value: &'v Value, place: &str) -> Option<&'v Value> {
    place.split('.').try_fold(value, |value, member| value.get(member))
}

fn at_mut<'v>(value: &'v mut Value, place: &str) -> Option<&'v mut Value> {
    place.split('.').try_fold(value, |value, member| value.get_mut(member))
}

/// How much there is of something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    bytes: u64,
    /// Line ends.
    breaks: u64,
}

impl std::iter::Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), |all, one| Self {
            bytes: all.bytes.saturating_add(one.bytes),
            breaks: all.breaks.saturating_add(one.breaks),
        })
    }
}

/// What of an outcome stands in no usual place; pictures and sounds are no text and are shown as they are.
///
/// Recursion is bounded: events nest only so deep.
fn beside_texts(outcome: &Value) -> Amount {
    let strange = |value: &Value| match value {
        Value::String(_) => Amount::default(),
        Value::Array(items) => items.iter().map(block_amount).sum(),
        value => amount(value),
    };
    match outcome {
        Value::Object(fields) => {
            let usual = |key: &str| USUAL_TEXTS.contains(&key);
            fields.iter().map(|(key, value)| if usual(key) { strange(value) } else { amount(value) }).sum()
        }
        value => strange(value),
    }
}

fn block_amount(item: &Value) -> Amount {
    match item {
        Value::String(_) => Amount::default(),
        Value::Object(block) if matches!(block.get("type").and_then(Value::as_str), Some("image" | "audio")) => {
            Amount::default()
        }
        Value::Object(block) => {
            block.iter().filter(|(key, _)| *key != "text" && *key != "resource").map(|(_, value)| amount(value)).sum()
        }
        item => amount(item),
    }
}

fn amount(value: &Value) -> Amount {
    let plain = |bytes| Amount { bytes, breaks: 0 };
    match value {
        Value::String(text) => {
            Amount { bytes: text.len() as u64, breaks: text.bytes().filter(|byte| *byte == b'\n').count() as u64 }
        }
        Value::Array(items) => items.iter().flat_map(|item| [amount(item), plain(1)]).sum(),
        Value::Object(fields) => fields.iter().flat_map(|(key, item)| [plain(key.len() as u64), amount(item)]).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => plain(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOTE: &str = "[lines_shown: 2, lines_remaining: 1, has_more: true]";

    const fn bounds(lines_max: u64, bytes_max: u64) -> Bounds {
        Bounds { lines_max, bytes_max }
    }

    #[track_caller]
    fn check(outcome: Value, want: Option<Value>) {
        let bounded = bound(&outcome, &Place::default(), bounds(2, 99));
        assert_eq!(bounded.map(|bounded| bounded.value), want, "{outcome}");
    }

    #[test]
    fn texts_are_found_where_they_usually_stand() {
        let cut = format!("1\n2\n{NOTE}");
        check(json!("1\n2"), None);
        check(json!("1\n2\n3"), Some(json!(cut)));
        check(json!({"text": "1\n2\n3", "n": 1}), Some(json!({"text": cut, "n": 1})));
        check(json!({"stdout": "1\n2\n", "stderr": "3"}), Some(json!({"stdout": "1\n2\n", "stderr": NOTE})));
        check(
            json!([{"type": "text", "text": "1\n2\n3"}, {"type": "image", "data": "x".repeat(999)}, {"type": "text", "text": ""}]),
            Some(json!([{"type": "text", "text": cut}, {"type": "image", "data": "x".repeat(999)}])),
        );
        check(
            json!({"content": [{"type": "resource", "resource": {"uri": "a", "text": "1\n2\n3"}}]}),
            Some(json!({"content": [{"type": "resource", "resource": {"uri": "a", "text": cut}}]})),
        );
        check(json!(["a", "b", "c"]), Some(json!(["a", "b", NOTE])));
        check(json!(7), None);
        check(json!({"rows": [1, 2, 3, 4]}), None);
    }

    #[test]
    fn what_stands_elsewhere_is_shown_as_json() {
        let shown = bound(&json!({"rows": ["x".repeat(200)]}), &Place::default(), bounds(2, 99)).unwrap();
        let text = shown.value.as_str().unwrap();
        assert!(text.starts_with("{\"rows\":[\"xxx") && text.ends_with("line_truncated: true]"), "{text}");
    }

    #[test]
    fn lines_that_stand_elsewhere_are_bounded_too() {
        let link = json!({"type": "resource_link", "uri": "a:b", "description": "1\n2\n3\n4"});
        let shown = bound(&json!({"content": [link]}), &Place::default(), bounds(2, 999)).unwrap();
        let text = shown.value.as_str().unwrap();
        assert!(text.contains("1\n") && !text.contains("3\n") && text.contains("lines_remaining"), "{text}");
        assert_eq!(bound(&json!({"rows": ["1\n2"]}), &Place::default(), bounds(2, 999)), None);
    }

    /// A host's own tool keeps its shape, and counts that it states stay true.
    #[test]
    fn a_described_shape_is_kept() {
        let counts = Counts { shown: "file.numLines", start: "file.startLine", total: "file.totalLines" };
        let place = Place {
            texts: &["file.content"],
            counts: Some(counts),
            first: 1,
            paged: true,
            native: true,
            ..Place::default()
        };
        let file = |content: &str, shown: u64, start: u64, total: u64| json!({"type": "text", "file": {"content": content, "numLines": shown, "startLine": start, "totalLines": total}});
        let two = |outcome: &Value| bound(outcome, &place, bounds(2, 99));
        assert_eq!(two(&file("1\n2\n", 3, 1, 3)), None, "a newline at the end is no line");
        assert_eq!(two(&file("1", 1, 1, 9)), None, "a short page was asked for");
        let paged = two(&file("3\n4", 2, 3, 9)).unwrap();
        let note = "[lines_shown: 2, lines_remaining: 5, has_more: true, next_offset: 5]";
        assert_eq!(paged.value, file(&format!("3\n4\n{note}"), 2, 3, 9));
        assert_eq!((&paged.meta["start_line"], &paged.meta["exact"]), (&json!(3), &json!(false)));
        let ended = |outcome: &Value, ended| bound(outcome, &Place { ended: Some(ended), ..place }, bounds(2, 99));
        assert_eq!(ended(&file("1\n2", 2, 1, 3), true), None, "the third line is what the host makes of a newline");
        let more = ended(&file("1\n2", 2, 1, 3), false).unwrap();
        assert_eq!((&more.meta["lines_remaining"], &more.meta["exact"]), (&json!(1), &json!(true)));
        let whole = two(&file("1\n2\n3\n", 4, 1, 4)).unwrap();
        assert_eq!(whole.meta["lines_remaining"], 1);
        assert_eq!(two(&json!({"type": "image", "file": {"base64": "x".repeat(999)}})), None);
        assert_eq!(two(&json!("1\n2\n3")), None, "another shape would not be taken");
    }

    #[test]
    fn a_list_that_was_cut_before_is_not_counted_exactly() {
        let outcome = json!({"stdout": "1\n2\n3\n", "persistedOutputPath": "/x"});
        assert_eq!(bound(&outcome, &Place::default(), bounds(2, 99)).unwrap().meta["exact"], false);
    }

    fn outcomes() -> impl Strategy<Value = Value> {
        let text = prop_oneof!["(\\PC{0,5}\n){0,9}", "[a\n]{0,90}", Just("\0x".to_owned())];
        let leaf = prop_oneof![text.prop_map(Value::String), any::<i32>().prop_map(Value::from), Just(Value::Null)];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let key = prop::sample::select(vec!["text", "content", "stdout", "output", "resource", "rows", "b"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
                prop::collection::btree_map(key, inner, 0..6)
                    .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn bounded_output_never_exceeds_its_bounds(outcome in outcomes(), lines_max in 1_u64..6, bytes_max in 1_u64..60) {
            let bounds = bounds(lines_max, bytes_max);
            let bounded = bound(&outcome, &Place::default(), bounds);
            let mut shown = bounded.as_ref().map_or(outcome.clone(), |bounded| bounded.value.clone());
            let (mut lines, mut bytes) = (0, 0);
            each_text(&mut shown, &[], &mut |text| {
                lines += super::super::lines(text);
                bytes += text.len() as u64;
            });
            // Two lines of ours may stand beside what is shown: one about the cut, one about binary content.
            let ours = if bounded.is_some() { 2 } else { 0 };
            prop_assert!(lines <= lines_max + ours, "{lines} lines of {outcome}");
            prop_assert!(bytes <= bytes_max + ours * super::super::NOTE_BYTES_MAX as u64, "{bytes} bytes of {outcome}");
            let beside = beside_texts(&shown);
            prop_assert!(beside.bytes <= bytes_max && beside.breaks <= lines_max, "{outcome}");
        }
    }
}
