//! Runs cases: each in a scratch workspace, in a session of its own, with nothing kept.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use jackline_core::decision::Verdict;
use jackline_core::event::{Body, Call, Event, Outcome};
use jackline_core::time::Timestamp;
use jackline_runtime::definitions::{DefinitionFault, Given, Standing};
use jackline_runtime::{Answer, Runtime, RuntimeBuilder};
use tempfile::TempDir;

use super::{Case, CaseFile, Step};
use crate::error::CommandError;
use crate::place;

/// When a case begins: 2026-01-01T00:00:00Z. Cases must not depend on the day they are run.
const BEGIN: Timestamp = Timestamp(1_767_225_600_000);
/// Milliseconds between two steps that say nothing of time.
const STEP_MS: i64 = 1_000;
/// The session of a case; each has a store of its own.
const SESSION: &str = "case";

/// What came of running cases.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    pub(crate) cases: usize,
    /// What is wrong, a text for each case that failed.
    pub(crate) failures: Vec<String>,
    /// The policies that found something in any of them.
    pub(crate) fired: BTreeSet<String>,
}

pub(super) fn all(definition: &Path, text: &str, files: &[CaseFile]) -> Result<Ran, CommandError> {
    let mut ran = Ran::default();
    for file in files {
        for case in &file.cases {
            let scratch = Scratch::new(definition, text, case)?;
            ran.cases += 1;
            let failed = play(&scratch.runtime, case, &mut ran.fired);
            ran.failures.extend(failed.map(|why| format!("{}: {}: {why}", file.name, case.note)));
        }
    }
    Ok(ran)
}

/// A workspace and a home of a case's own; gone when the value goes.
struct Scratch {
    runtime: Runtime,
    /// Holds the directory until the case is over.
    _place: TempDir,
}

impl Scratch {
    fn new(definition: &Path, text: &str, case: &Case) -> Result<Self, CommandError> {
        let unmade = |fault: io::Error| CommandError::internal(format!("no scratch workspace can be made: {fault}"));
        let place = tempfile::Builder::new().prefix("jackline-test-").tempdir_in(place::temporary()).map_err(unmade)?;
        let top = place.path().canonicalize().map_err(unmade)?;
        let (root, home) = (top.join("workspace"), top.join("home"));
        furnish(definition, text, case, (&root, &home)).map_err(unmade)?;
        let faulty =
            |faults| DefinitionFault::Faulty { path: definition.to_owned(), source_text: text.to_owned(), faults };
        let standing = Standing::given(&root, text).map_err(faulty)?;
        let builder = RuntimeBuilder::default().workspace(&root).home(home).definitions(Given::new(standing));
        let runtime = builder.build().map_err(|fault| CommandError::internal(fault.to_string()))?;
        Ok(Self { runtime, _place: place })
    }
}

/// The definition, the files it names, and those of the case.
fn furnish(definition: &Path, text: &str, case: &Case, (root, home): (&Path, &Path)) -> io::Result<()> {
    fs::create_dir_all(root)?;
    fs::create_dir_all(home)?;
    fs::write(root.join("jackline.yaml"), text)?;
    let dir = definition.parent().unwrap_or(definition);
    // One with faults names no files; the faults are told when the runtime is built.
    let named = Standing::given_from(dir, dir, text, None).map(|found| found.protected()).unwrap_or_default();
    for path in named.into_iter().filter(|path| path.is_file()) {
        if let Ok(inside) = path.strip_prefix(dir) {
            write(&root.join(inside), &fs::read(&path)?)?;
        }
    }
    case.workspace.iter().try_for_each(|(path, text)| write(&root.join(path), text.as_bytes()))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, bytes)
}

/// Plays the steps; the first that is not decided as wanted.
fn play(runtime: &Runtime, case: &Case, fired: &mut BTreeSet<String>) -> Option<String> {
    let mut at = BEGIN;
    for (index, step) in case.steps.iter().enumerate() {
        at = Timestamp(at.0.saturating_add(step.after_ms).saturating_add(STEP_MS));
        let call = Call { id: Some(format!("call-{index}")), ..Call::new(&step.tool, step.args.clone()) };
        let answer = runtime.decide(&event(step, at, Body::CallRequested(call.clone())));
        fired.extend(answer.findings.iter().map(|finding| finding.policy.clone()));
        if let Some(why) = differs(step, &answer) {
            return Some(format!("step {} ({})\n{why}", index + 1, step.label));
        }
        if !answer.verdict.refuses() {
            let done = Body::CallFinished(call, Outcome::new(step.ok, serde_json::Value::Null));
            runtime.decide(&event(step, at, done));
        }
    }
    None
}

fn event(step: &Step, at: Timestamp, body: Body) -> Event {
    Event {
        session: SESSION.to_owned(),
        at,
        agent: step.agent.clone(),
        host: Some(step.host.clone()),
        cwd: None,
        definition: None,
        transcript: None,
        body,
    }
}

/// What was wanted and what was decided, where they differ.
fn differs(step: &Step, answer: &Answer) -> Option<String> {
    let code = answer.code.as_ref().map(ToString::to_string);
    let reason = answer.reason.as_deref().unwrap_or_default();
    let is_wanted = |want: &String| {
        let by_verdict = answer.verdict.name() == want;
        by_verdict || code.as_ref() == Some(want)
    };
    let wanted = step.want.as_ref().is_none_or(is_wanted);
    let said = step.says.as_ref().is_none_or(|says| reason.contains(says.as_str()));
    if wanted && said {
        return None;
    }
    let want = step.want.as_deref().unwrap_or("anything");
    let says = step.says.as_ref().filter(|_| !said).map(|says| format!(", saying `{says}`")).unwrap_or_default();
    let got = match (&code, answer.verdict) {
        (None, _) | (_, Verdict::Allow) => answer.verdict.name().to_owned(),
        (Some(code), verdict) => format!("{} {code}: {reason}", verdict.name()),
    };
    Some(format!("  - want {want}{says}\n  + got  {got}"))
}
