//! Judges what a check of an agent's would do as the call that it could have made itself: to run something, to ask an
//! address, or to read a file. What an agent may not read, no check and no evidence of its own tells it of.
//!
//! All guards speak but the loop guard: a check that is evaluated again is no repetition of the agent's.

use serde_json::json;

use super::{Ground, in_context};
use crate::call::{Touch, Views};
use crate::decision::{Decision, Finding, Step, Verdict};
use crate::definition::Kind;
use crate::event::{Body, Call, Event};
use crate::guards::{self, repeat};
use crate::probe::{Fact, Probe};
use crate::shell::quoted;
use crate::todos::check::Check;
use crate::tools;

/// The shell tool of hosts that have none in the table.
const SHELL: &str = "Bash";

/// What speaks against the check, if anything does; or what must be known first.
pub(super) fn judge(ground: &Ground<'_>, check: &Check) -> Result<Option<Finding>, Vec<Probe>> {
    if let Some(path) = check.path() {
        return reading(ground, path);
    }
    let Some(call) = call(ground, check) else { return Ok(None) };
    against(ground, &call, |guard| guard != repeat::GUARD)
}

/// What speaks against reading a file, as our own server would; or what must be known first.
pub(super) fn reading(ground: &Ground<'_>, path: &str) -> Result<Option<Finding>, Vec<Probe>> {
    let call = Call::new(tools::OWN_READ, json!({ tools::OWN_PATH: path }));
    // No such call is made: how often it may be, and with which arguments, is no matter.
    against(ground, &call, |guard| !guards::is_about_the_run(guard) && !guards::is_about_the_tool(guard))
}

/// What the guards that count find in a call; or what must be known first.
fn against(ground: &Ground<'_>, call: &Call, counts: fn(&str) -> bool) -> Result<Option<Finding>, Vec<Probe>> {
    let event = Event { body: Body::CallRequested(call.clone()), ..ground.event.clone() };
    let step = in_context(ground.stack, ground.session, &event, (call, ground.facts), |context| {
        let wanted = guards::needs(context);
        if !wanted.is_empty() {
            return Step::Need(wanted);
        }
        let (mut findings, _) = guards::judge(context);
        findings.retain(|finding| counts(&finding.guard));
        super::done(Decision::merge(findings))
    });
    match step {
        Step::Need(probes) => Err(probes),
        Step::Done(decision) => {
            let verdict = decision.verdict;
            let speaker = decision.findings.into_iter().find(|finding| finding.weight() == verdict);
            Ok(speaker.filter(|_| verdict > Verdict::Allow))
        }
    }
}

/// Whether what the check did wrote a file of the workspace, as far as the same text of a shell tells; or what must be
/// known first.
pub(super) fn wrote(ground: &Ground<'_>, check: &Check) -> Result<bool, Vec<Probe>> {
    let Some(call) = call(ground, check) else { return Ok(false) };
    let (host, stack) = (ground.event.host.as_deref(), ground.stack);
    let views = Views::new(&call, host, &stack.root, stack);
    let written =
        || views.all().flat_map(|view| &view.touches).filter(|touch| touch.role.changes() && touch.is_plain());
    let unknown = |probe: &Probe| ground.facts.get(probe).is_none();
    let wanted: Vec<Probe> = written().map(Touch::probe).filter(unknown).collect();
    if !wanted.is_empty() {
        return Err(wanted);
    }
    Ok(written().any(|touch| match ground.facts.get(&touch.probe()) {
        Some(Fact::Identity(identity)) => identity.place().is_some(),
        Some(_) | None => true,
    }))
}

/// The call that an agent would make to do the same.
fn call(ground: &Ground<'_>, check: &Check) -> Option<Call> {
    let text = shell_text(check)?;
    let host = ground.event.host.as_deref();
    let own = tools::TOOLS.iter().find(|row| row.kind == Kind::Shell && Some(row.host) == host);
    let argument = own.and_then(|row| row.command).unwrap_or("command");
    Some(Call::new(own.map_or(SHELL, |row| row.name), json!({ argument: text })))
}

/// What a shell would be told to do the same.
fn shell_text(check: &Check) -> Option<String> {
    match check {
        Check::CommandExitZero(words) => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
        Check::HttpStatus { url, .. } => Some(format!("curl {}", quoted(url))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        let check = Check::CommandExitZero(vec!["echo".into(), "a b; rm -rf /".into(), "it's".into(), String::new()]);
        assert_eq!(shell_text(&check).as_deref(), Some(r"echo 'a b; rm -rf /' 'it'\''s' ''"));
    }
}
