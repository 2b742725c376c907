//! What is outstanding, as annotations that GitHub shows beside the changed files.

use serde_json::Value;

/// Errors of one look, and as many warnings: GitHub shows no more of a step.
const ANNOTATIONS_MAX: usize = 10;

/// A line for each changed file that something is wanted for, and for each policy that cannot be used: of every policy one,
/// before there are more of any.
pub(super) fn lines(result: &Value) -> Vec<String> {
    let items = |key: &str| result.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let (warnings, errors): (Vec<Value>, Vec<Value>) = items("faults").into_iter().partition(is_warning);
    let alone = |faults: Vec<Value>| -> Vec<Vec<String>> { faults.iter().map(|told| vec![fault(told)]).collect() };
    let (mut errors, mut warnings) = (alone(errors), alone(warnings));
    errors.extend(items("outstanding").iter().map(outstanding));
    warnings.extend(items("rewritten").iter().map(rewritten));
    let (mut all, more_errors) = spread(&errors);
    let (warned, more_warnings) = spread(&warnings);
    all.extend(warned);
    let more = more_errors + more_warnings;
    all.extend((more > 0).then(|| format!("::notice::{more} more are not shown")));
    all
}

/// The first lines of each in turn, as many as are shown, and how many are left.
fn spread(groups: &[Vec<String>]) -> (Vec<String>, usize) {
    let longest = groups.iter().map(Vec::len).max().unwrap_or_default();
    let in_turn = (0..longest).flat_map(|at| groups.iter().filter_map(move |group| group.get(at)));
    let shown: Vec<String> = in_turn.take(ANNOTATIONS_MAX).cloned().collect();
    let more = groups.iter().map(Vec::len).sum::<usize>() - shown.len();
    (shown, more)
}

fn is_warning(fault: &Value) -> bool {
    text(fault, "level") == "warning"
}

fn fault(fault: &Value) -> String {
    let level = if is_warning(fault) { "warning" } else { "error" };
    let line = fault.get("line").and_then(Value::as_u64).unwrap_or(1);
    format!("::{level} file={},line={line}::{}", property(text(fault, "file")), message(text(fault, "message")))
}

fn outstanding(open: &Value) -> Vec<String> {
    let title = property(text(open, "name"));
    let line = |file: &str, said: &str| format!("::error file={},title={title}::{}", property(file), message(said));
    let list = |key: &str| open.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let pairs = list("pairs");
    if !pairs.is_empty() {
        let missing = |pair: &Value| {
            let said = format!("{} must change along with it", text(pair, "to"));
            line(text(pair, "from"), &said)
        };
        return pairs.iter().map(missing).collect();
    }
    let result = open.get("action_result").cloned().unwrap_or_default();
    let said = match text(&result, "command") {
        "" => format!("the policy `{}` asks for attention", text(open, "policy")),
        command => format!("`{command}` did not pass: {}", text(&result, "output")),
    };
    list("trigger_files").iter().filter_map(Value::as_str).map(|file| line(file, &said)).collect()
}

fn rewritten(item: &Value) -> Vec<String> {
    let texts = |key: &str| -> Vec<&str> {
        item.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let title = property(&texts("names").join(", "));
    let line = |file| format!("::warning file={},title={title}::a command changed it: commit that", property(file));
    texts("files").into_iter().map(line).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A text as the format spells it.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value: what would end it is spelled, too.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wanted_stands_beside_the_file_that_wants_it() {
        let result = json!({
            "faults": [{ "file": ".jackline/policies/a.md", "line": 3, "message": "bad", "level": "error" }],
            "outstanding": [
                { "name": "A: b, c", "policy": "a", "pairs": [{ "from": "src/a,b.py", "to": "t" }], "trigger_files": ["src/a,b.py"] },
                { "name": "R", "policy": "r", "pairs": [], "trigger_files": ["x\n::y"] },
            ],
        });
        assert_eq!(
            lines(&result),
            [
                "::error file=.jackline/policies/a.md,line=3::bad",
                "::error file=src/a%2Cb.py,title=A%3A b%2C c::t must change along with it",
                "::error file=x%0A%3A%3Ay,title=R::the policy `r` asks for attention",
            ]
        );
    }

    #[test]
    fn every_policy_is_seen_before_there_is_more_of_one() {
        let files: Vec<String> = (0..30).map(|n| format!("src/{n}")).collect();
        let open =
            |name: &str, files: &[String]| json!({ "name": name, "policy": name, "pairs": [], "trigger_files": files });
        let rewritten = json!({ "names": ["F"], "files": ["a"], "left_out": 0 });
        let result = json!({
            "outstanding": [open("A", &files), open("B", &files), open("C", &files[..1])], "rewritten": [rewritten],
        });
        let lines = lines(&result);
        let of = |name: &str| lines.iter().filter(|line| line.contains(&format!("title={name}::"))).count();
        assert_eq!((of("A"), of("B"), of("C"), of("F")), (5, 4, 1, 1), "{lines:?}");
        assert_eq!(lines.last().map(String::as_str), Some("::notice::51 more are not shown"));
    }
}
