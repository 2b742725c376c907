//! After a halt every call of that agent is refused until a person speaks.

use super::Context;
use crate::code;
use crate::decision::Finding;

pub(crate) const GUARD: &str = "run";

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let Some(halt) = &context.agent.halted else { return Vec::new() };
    let why = halt.reason.trim_end_matches(['.', '!', ' ']);
    let reason = format!("The run was halted ({}: {why}). Stop and report to the person.", halt.code);
    vec![Finding::deny(GUARD, code::RUN_HALTED, reason)]
}
