//! Calls to tools that neither the host nor the definition knows.

use super::{Context, observed};
use crate::code;
use crate::decision::Finding;
use crate::definition::UnknownTools;
use crate::nearest;
use crate::stack::Layer;
use crate::tools;

pub(crate) const GUARD: &str = "unknown_tool";

/// Nearest names that are suggested.
const NEAREST_MAX: usize = 3;

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    if !context.views.all().any(|view| view.unknown) {
        return Vec::new();
    }
    // Each layer for itself: one that only observes must not speak for one that enforces, and what one declares
    // another still does not know.
    let layers = context.stack.layers.iter().filter(|layer| !layer.is_pack());
    let refusing = layers.filter(|layer| context.subject(layer).view.unknown && refuses(context, layer));
    refusing.map(|layer| observed(finding(context), layer)).collect()
}

fn refuses(context: &Context<'_>, layer: &Layer) -> bool {
    layer.model.tools.unknown.or(context.stack.unknown_tools) == Some(UnknownTools::Deny)
}

fn finding(context: &Context<'_>) -> Finding {
    let tool = &context.view.call.tool;
    let mut finding = Finding::deny(GUARD, code::TOOLS_UNKNOWN, format!("There is no tool '{tool}'."));
    finding.suggestions = nearest(context, &known(context));
    finding
}

/// The known names nearest to the one that was called.
pub(crate) fn nearest(context: &Context<'_>, known: &[&str]) -> Vec<String> {
    let tool = context.view.call.tool.as_str();
    // What the names of one server's tools have in common does not make them near.
    let offered = context.stack.catalogue.is_some() && tool.starts_with("mcp__");
    let front = tool.rfind("__").filter(|_| offered).map_or(0, |at| at + 2);
    let (front, own) = tool.split_at_checked(front).unwrap_or(("", tool));
    // One that another definition declares is no other tool to call.
    let others = known.iter().filter(|name| **name != tool);
    let names = others.filter_map(|name| name.strip_prefix(front));
    nearest::names(own, names, NEAREST_MAX).into_iter().map(|name| format!("{front}{name}")).collect()
}

/// Every name that the definition declares, the server offers or the host brings along.
pub(crate) fn known<'a>(context: &Context<'a>) -> Vec<&'a str> {
    let declared = context.stack.layers.iter().flat_map(|layer| layer.model.tools.named());
    let offered = context.stack.catalogue.iter().flat_map(|catalogue| catalogue.names());
    let host = context.event.host.as_deref().unwrap_or_default();
    // A server's client can call nothing but what that server offers.
    let elsewhere = context.stack.catalogue.is_none();
    let rows = tools::TOOLS.iter().filter(|tool| tool.host == host || tool.host.is_empty()).map(|tool| tool.name);
    let mut known: Vec<&str> = declared.chain(offered).chain(rows.filter(|_| elsewhere)).collect();
    known.sort_unstable();
    known.dedup();
    known
}
