//! Which declared limits have no source on a host: what nobody reports is never used up.

use jackline_core::stack::Stack;

use crate::adapters::{claude, codex, copilot, gemini, qwen};

/// Hosts that tell of tokens and never of cost.
const WITHOUT_COST: &[&str] = &[claude::HOST, codex::HOST];

/// Hosts that tell of neither.
const WITHOUT_USAGE: &[&str] = &[gemini::HOST, copilot::HOST, qwen::HOST];

/// What a person should know about limits that cannot be counted on this host.
#[must_use]
pub fn unreported(stack: &Stack, host: Option<&str>) -> Option<String> {
    if let Some(host) = host.filter(|host| WITHOUT_USAGE.contains(host)) {
        let limits = || stack.layers.iter().map(|layer| &layer.model.limits);
        let declared = limits().any(|limits| limits.tokens.is_some() || limits.cost_usd.is_some());
        let why = format!("`limits.tokens` and `limits.cost_usd` have no source on this host: {host} reports neither");
        return declared.then(|| format!("{why}. Limit steps or time instead"));
    }
    let host = host.filter(|host| WITHOUT_COST.contains(host))?;
    let declared = stack.layers.iter().any(|layer| layer.model.limits.cost_usd.is_some());
    declared
        .then(|| format!("`limits.cost_usd` has no source on this host: {host} reports no cost. Limit tokens instead"))
}
