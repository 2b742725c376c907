//! R27 to R30: how runs are scored.

use std::collections::BTreeMap;

use jackline_core::definition::Fault;
use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{Entry, Node, Value};

use super::manifest::out_if;
use super::{MANIFEST, Rule, manifest_part, one_of, wrong};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{at, is, number};

/// How scores are found, in both vocabularies.
pub(crate) const KINDS: &[&str] = &[
    "llm_rubric",
    "deterministic",
    "schema",
    "budget",
    "policy",
    "rubric_judge",
    "deterministic_test",
    "deterministic_assertion",
    "budget_utility",
    "policy_score",
];
/// When something is scored.
pub(crate) const HOOKS: &[&str] = &["worker_result", "generated_tool", "final_answer"];
/// What a low score leads to.
pub(crate) const ACTIONS: &[&str] = &["retry_with_repair", "fail_workflow", "accept_with_warning"];
/// What thresholds are when they are not given, in falling order.
const THRESHOLD_DEFAULTS: [(&str, f64); 3] = [("accept", 0.85), ("retry", 0.65), ("fail", 0.40)];
/// How far a sum of weights may be from 1: what decimal fractions lose when they are added.
const WEIGHT_SLACK: f64 = 1e-6;

const CATEGORY: &str = "Evaluation";

pub(super) static KIND: Rule = Rule {
    id: "R27",
    level: Level::Error,
    category: CATEGORY,
    summary: "Metrics are of a known kind",
    text: "With `observability.evaluation.enabled: true`, every metric has a `kind`: `llm_rubric`, `deterministic`, `schema`, \
`budget` or `policy`; or, in the other vocabulary, `rubric_judge`, `deterministic_test`, `deterministic_assertion`, \
`budget_utility` or `policy_score`.

A metric without a `name` (or, in the other vocabulary, an `id`), one whose name is given twice, and one whose name is more than letters, digits, `_`, `-` and `.`, are \
warnings.",
    good: manifest_part("observability:\n  evaluation:\n    enabled: true\n    metrics:\n      - {name: correctness, kind: deterministic, weight: 1.0}\n"),
    bad: manifest_part("observability:\n  evaluation:\n    enabled: true\n    metrics:\n      - {name: correctness, kind: vibes, weight: 1.0}   # no kind of metric\n"),
    check: kind,
};

pub(super) static THRESHOLDS: Rule = Rule {
    id: "R28",
    level: Level::Error,
    category: CATEGORY,
    summary: "Thresholds lie between 0 and 1 and fall",
    text: "`accept`, `retry` and `fail` under `observability.evaluation.thresholds` are numbers from 0 to 1 with \
`accept >= retry >= fail`. One that is not given has its default: 0.85, 0.65 and 0.4.",
    good: manifest_part(
        "observability:\n  evaluation:\n    enabled: false\n    thresholds: {accept: 0.9, retry: 0.6, fail: 0.3}\n",
    ),
    bad: manifest_part(
        "observability:\n  evaluation:\n    enabled: false\n    thresholds: {accept: 0.5, retry: 0.7, fail: 0.3}   # accepted below retry\n",
    ),
    check: thresholds,
};

pub(super) static WEIGHTS: Rule = Rule {
    id: "R29",
    level: Level::Error,
    category: CATEGORY,
    summary: "Weights are not negative, and one is positive",
    text: "Every metric's `weight` is a number of at least 0, by default 1, and at least one is above 0: else every score \
would be 0.

Weights that are given and do not add up to 1 are a warning.",
    good: manifest_part("observability:\n  evaluation:\n    enabled: false\n    metrics:\n      - {name: correctness, kind: deterministic, weight: 0.75}\n      - {name: thrift, kind: budget, weight: 0.25}\n"),
    bad: manifest_part("observability:\n  evaluation:\n    enabled: false\n    metrics:\n      - {name: correctness, kind: deterministic, weight: -1}   # counts backwards\n      - {name: thrift, kind: budget, weight: 2}\n"),
    check: weights,
};

pub(super) static HOOKS_AND_ACTIONS: Rule = Rule {
    id: "R30",
    level: Level::Error,
    category: CATEGORY,
    summary: "Hooks and actions of the evaluation are known",
    text: "`step_scores.hooks` holds nothing but `worker_result`, `generated_tool` and `final_answer`. \
`retry_policy.actions.below_retry` and `below_fail` are `retry_with_repair`, `fail_workflow` or `accept_with_warning`, so that \
there is always something to do about a low score.",
    good: manifest_part(
        "observability:\n  evaluation:\n    enabled: false\n    step_scores: {hooks: [worker_result, final_answer]}\n    retry_policy:\n      actions: {below_retry: retry_with_repair, below_fail: fail_workflow}\n",
    ),
    bad: manifest_part(
        "observability:\n  evaluation:\n    enabled: false\n    step_scores: {hooks: [before_lunch]}   # nobody calls it\n",
    ),
    check: hooks_and_actions,
};

fn evaluation(flow: &Workflow) -> Option<&Node> {
    flow.manifest().and_then(crate::manifest::Manifest::evaluation)
}

fn metrics(flow: &Workflow) -> impl Iterator<Item = &Node> {
    evaluation(flow).and_then(|evaluation| evaluation.get("metrics")).into_iter().flat_map(Node::items)
}

/// What a metric is called, by either word.
fn called(metric: &Node) -> Option<&Node> {
    metric.get("name").or_else(|| metric.get("id"))
}

