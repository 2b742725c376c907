//! OPA policies: the call is denied for each reason that the policy gives. The runtime evaluates; here is only what a
//! policy is told, and what follows from its answer.

use crate::call::Touch;
use crate::code::{self, Code};
use crate::decision::Finding;
use crate::definition::model::{Policy, Rego};
use crate::done;
use crate::matcher::{Purpose, Subject};
use crate::probe::{Fact, Probe};
use crate::rego::{About, PathSeen};

const GUARD: &str = "rego";

/// First where the call's paths lead, then the policy itself; and nothing for a call that it does not judge, because
/// an engine that starts costs more than everything else.
pub(crate) fn needs(policy: &Policy, settings: &Rego, subject: &Subject<'_>) -> Vec<Probe> {
    let unknown = |probe: &Probe| subject.facts.get(probe).is_none();
    if policy.when.as_ref().is_some_and(|when| !subject.needs(when).is_empty()) || !judges(policy, settings, subject) {
        return Vec::new();
    }
    let paths: Vec<Probe> = plain(subject).filter(|touch| !touch.dynamic).map(Touch::probe).filter(unknown).collect();
    if !paths.is_empty() {
        return paths;
    }
    Some(probe(settings, subject)).filter(unknown).into_iter().collect()
}

pub(crate) fn judge(settings: &Rego, subject: &Subject<'_>) -> Vec<Finding> {
    if !is_meant(settings, subject) {
        return Vec::new();
    }
    let why = match subject.facts.get(&probe(settings, subject)) {
        Some(Fact::Rego(judged)) => {
            let found =
                |denial: &crate::rego::Denial| Finding::deny(GUARD, Code::rego(&denial.code), denial.reason.clone());
            return judged.denials.iter().map(found).collect();
        }
        Some(Fact::Unknown(why)) => why.as_str(),
        Some(_) | None => "it was not asked",
    };
    let reason = format!("the Rego policy `{}` did not judge: {why}", settings.file);
    vec![Finding::fault(GUARD, code::FAULT_REGO, &reason).suggest("ask the owner to run `jackline check`")]
}

fn judges(policy: &Policy, settings: &Rego, subject: &Subject<'_>) -> bool {
    is_meant(settings, subject) && policy.when.as_ref().is_none_or(|when| subject.matches(when, Purpose::Restrict))
}

fn is_meant(settings: &Rego, subject: &Subject<'_>) -> bool {
    settings.tool.is_empty() || settings.tool.iter().any(|name| subject.is_named(name, Purpose::Restrict))
}

fn probe(settings: &Rego, subject: &Subject<'_>) -> Probe {
    let session = subject.session;
    let about = About {
        kind: subject.view.kind,
        paths: plain(subject).map(|touch| seen(touch, subject)).collect(),
        calls: session.steps,
        ms: session.began.map_or(0, |began| session.now(subject.event.at).since(began)),
        written: session.writes,
        done: done::told(session, subject.layer),
    };
    Probe::Rego { file: subject.layer.file(&settings.file), about }
}

/// The paths that the call shows to be touched.
fn plain<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Touch> + use<'a> {
    subject.view.touches.iter().filter(|touch| touch.is_plain())
}

fn seen(touch: &Touch, subject: &Subject<'_>) -> PathSeen {
    // Where it leads may not be told, which the policy sees.
    let identity = subject.facts.get(&touch.probe()).filter(|_| !touch.dynamic).and_then(Fact::identity);
    PathSeen {
        text: touch.path.clone(),
        role: touch.role,
        resolved: identity.map(|identity| identity.path.clone()),
        inside: identity.and_then(|identity| identity.inside.clone()),
    }
}
