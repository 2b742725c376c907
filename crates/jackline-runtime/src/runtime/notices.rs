//! What people should know besides the answer: it is shown to them, not to the agent.

use std::collections::BTreeSet;

use jackline_core::code;
use jackline_core::decision::{Decision, Finding, Verdict};
use jackline_core::definition::model::Confine;
use jackline_core::event::{Body, Event};
use jackline_core::probe::{Fact, Facts};
use jackline_core::stack::Stack;

use super::{Judging, stops};
use crate::limits;

/// About the definitions when an agent begins, when a limit stops being counted, and when a command was not held.
pub(super) fn of(judging: &Judging, event: &Event, decision: &Decision, facts: &Facts) -> Vec<String> {
    let mut notices = Vec::new();
    if decision.briefing.is_some() {
        notices.extend(judging.standing.notices.iter().cloned());
        notices.extend(limits::unreported(judging.stack(), event.host.as_deref()));
    }
    notices.extend(stops::notice(decision));
    notices.extend(stops::of_policies(decision));
    notices.extend(unheld(judging.stack(), facts));
    let listed = matches!(event.body, Body::ToolsListed(_));
    let warned = |finding: &&Finding| {
        let soft = finding.code == code::BUDGET_STEPS && finding.verdict == Verdict::Allow;
        let changed = listed && finding.code == code::MCP_TOOLS_CHANGED;
        soft || changed || finding.code == code::BUDGET_UNMETERED
    };
    notices.extend(decision.findings.iter().filter(warned).map(|finding| finding.reason.clone()));
    notices
}

/// A command that should have been confined and was not, or less than it should.
fn unheld(stack: &Stack, facts: &Facts) -> Option<String> {
    let all: BTreeSet<&str> = facts.iter().filter_map(|(_, fact)| why(fact)).collect();
    let wanted = !all.is_empty() && stack.checks().confine != Some(Confine::Off);
    wanted.then(|| format!("a command was not confined: {}", all.into_iter().collect::<Vec<_>>().join("; ")))
}

fn why(fact: &Fact) -> Option<&str> {
    if let Fact::Ran(ran) = fact { ran.unconfined.as_deref() } else { None }
}

#[cfg(test)]
mod tests {
    use jackline_core::definition;
    use jackline_core::probe::Probe;
    use jackline_core::ran::{Author, Exit, Ran};
    use jackline_core::sha::Digest;

    use super::*;

    #[test]
    fn a_command_that_was_not_confined_is_told_of_unless_nobody_wanted_it() {
        let stack = |checks: &str| {
            let text = format!("jackline: 1\nchecks: {{ {checks} }}\n");
            Stack::of("/ws", definition::parse(&text, &[]).unwrap().model, Digest::ZERO)
        };
        let seen = |unconfined: Option<&str>| {
            let ran = Ran { unconfined: unconfined.map(str::to_owned), ..Ran::silent(Exit::Code(0)) };
            let mut facts = Facts::default();
            let probe = Probe::Run { argv: vec!["x".to_owned()], timeout_ms: 1, author: Author::Owner };
            facts.keep(probe, Fact::Ran(ran));
            facts
        };
        let told = unheld(&stack(""), &seen(Some("no Landlock")));
        assert_eq!(told.as_deref(), Some("a command was not confined: no Landlock"));
        assert_eq!(unheld(&stack(""), &seen(None)), None);
        assert_eq!(unheld(&stack("confine: off"), &seen(Some("nobody asked for it"))), None);
    }
}
