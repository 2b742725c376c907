//! Carries out a workflow: its graph, or its manager's loop.
//!
//! [`run`] reads the `settings`, opens the run's record and its directory, and lets one of two engines drive:
//! `graph` follows who waits for whom, `delegation` has a manager decide and workers work. Both take `step`s: an agent
//! is asked through a [`worker::Worker`], its `answer` is held against its contract, and what comes of it is in the
//! `ledger` before it counts: one hash chain, without anything `hidden`. What agents see of one another is `shared`
//! state and `mail`. `watch` ends what runs too long or is not wanted any more.
//!
//! A run that was interrupted is taken up from its records: the `journal` knows what came of every step, and no step that
//! it knows is taken again.

mod answer;
mod command;
mod delegation;
mod ended;
mod fault;
mod graph;
mod hidden;
mod journal;
mod kept;
mod ledger;
mod mail;
mod model;
mod order;
mod owner;
mod parallel;
mod referee;
mod running;
mod settings;
mod shared;
mod step;
mod tab;
mod tiers;
mod watch;
pub mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};

use jackline_runtime::private;
use jackline_runtime::runner::Environment;
use jackline_runtime::store::Store;
use serde_json::{Value, json};

use crate::critique::Memory;
use crate::load::Workflow;
use crate::loop_control::{End, Status};
use crate::model::Post;
pub use command::Command;
pub use ended::Ended;
use fault::Halt;
pub use fault::RunFault;
use hidden::Hidden;
use journal::Journal;
use kept::Kept;
pub use ledger::{Entry, Observer};
use ledger::{Frame, Ledger};
use model::Means;
pub use order::{Order, is_run_id, new_run_id};
use owner::Owner;
use running::{Running, lock};
pub(crate) use settings::GATHERED;
pub(crate) use settings::unusable_tiers;
use settings::{Engine, Settings};
use shared::Shared;
use tab::Tab;
use watch::Watch;

/// Where a run finds and keeps things.
#[expect(missing_debug_implementations, reason = "questions have no text")]
pub struct Surroundings<'a> {
    pub store: &'a dyn Store,
    /// Below this, each run has a directory of its own.
    pub runs: PathBuf,
    /// Where the store keeps records: no agent may read them, nor what is below `runs`, save its own directories.
    pub records: PathBuf,
    /// The variables for agents, when these are named.
    pub environment: &'a dyn Fn(&[String]) -> Environment,
    /// The value of a variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The signal by which somebody asked to end, if somebody did.
    pub signal: &'a (dyn Fn() -> Option<i32> + Sync),
    pub observer: &'a dyn Observer,
    /// How models are asked.
    pub post: Arc<dyn Post>,
}

/// Carries out a workflow that was found valid.
///
/// # Errors
/// When it cannot be begun, or nothing can be recorded any more. How a run ends is no error.
pub fn run(flow: &Workflow, order: Order, at: &Surroundings<'_>) -> Result<Ended, RunFault> {
    // A server may repeat the token it was sent: no record may.
    let tokens = Mutex::new(Vec::new());
    let variable = |name: &str| (at.variable)(name).inspect(|token| lock(&tokens).push(token.clone()));
    let means = Means { post: Arc::clone(&at.post), variable: &variable };
    let settings = Settings::read(flow, &means).map_err(RunFault::Unrunnable)?;
    order.check(there(at, &order)?)?;
    unset(&settings, at)?;
    let secrets = secrets(&settings, at);
    // What cannot be begun leaves nothing behind: it is refused before anything is made.
    let anew = if order.resume { None } else { Some(order.anew(&settings, &secrets)?) };
    let directory = at.runs.join(&order.run);
    let _owner = Owner::take(&order.run, &directory)?;
    // Once more: somebody may have carried it out until now.
    order.check(there(at, &order)?)?;
    let (loaded, journal) = Journal::read(at.store, &order.run)?;
    order.check_records(&journal, &format!("sha256:{}", settings.digest.hex()))?;
    let kept = Kept::new(directory.join("answers"));
    let wanted = anew.map_or_else(|| order.again((&journal, &kept), &secrets), Ok)?;
    let hidden = Hidden::new(&settings.hidden, secrets.into_values().chain(std::mem::take(&mut *lock(&tokens))));
    hidden.learn(&json!(wanted));
    let root = flow.root.canonicalize().unwrap_or_else(|_| flow.root.clone());
    let frame = Frame {
        run: order.run.clone(),
        workspace: root.display().to_string(),
        workflow: settings.name.clone(),
        digest: settings.digest,
    };
    let spent = journal.spent;
    let running = Running {
        run: &order.run,
        task: &wanted.task,
        ledger: Ledger::new(at.store, &loaded, frame, (kept, &hidden), at.observer),
        watch: Watch::new((settings.execution.total, spent), settings.execution.idle, at.signal),
        place: place(root, &directory, at, environment(&settings, at))?,
        places: parallel::Places::new(places(&settings)),
        shared: Mutex::new(Shared::new(wanted.start.clone())),
        used: Mutex::new(journal.used),
        tab: Tab::default(),
        fault: Mutex::new(None),
        memory: Mutex::new(Memory::default()),
        violations: AtomicU64::new(journal.violations),
        submanagers: AtomicU32::new(0),
        managing: parallel::Places::new(delegation::managing(&settings.engine)),
        events: Mutex::new(Vec::new()),
        end: Mutex::new(None),
        settings: &settings,
        hidden: &hidden,
        journal,
        directory,
    };
    running.begin(&json!(wanted), order.resume)?;
    running.drive()
}

