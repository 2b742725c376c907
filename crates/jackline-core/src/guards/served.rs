//! Calls of tools that their MCP server changed while the session runs, or of which it says nothing that can be read.

use super::{Context, observed};
use crate::code;
use crate::decision::Finding;
use crate::definition::UnknownTools;
use crate::definition::model::ChangedTools;
use crate::stack::Layer;

pub(crate) const GUARD: &str = "mcp";

/// Whether any server changed its tools at all, or does not say clearly what this one is.
pub(crate) fn speaks(context: &Context<'_>) -> bool {
    unclear(context).is_some()
        || context.session.servers.iter().any(|served| served.all_changed || !served.changed.is_empty())
}

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let tool = &context.view.call.tool;
    if let Some(why) = unclear(context) {
        let layers = context.stack.layers.iter().filter(|layer| !layer.is_pack() && needs_list(context, layer));
        return layers.map(|layer| observed(unclear_finding(&why), layer)).collect();
    }
    if !context.session.servers.iter().any(|served| served.is_changed(tool)) {
        return Vec::new();
    }
    let layers = context.stack.layers.iter().filter(|layer| !layer.is_pack() && refuses(layer));
    layers.map(|layer| observed(finding(tool), layer)).collect()
}

/// Whether a layer refuses calls of changed tools.
pub(crate) fn refuses(layer: &Layer) -> bool {
    layer.model.mcp.changed_tools == ChangedTools::Deny
}

/// Whether a layer judges by what the server lists: it refuses other tools, or changed ones.
fn needs_list(context: &Context<'_>, layer: &Layer) -> bool {
    let unknown = layer.model.tools.unknown.or(context.stack.unknown_tools);
    refuses(layer) || unknown == Some(UnknownTools::Deny)
}

fn unclear(context: &Context<'_>) -> Option<String> {
    context.stack.catalogue.as_ref()?.unclear(&context.view.call.tool)
}

fn unclear_finding(why: &str) -> Finding {
    Finding::deny(GUARD, code::MCP_TOOLS_UNCLEAR, why).suggest(
        "use another server's tool, or ask the owner to look at the server; `tools: {unknown: allow}` judges without its list",
    )
}

fn finding(tool: &str) -> Finding {
    let reason = format!("What tool '{tool}' is said to do changed while the session runs.");
    Finding::deny(GUARD, code::MCP_TOOLS_CHANGED, reason).suggest(
        "use another tool, or ask the owner to look at the server and to run `jackline allow mcp/tools-changed`",
    )
}
