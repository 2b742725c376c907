//! Arguments that are not the JSON they should be. Wrong JSON is never silently mended.

use super::Context;
use crate::code;
use crate::decision::Finding;

const GUARD: &str = "schema";

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let Some(why) = &context.view.call.broken else { return Vec::new() };
    let reason = format!("The arguments of tool '{}' are no JSON object: {why}.", context.view.call.tool);
    vec![Finding::deny(GUARD, code::SCHEMA_INVALID, reason).suggest("send the corrected JSON only")]
}
