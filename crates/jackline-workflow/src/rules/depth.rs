//! R31 and R32: how deep managers may delegate to managers.

use jackline_core::definition::Fault;
use jackline_core::definition::yaml::{Node, Value};

use super::manifest::out_if;
use super::{MANIFEST, Rule, manifest_part, wrong};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::Manifest;

/// Managers below managers that a workflow may ever ask for: with it a run always ends.
const DEPTH_MAX: i64 = 10;
/// More is allowed, and rarely meant.
const DEPTH_USUAL_MAX: i64 = 5;

const CATEGORY: &str = "Orchestration (A4)";

pub(super) static REQUIRED: Rule = Rule {
    id: "R31",
    level: Level::Error,
    category: CATEGORY,
    summary: "A delegation budget has a `max_depth`",
    text: "Where `orchestration.delegation_loop.budget` is present, `max_depth` is a whole number of at least 0: 0 for a \
manager that delegates to workers only, more for managers below it. Without it recursion would have no end. Budgets of loops \
inside the graph (`config.budget` of a node) are held to the same.",
    good: manifest_part(
        "orchestration:\n  engine: delegation_loop\n  delegation_loop:\n    manager: researcher\n    budget: {max_depth: 0, max_loops: 20}\n",
    ),
    bad: manifest_part(
        "orchestration:\n  engine: delegation_loop\n  delegation_loop:\n    manager: researcher\n    budget: {max_loops: 20}    # and how deep?\n",
    ),
    check: required,
};

pub(super) static CEILING: Rule = Rule {
    id: "R32",
    level: Level::Error,
    category: CATEGORY,
    summary: "`max_depth` is at most 10",
    text: "`orchestration.delegation_loop.budget.max_depth` is not above 10. From 6 to 10 it is a warning: most workflows are \
done at a depth of 3, and a flatter one is easier to follow and to pay for.",
    good: manifest_part(
        "orchestration:\n  engine: delegation_loop\n  delegation_loop:\n    manager: researcher\n    budget: {max_depth: 3}\n",
    ),
    bad: manifest_part(
        "orchestration:\n  engine: delegation_loop\n  delegation_loop:\n    manager: researcher\n    budget: {max_depth: 11}    # too deep\n",
    ),
    check: ceiling,
};

fn required(flow: &Workflow, out: &mut Found) {
    for budget in flow.manifest().into_iter().flat_map(Manifest::budgets) {
        match budget.value.get("max_depth") {
            None => {
                let fault = Fault::error("the budget has no `max_depth`").at(budget.key_span);
                out.put(
                    MANIFEST,
                    fault.help("add `max_depth: 0` for workers only, or more for managers below the manager"),
                );
            }
            Some(node) if matches!(node.value, Value::Int(depth) if depth >= 0) || beyond(node) => {}
            Some(node) => out_if(out, MANIFEST, wrong("max_depth", "a whole number of at least 0", node)),
        }
    }
}

fn ceiling(flow: &Workflow, out: &mut Found) {
    for node in
        flow.manifest().into_iter().flat_map(Manifest::budgets).filter_map(|budget| budget.value.get("max_depth"))
    {
        match node.value {
            Value::Int(depth) if depth > DEPTH_MAX => too_deep(node, &depth.to_string(), out),
            _ if beyond(node) => too_deep(node, "a very large number", out),
            Value::Int(depth) if depth > DEPTH_USUAL_MAX => {
                let fault =
                    Fault::warning(format!("`max_depth` is {depth}; most workflows are done at 3")).at(node.span);
                out.put(MANIFEST, fault.help("decompose the work more flatly"));
            }
            _ => {}
        }
    }
}

fn too_deep(node: &Node, depth: &str, out: &mut Found) {
    let fault = Fault::error(format!("`max_depth` is {depth}, above {DEPTH_MAX}")).at(node.span);
    out.put(MANIFEST, fault.help("decompose the work more flatly"));
}

/// Whether a number is whole and larger than we count.
fn beyond(node: &Node) -> bool {
    matches!(node.value, Value::Float(depth) if depth.is_finite() && depth >= i64::MAX as f64)
}
