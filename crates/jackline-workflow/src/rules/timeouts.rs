//! R17: limits of time, and what becomes of an agent that is out of it.

use jackline_core::definition::Fault;
use jackline_core::definition::yaml::Node;

use super::manifest::out_if;
use super::{MANIFEST, Rule, manifest_part, one_of, wrong};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{Manifest, at, number};

/// What an agent's failure may lead to; `stop` and `abort` are the same.
pub(crate) const FAILURES: &[&str] = &["continue", "skip", "retry", "abort", "stop"];

pub(super) static TIMEOUTS: Rule = Rule {
    id: "R17",
    level: Level::Error,
    category: "Orchestration",
    summary: "Timeouts are positive, and failures lead somewhere",
    text: "Every limit of time is a number of seconds above 0: `execution.timeout_per_agent` and `timeout_total` (or \
`execution.timeout.per_agent` and `.total`), `timeout_idle`, a node's `timeout`, `max_wall_time` of a budget. What follows \
when it is over is one of `continue`, `skip`, `retry`, `abort` and `stop`: a node's `on_failure`, \
`execution.error_handling.default`, `execution.on_error`. A runtime enforces both.

A limit that is given in both spellings with different values, and one for an agent that is longer than the whole run's, are \
warnings.",
    good: manifest_part("orchestration:\n  graph:\n    - id: researcher\n      timeout: 90\n      on_failure: retry\n  execution:\n    timeout_per_agent: 120\n    timeout_total: 600\n"),
    bad: manifest_part("orchestration:\n  graph:\n    - id: researcher\n  execution:\n    timeout_per_agent: 0      # no agent could ever run\n"),
    check,
};

fn check(flow: &Workflow, out: &mut Found) {
    let Some(manifest) = flow.manifest() else { return };
    for (label, node) in manifest.timeouts() {
        out_if(out, MANIFEST, no_time(&label, node));
    }
    let execution = at(manifest.root, &["orchestration", "execution"]);
    let after = [(&["error_handling", "default"] as &[&str], "default"), (&["on_error"], "on_error")];
    for (keys, label) in after {
        let node = execution.and_then(|execution| at(execution, keys));
        out_if(out, MANIFEST, node.and_then(|node| one_of(label, FAILURES, node)));
    }
    for node in manifest.graph().filter_map(|node| node.node.get("on_failure")) {
        out_if(out, MANIFEST, one_of("on_failure", FAILURES, node));
    }
    if let Some(execution) = execution {
        contradictions(execution, manifest, out);
    }
}

fn no_time(label: &str, node: &Node) -> Option<Fault> {
    match number(node) {
        Some(seconds) if seconds.is_finite() && seconds > 0.0 => None,
        Some(_) => wrong(label, "a number of seconds above 0", node),
        None => {
            let fault = wrong(label, "a number of seconds above 0", node)?;
            Some(if fault.help.is_none() && node.text().is_some() {
                fault.help("write seconds, such as `120`")
            } else {
                fault
            })
        }
    }
}

/// Limits that say two things at once.
fn contradictions(execution: &Node, manifest: Manifest<'_>, out: &mut Found) {
    let flat = |name: &str| execution.get(&format!("timeout_{name}"));
    let nested = |name: &str| at(execution, &["timeout", name]);
    for name in ["per_agent", "total", "idle"] {
        if let (Some(first), Some(second)) = (flat(name), nested(name))
            && number(first) != number(second)
        {
            let fault =
                Fault::warning(format!("`timeout_{name}` and `timeout.{name}` are not the same")).at(second.span);
            out.put(MANIFEST, fault.help("give one of them"));
        }
    }
    let limit = |name: &str| flat(name).or_else(|| nested(name)).and_then(|node| Some((number(node)?, node)));
    let Some((all, _)) = limit("total").filter(|(all, _)| *all > 0.0) else { return };
    let own =
        manifest.graph().filter_map(|node| node.node.get("timeout")).filter_map(|node| Some((number(node)?, node)));
    for (one, node) in limit("per_agent").into_iter().chain(own).filter(|(one, _)| *one > all) {
        let fault = Fault::warning(format!("an agent may take {one} s, and the whole run only {all} s")).at(node.span);
        out.put(MANIFEST, fault.help("make the total longer"));
    }
}
