//! An MCP server listed its tools: the first list of a session is remembered, and a later one that differs is told.

use crate::code;
use crate::decision::{Decision, Finding};
use crate::guards::served::GUARD;
use crate::listing::{Difference, Listing, Served};
use crate::session::{Change, Session};
use crate::stack::Stack;

pub(super) fn listed(stack: &Stack, session: &Session, listing: &Listing) -> Decision {
    let Some(Difference { served, told }) = Served::compare(session.server(&listing.server), listing) else {
        return Decision { passing: true, ..Decision::default() };
    };
    // A list is only shown: nothing is refused for it, but calls may be.
    let finding = told.map(|told| Finding { enforced: false, ..finding(stack, &told) });
    let changes = vec![Change::Served { served }];
    Decision { changes, ..Decision::merge(finding.into_iter().collect()) }
}

fn finding(stack: &Stack, told: &str) -> Finding {
    let refused = stack.layers.iter().any(crate::guards::served::refuses);
    let next = if refused {
        "calls of these tools are refused; `jackline allow mcp/tools-changed` lets them pass for a while"
    } else {
        "look at the server; `mcp: {changed_tools: deny}` in the definition refuses calls of such tools"
    };
    Finding::deny(GUARD, code::MCP_TOOLS_CHANGED, told).suggest(next)
}
