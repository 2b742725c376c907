//! Calls of tools that their MCP server changed while the session runs.

use super::{Context, observed};
use crate::code;
use crate::decision::Finding;
use crate::definition::model::ChangedTools;
use crate::stack::Layer;

pub(crate) const GUARD: &str = "mcp";

/// Whether any server changed its tools at all.
pub(crate) fn speaks(context: &Context<'_>) -> bool {
    context.session.servers.iter().any(|served| served.all_changed || !served.changed.is_empty())
}

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let tool = &context.view.call.tool;
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

fn finding(tool: &str) -> Finding {
    let reason = format!("What tool '{tool}' is said to do changed while the session runs.");
    Finding::deny(GUARD, code::MCP_TOOLS_CHANGED, reason).suggest(
        "use another tool, or ask the owner to look at the server and to run `jackline allow mcp/tools-changed`",
    )
}
