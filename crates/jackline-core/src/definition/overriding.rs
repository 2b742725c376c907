//! The key `override` of a rule: which constraint it puts on an agent, and for how long.

use super::model::{Guard, Model, Rule};
use super::yaml::{Node, Value};
use crate::overrides::{Demand, OVERRIDES_MAX, Override};
use crate::time::parse_duration_ms;

/// Reads the key. What is missing is a fault already, so any value may stand in for it.
pub(super) fn read(node: Option<&Node>) -> Option<Override> {
    let node = node?;
    let number = |node: Option<&Node>| match node?.value {
        Value::Int(number) => u32::try_from(number).ok(),
        _ => None,
    };
    let tool = |node: &Node| node.get("tool").and_then(Node::text).unwrap_or_default().to_owned();
    let demand = if let Some(budget) = node.get("tool_budget") {
        Demand::ToolBudget { tool: tool(budget), max_calls: number(budget.get("max_calls")).unwrap_or_default() }
    } else if let Some(widen) = node.get("widen_retrieval") {
        Demand::WidenRetrieval { factor: number(widen.get("factor")).unwrap_or_default() }
    } else {
        Demand::ForceAction { tool: node.get("force_action").map(tool).unwrap_or_default() }
    };
    let ttl_ms = node.get("ttl").and_then(Node::text).and_then(parse_duration_ms);
    Some(Override { demand, ttl_steps: number(node.get("ttl_steps")), ttl_ms })
}

/// How many more rules of a definition put an override than may.
pub(super) fn too_many(model: &Model) -> bool {
    let policies = model.sections.iter().flat_map(|section| &section.policies).chain(&model.policies);
    let rules = policies.filter(|policy| matches!(&policy.guard, Guard::Rule(rule) if rule.overriding.is_some()));
    rules.count() > OVERRIDES_MAX
}

/// What a rule's new override allows that the old one did not, as sentence fragments. Any change but a new demand
/// that only restrains counts: which of two demands is stricter hangs on the run.
pub(super) fn loosenings(label: &str, old: &Rule, new: &Rule) -> Option<String> {
    match (&old.overriding, &new.overriding) {
        (Some(before), Some(after)) if before == after => None,
        (Some(_), Some(_)) => Some(format!("{label} changed its override")),
        (Some(_), None) => Some(format!("{label} lost its override")),
        (None, _) => widens(new).then(|| format!("{label} gained an override that widens")),
    }
}

/// Whether a rule lets an agent see more than it would without it.
pub(super) fn widens(rule: &Rule) -> bool {
    rule.overriding.as_ref().is_some_and(|given| matches!(given.demand, Demand::WidenRetrieval { .. }))
}

#[cfg(test)]
mod tests {
    use super::super::{loosenings, parse};
    use super::*;

    fn rule(rest: &str) -> String {
        format!("jackline: 1\npolicies: [{{name: r, rule: {{tool: Bash, {rest}}}}}]\n")
    }

    fn model(text: &str) -> Model {
        parse(text, &["Bash", "Read"]).unwrap_or_else(|faults| panic!("{text}: {faults:#?}")).model
    }

    #[test]
    fn a_rule_with_an_override_refuses_nothing_by_itself() {
        let verdict = |rest: &str| match &model(&rule(rest)).policies[0].guard {
            Guard::Rule(rule) => rule.verdict,
            _ => panic!("no rule"),
        };
        assert_eq!(verdict("override: {force_action: {tool: Read}, ttl_steps: 1}"), None);
        assert_eq!(verdict("reason: x").map(|verdict| verdict.name()), Some("deny"));
        let both = "verdict: ask, override: {tool_budget: {tool: Bash, max_calls: 3}, ttl: 10m}";
        assert_eq!(verdict(both).map(|verdict| verdict.name()), Some("ask"));
    }

    #[track_caller]
    fn check(rest: &str, want: &str) {
        let faults = parse(&rule(rest), &["Bash", "Read"]).unwrap_err();
        assert_eq!(faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>(), [want], "{rest}");
    }

    #[test]
    fn faults_are_told() {
        check(
            "override: {force_action: {tool: Read}}",
            "policy \"r\": an override must be given a time to live: `ttl_steps` or `ttl`",
        );
        check(
            "override: {force_action: {tool: Read}, ttl: 25h}",
            "policy \"r\": an override must be given a `ttl` of at most 24h",
        );
        check("override: {force_action: {tool: '@none'}, ttl: 1h}", "policy \"r\": there is no kind `@none`");
        let many: String = (0..=OVERRIDES_MAX)
            .map(|n| {
                format!("- {{name: r{n}, rule: {{tool: Bash, override: {{force_action: {{tool: Read}}, ttl: 1h}}}}}}\n")
            })
            .collect();
        let faults = parse(&format!("jackline: 1\npolicies:\n{many}"), &["Bash", "Read"]).unwrap_err();
        assert_eq!(faults[0].message, "more than 8 rules put an override");
    }

    #[test]
    fn changed_overrides_wait_for_trust() {
        let told = |old: &str, new: &str| loosenings(&model(&rule(old)), &model(&rule(new)));
        let forced = "override: {force_action: {tool: Read}, ttl: 1h}";
        assert_eq!(told(forced, forced), Vec::<String>::new());
        assert_eq!(told(forced, "verdict: deny"), ["policy \"r\" lost its override"]);
        assert_eq!(
            told(forced, "override: {force_action: {tool: Read}, ttl: 2h}"),
            ["policy \"r\" changed its override"]
        );
        assert_eq!(told("verdict: deny", forced), ["policy \"r\" lowered its verdict from deny to none"]);
        let widened = "verdict: deny, override: {widen_retrieval: {factor: 2}, ttl: 1h}";
        assert_eq!(told("verdict: deny", widened), ["policy \"r\" gained an override that widens"]);
        let fresh = loosenings(&model("jackline: 1\n"), &model(&rule(widened)));
        assert_eq!(fresh, ["policy \"r\" was added and widens"]);
    }
}