/// Whether there is anything of the run that is ordered.
fn there(at: &Surroundings<'_>, order: &Order) -> Result<bool, RunFault> {
    Ok(is_run_id(&order.run) && at.store.load(&order.run)?.head.seq > 0)
}

/// What came of a run.
struct Came {
    end: End,
    output: Value,
    /// What the gates were asked about, or would be.
    described: Value,
    /// Turns of the manager.
    iterations: u32,
    /// What its loop might use, and used.
    spent: Value,
}

/// What sensitive variables are set to.
fn secrets(settings: &Settings, at: &Surroundings<'_>) -> BTreeMap<String, String> {
    let variables = &settings.variables;
    let of = |name: &String| (at.variable)(name).or_else(|| variables.default_of(name).map(str::to_owned));
    variables.secret.iter().filter_map(|name| Some((name.clone(), of(name)?))).collect()
}

/// Variables that a run needs and that are not set.
fn unset(settings: &Settings, at: &Surroundings<'_>) -> Result<(), RunFault> {
    let known = |name: &str| (at.variable)(name).is_some() || settings.variables.default_of(name).is_some();
    let unset = settings.variables.needed.iter().filter(|name| !known(name));
    let unset: Vec<String> = unset.map(|name| format!("the variable `{name}` is not set")).collect();
    if unset.is_empty() { Ok(()) } else { Err(RunFault::Unrunnable(unset)) }
}

