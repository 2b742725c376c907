//! How long a host waits for us, and how long the definitions in force may need.

use jackline_core::definition::model::AgentCommands;
use jackline_core::stack::Stack;
use jackline_core::todos::{COMMAND_MS_MAX, STOP_MS_MAX};

use crate::files::{ACTIONS_MS_MAX, actions};

/// Seconds until the host gives up on a hook: twice what the hook gives itself, so that it always gets to say no.
pub const TIMEOUT_S: u64 = 10;
/// Seconds until the host gives up on a hook where an agent stops: an hour, longer than which nobody waits. It suits any
/// project and any later definition, because one wiring serves them all; a hook that has nothing to wait for answers by
/// its own deadline long before.
pub const STOP_TIMEOUT_S: u64 = 3600;
/// Seconds for the end of a turn beside the commands that run there.
const STOP_S: u64 = 20;
/// Seconds a command may need beyond its time until it has ended.
const COMMAND_GRACE_S: u64 = 3;

/// How long the host waits for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// At the end of a turn.
    pub stop_s: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { stop_s: STOP_TIMEOUT_S }
    }
}

/// Seconds that these definitions need at the end of a turn: every command of theirs may run, one after another.
#[must_use]
pub fn needed_s(stack: &Stack) -> u64 {
    let models = || stack.layers.iter().map(|layer| &layer.model);
    let completions = models().filter_map(|model| model.completion.as_ref());
    let commands = completions.flat_map(|completion| completion.check.commands());
    let required = models().flat_map(|model| &model.todos.require).flat_map(|required| &required.checks);
    let required = required.filter(|check| check.command().is_some()).map(|_| COMMAND_MS_MAX);
    let agents = models().any(|model| model.todos.agent_commands == Some(AgentCommands::Allow));
    let all = commands.map(|command| command.timeout_ms).chain(required).chain(agents.then_some(STOP_MS_MAX));
    let seconds: u64 = all.map(|ms| ms.div_ceil(1000) + COMMAND_GRACE_S).sum();
    (STOP_S + seconds + acting_s(stack)).min(STOP_TIMEOUT_S)
}

/// Seconds for the commands of file policies, where there are any.
fn acting_s(stack: &Stack) -> u64 {
    let acts = actions::any(stack);
    if acts { ACTIONS_MS_MAX.div_ceil(1000) } else { 0 }
}