/// A metric as it is told.
fn named(metric: &Node) -> String {
    called(metric)
        .and_then(Node::text)
        .map_or_else(|| "a metric".to_owned(), |name| format!("the metric {}", quoted(name)))
}

fn kind(flow: &Workflow, out: &mut Found) {
    if !evaluation(flow).is_some_and(|evaluation| is(evaluation, &["enabled"], true)) {
        return;
    }
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for metric in metrics(flow).filter(|metric| matches!(metric.value, Value::Map(_))) {
        match metric.get("kind") {
            Some(kind) => out_if(out, MANIFEST, one_of("kind", KINDS, kind)),
            None => out.put(MANIFEST, Fault::error(format!("{} has no `kind`", named(metric))).at(metric.span)),
        }
        match called(metric).map(|node| (node.text(), node.span)) {
            None => out.put(MANIFEST, Fault::warning("a metric has no `name`").at(metric.span)),
            Some((None, span)) => out.put(MANIFEST, Fault::warning("a metric's name must be a text").at(span)),
            Some((Some(name), span)) => {
                if let Some(line) = seen.insert(name, span.line) {
                    let fault = Fault::warning(format!("duplicate metric {}", quoted(name))).at(span);
                    out.put(MANIFEST, fault.help(format!("it was given before, on line {line}")));
                }
                if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
                    let fault = Fault::warning(format!("the metric's name {} is not well-formed", quoted(name)));
                    out.put(MANIFEST, fault.at(span).help("use letters, digits, `_`, `-` and `.`"));
                }
            }
        }
    }
}

fn thresholds(flow: &Workflow, out: &mut Found) {
    let Some(section) = evaluation(flow).and_then(|evaluation| evaluation.get("thresholds")) else { return };
    let mut in_order = true;
    for entry in section.entries().iter().filter(|entry| THRESHOLD_DEFAULTS.iter().any(|(name, _)| *name == entry.key))
    {
        let fault = out_of_range(entry);
        in_order &= fault.is_none();
        out_if(out, MANIFEST, fault);
    }
    if in_order {
        rising(section, out);
    }
}

fn out_of_range(entry: &Entry) -> Option<Fault> {
    match number(&entry.value) {
        Some(value) if (0.0..=1.0).contains(&value) => None,
        _ => wrong(&entry.key, "a number from 0 to 1", &entry.value),
    }
}

/// Thresholds of which a lower one lies above a higher one.
fn rising(section: &Node, out: &mut Found) {
    let value = |(name, default): (&'static str, f64)| (name, section.get(name).and_then(number).unwrap_or(default));
    let [accept, retry, fail] = THRESHOLD_DEFAULTS.map(value);
    for ((high, above), (low, below)) in [(accept, retry), (retry, fail)] {
        let place = section.get(low).or_else(|| section.get(high));
        if let Some(place) = place.filter(|_| below > above) {
            let fault = Fault::error(format!("`{low}` is {below}, above `{high}`, which is {above}")).at(place.span);
            let given = section.get(low).is_some() && section.get(high).is_some();
            let help = if given {
                "thresholds fall: `accept >= retry >= fail`"
            } else {
                "what is not given has its default: accept 0.85, retry 0.65, fail 0.4"
            };
            out.put(MANIFEST, fault.help(help));
        }
    }
}

fn weights(flow: &Workflow, out: &mut Found) {
    let Some(list) = evaluation(flow).and_then(|evaluation| evaluation.entry("metrics")) else { return };
    let metrics: Vec<&Node> = metrics(flow).filter(|metric| matches!(metric.value, Value::Map(_))).collect();
    let (mut sum, mut fine, mut given) = (0.0, true, false);
    for metric in &metrics {
        let Some(weight) = metric.get("weight") else {
            sum += 1.0;
            continue;
        };
        given = true;
        match number(weight).filter(|weight| weight.is_finite()) {
            Some(value) if value >= 0.0 => sum += value,
            _ => {
                fine = false;
                out_if(out, MANIFEST, wrong("weight", "a number of at least 0", weight));
            }
        }
    }
    if metrics.is_empty() || !fine {
        return;
    }
    if sum == 0.0 {
        let fault = Fault::error("no metric has a weight above 0").at(list.key_span);
        out.put(MANIFEST, fault.help("every score would be 0: give one of them a weight"));
    } else if given && (sum - 1.0).abs() > WEIGHT_SLACK {
        let fault = Fault::warning(format!("the weights add up to {sum}, not to 1")).at(list.key_span);
        out.put(MANIFEST, fault.help("a metric without a `weight` has 1"));
    }
}

fn hooks_and_actions(flow: &Workflow, out: &mut Found) {
    let Some(evaluation) = evaluation(flow) else { return };
    if let Some(hooks) = at(evaluation, &["step_scores", "hooks"]) {
        match &hooks.value {
            Value::List(items) => items.iter().for_each(|item| out_if(out, MANIFEST, one_of("hooks", HOOKS, item))),
            Value::Null => {}
            _ => out_if(out, MANIFEST, wrong("hooks", "a list", hooks)),
        }
    }
    for key in ["below_retry", "below_fail"] {
        let action = at(evaluation, &["retry_policy", "actions", key]);
        out_if(out, MANIFEST, action.and_then(|node| one_of(key, ACTIONS, node)));
    }
}