/// The variables for agents: those that are set, else as the manifest has them.
fn environment(settings: &Settings, at: &Surroundings<'_>) -> Environment {
    let environment = (at.environment)(&settings.variables.names);
    environment.with_defaults(settings.variables.defaults.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

fn places(settings: &Settings) -> usize {
    match &settings.engine {
        Engine::Graph(_) => settings.execution.parallel,
        Engine::Delegation(delegation) => delegation.budget.max_parallel_workers,
    }
}

/// The directories that agents may write, made if they are missing.
fn place(
    root: PathBuf,
    directory: &Path,
    at: &Surroundings<'_>,
    environment: Environment,
) -> Result<worker::Place, RunFault> {
    let made = |name: &str| {
        let path = directory.join(name);
        private::create_dir(&path).map_err(|fault| kept::disk(&path, &fault))?;
        Ok::<_, RunFault>(path.canonicalize().unwrap_or(path))
    };
    Ok(worker::Place {
        root,
        output: made("output")?,
        workspace: made("workspace")?,
        records: vec![at.runs.clone(), at.records.clone()],
        environment,
    })
}

impl Running<'_> {
    /// Opens the record: a new run, or one that is taken up again with all that came of it so far.
    fn begin(&self, wanted: &Value, resume: bool) -> Result<(), RunFault> {
        if !resume {
            let kept = self.ledger.kept.put(wanted)?;
            let engine = &self.settings.engine;
            let data = json!({
                "kept": kept.hex(), "task": self.task, "engine": engine.name(), "start": wanted.get("start"),
                "budgets": together(self.budgets(), delegation::budgets(engine)),
            });
            return self.ledger.commit(vec![Entry::new("run.started", &self.settings.name, data)]);
        }
        for landed in &self.journal.answers {
            let lost = || RunFault::Unreadable { id: self.run.to_owned(), why: "an answer is not kept".to_owned() };
            let value = self.ledger.kept.get(&landed.digest).ok_or_else(lost)?;
            self.hidden.learn(&value);
            let answer: answer::Answer = serde_json::from_value(value).map_err(|_| lost())?;
            let (letters, _) = self.post(&landed.agent, &answer);
            lock(&self.shared).land(&landed.agent, landed.state.as_deref(), &answer, letters);
        }
        let data = json!({
            "spent_ms": u64::try_from(self.journal.spent.as_millis()).unwrap_or(u64::MAX),
            "budgets": self.budgets(), "budget": self.journal.left,
        });
        self.ledger.commit(vec![Entry::new("run.resumed", &self.settings.name, data)])
    }

    /// Drives the run to its end, and writes the end down.
    fn drive(&self) -> Result<Ended, RunFault> {
        let driven = match &self.settings.engine {
            Engine::Graph(nodes) => graph::run(self, nodes).and_then(|outcome| {
                let (end, evaluation) = self.by_score(outcome.end, &outcome.output)?;
                let described = self.described(&outcome.output, &evaluation);
                Ok(Came { end, output: outcome.output, described, iterations: 0, spent: json!({}) })
            }),
            Engine::Delegation(settings) => {
                let (spent, outcome) = delegation::run(self, settings);
                outcome.map(|outcome| {
                    let delegation::Outcome { end, output, described, iterations, .. } = outcome;
                    Came { end, output, described, iterations, spent }
                })
            }
        };
        if let Some(fault) = lock(&self.fault).take() {
            return Err(fault);
        }
        let came = match driven {
            Ok(came) => came,
            Err(Halt::Over) => self.cut_short(),
            Err(Halt::Fault(fault)) => return Err(*fault),
        };
        self.end(came)
    }

    /// What came of a run that was ended while it was scored.
    fn cut_short(&self) -> Came {
        let scored = self.settings.tiers.evaluation.is_some();
        let described = self.described(&Value::Null, &json!({"enabled": scored}));
        Came { end: self.over(), output: Value::Null, described, iterations: 0, spent: json!({}) }
    }

    /// What the gates would be asked about a graph's run.
    fn described(&self, output: &Value, evaluation: &Value) -> Value {
        json!({
            "task": self.task, "output_dir": self.place.output, "workspace_dir": self.place.workspace,
            "final_result": output, "evaluation": evaluation,
        })
    }

    fn end(&self, came: Came) -> Result<Ended, RunFault> {
        let Came { end, output, mut described, iterations, spent } = came;
        if let Some(described) = described.as_object_mut() {
            described.insert("ended".to_owned(), json!(end));
        }
        self.describe(&described).map_err(unhalted)?;
        let used = *lock(&self.used);
        let mut ended = Ended {
            run_id: self.run.to_owned(),
            status: end.status,
            reason: self.hidden.text(&end.reason),
            iterations,
            agent_runs: used.agent_runs,
            usage: json!(used.usage),
            budgets: together(self.budgets(), spent),
            gate_events: std::mem::take(&mut *lock(&self.events)),
            output,
            directory: self.directory.clone(),
        };
        self.hidden.clean(&mut ended.output);
        for event in &mut ended.gate_events {
            self.hidden.clean(event);
        }
        let written = ended.to_json();
        self.put("result.json", &written).map_err(unhalted)?;
        self.ledger.commit(vec![Entry::new("run.ended", &self.settings.name, written)])?;
        Ok(ended)
    }
}

/// Budgets of the run and of its loop.
pub(crate) fn together(mut budgets: Value, more: Value) -> Value {
    if let (Some(budgets), Value::Object(more)) = (budgets.as_object_mut(), more) {
        budgets.extend(more);
    }
    budgets
}

/// Files are written without a halt of another kind.
fn unhalted(halt: Halt) -> RunFault {
    match halt {
        Halt::Fault(fault) => *fault,
        Halt::Over => RunFault::Moved,
    }
}

impl Ended {
    /// Whether all that was wanted is there.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.status == Status::Complete
    }

    /// Whether somebody ended it by a signal.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.status == Status::Aborted
    }
}
