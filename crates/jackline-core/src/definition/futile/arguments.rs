//! Conditions on one argument that no value fits. An argument of the wrong type counts as a match in a rule, so a text
//! fits any two comparisons of numbers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::compile_regex;
use super::super::fault::quoted;
use super::super::model::{ArgMatcher, Range};
use super::PAIRED_MAX;
use crate::glob;

/// The first argument whose conditions contradict one another.
pub(super) fn never(args: &[&(String, ArgMatcher)]) -> Option<String> {
    let mut by_name: BTreeMap<&str, Vec<&ArgMatcher>> = BTreeMap::new();
    args.iter().for_each(|(name, wanted)| by_name.entry(name).or_default().push(wanted));
    let apart = |first: &ArgMatcher, second: &ArgMatcher| excludes(first, second) || excludes(second, first);
    let (name, _) = by_name.iter().find(|(_, wanted)| super::pair(wanted, apart).is_some())?;
    Some(format!("its conditions on argument {} contradict one another", quoted(name)))
}

/// Whether whatever fits the first never fits the second; looked at from the side of the first.
fn excludes(first: &ArgMatcher, second: &ArgMatcher) -> bool {
    match (first, second) {
        (ArgMatcher::Absent, second) => *second != ArgMatcher::Absent,
        (ArgMatcher::Literal(json), second) => !may_be(json, second),
        (ArgMatcher::In(options), _) if options.len() > PAIRED_MAX => false,
        (ArgMatcher::In(options), second) => !options.iter().any(|json| may_be(json, second)),
        (ArgMatcher::Glob(_) | ArgMatcher::Regex(_) | ArgMatcher::Compare { .. }, _) => false,
    }
}

/// Whether a value may fit a condition.
fn may_be(json: &str, wanted: &ArgMatcher) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(json) else { return true };
    match (wanted, &value) {
        (ArgMatcher::Absent, _) => false,
        (ArgMatcher::Literal(other), _) => same(other, &value),
        (ArgMatcher::In(options), _) if options.len() > PAIRED_MAX => true,
        (ArgMatcher::In(options), _) => options.iter().any(|other| same(other, &value)),
        (ArgMatcher::Glob(pattern), Value::String(text)) => glob::text_matches(pattern, text),
        (ArgMatcher::Regex(pattern), Value::String(text)) => {
            compile_regex(pattern).map_or(true, |regex| regex.is_match(text))
        }
        (ArgMatcher::Compare { gt, lt }, Value::Number(number)) => {
            let Range { gt, lt } = Range { gt: *gt, lt: *lt };
            number.as_f64().is_none_or(|n| gt.is_none_or(|gt| n > gt) && lt.is_none_or(|lt| n < lt))
        }
        (ArgMatcher::Glob(_) | ArgMatcher::Regex(_) | ArgMatcher::Compare { .. }, _) => true,
    }
}

fn same(json: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(json)
        .map_or(true, |other| crate::json::canonical(&other) == crate::json::canonical(value))
}
