//! Workers of one decision: chosen, started side by side, some of them managers of their own; what came of them.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::{Budget, Loop, Outcome};
use crate::critique::Defect;
use crate::loop_control::{Control, Delegation, Progress, Status, Worked};
use crate::run::fault::Halt;
use crate::run::parallel;
use crate::run::running::lock;
use crate::run::settings::OnFailure;
use crate::run::step::{Ask, Came};
use crate::run::tab::Tab;

/// The part of what is left for a manager below, when its own manager does not say.
const FRACTION: f64 = 0.5;

/// Work that is handed out now.
struct Job<'d> {
    delegation: &'d Delegation,
    /// Who does it, or why nobody does.
    agent: Result<String, String>,
    /// Begins the names of its steps.
    path: String,
    /// What it may use, if it delegates itself.
    budget: Option<Budget>,
}

/// What came of one job.
struct Report {
    progress: Progress,
    told: Value,
    /// Whether the run ends with it.
    fatal: bool,
    /// What critics scored it, or the work below it.
    scores: Vec<f64>,
    /// What a critic found in the answer that counts.
    defects: Vec<Defect>,
}

impl Loop<'_, '_> {
    /// Has the work of a decision done; what came of each part of it.
    pub(super) fn work(&mut self, control: &Control, delegations: &[Delegation]) -> Result<Vec<Worked>, Halt> {
        let left = usize::try_from(self.budget.workers_left()).unwrap_or(usize::MAX);
        let width = self.settings.budget.max_workers_per_iteration.max(1).min(left);
        let (now, later) = delegations.split_at(width.min(delegations.len()));
        // Counted before parts are split off: a part is of what is left.
        self.budget.work(now.len() as u64);
        let jobs: Vec<Job<'_>> = self.jobs(control, now);
        let idle = jobs.iter().filter(|job| job.agent.is_err()).count();
        self.budget.unwork(idle as u64);
        let tab = self.budget.tab();
        let manages = jobs.iter().any(|job| job.budget.is_some());
        let placed = manages && self.place.take().is_some();
        let carried_out = parallel::each(&jobs, self.settings.budget.max_parallel_workers, |_, job| {
            let (budget, report) = self.carry_out(control, job, &tab);
            (budget, report.map_err(|halt| self.running.halted(halt)))
        });
        if placed {
            self.place = Some(self.running.managing.take());
        }
        self.budget.charge(&tab.used());
        let (budgets, reports): (Vec<_>, Vec<_>) = carried_out.into_iter().unzip();
        // Also of those that were stopped: what nobody used is not used.
        budgets.iter().flatten().for_each(|given| self.budget.reclaim(given));
        let reports: Vec<Report> = reports.into_iter().collect::<Result<_, Halt>>()?;
        self.results.clear();
        self.rescore(&reports);
        let defects: Vec<Defect> = reports.iter().flat_map(|report| report.defects.clone()).collect();
        let mut progress = Vec::new();
        for (job, report) in jobs.iter().zip(reports) {
            self.results.push(report.told);
            let (subtask_id, started) = (job.delegation.subtask_id.clone(), job.agent.is_ok());
            progress.push(Worked { subtask_id, progress: report.progress, started });
            if report.fatal {
                let reason = format!("agent_failed: {}", job.delegation.worker_id);
                return Err(self.running.stop(Status::Failed, reason));
            }
        }
        if let Some(category) = self.running.too_many_defects(&defects, jobs.len() - idle) {
            let event = json!({"gate": "defect_category_cap", "triggered": true, "reason": category});
            self.running.tell(&self.manager, &self.step(control, "defects"), vec![event])?;
            return Err(self.running.stop(Status::Partial, "defect_category_cap"));
        }
        for delegation in later {
            self.results.push(told(delegation, "deferred", json!({"error": "no more workers may start in this turn"})));
            let subtask_id = delegation.subtask_id.clone();
            progress.push(Worked { subtask_id, progress: Progress::Pending, started: false });
        }
        Ok(progress)
    }

    /// What critics scored last. Scores stay until work is scored anew: a round in which nobody did any takes none away.
    fn rescore(&mut self, reports: &[Report]) {
        let scores: Vec<f64> = reports.iter().flat_map(|report| report.scores.iter().copied()).collect();
        if !scores.is_empty() {
            self.scores = scores;
        }
    }

    fn jobs<'d>(&mut self, control: &Control, delegations: &'d [Delegation]) -> Vec<Job<'d>> {
        let managers = delegations.iter().filter(|one| self.delegates(one)).count().max(1);
        let mut concurrent = 0;
        let jobs = delegations.iter().enumerate().map(|(at, delegation)| {
            let path = format!("{}{}.{at}/", self.path, control.iteration());
            let mut agent = self.agent_of(delegation);
            let mut budget = None;
            if agent.is_ok() && self.delegates(delegation) {
                concurrent += 1;
                match self.may_delegate(&path, concurrent) {
                    Ok(()) => {
                        let fraction = delegation.budget_fraction.unwrap_or(FRACTION / managers as f64);
                        budget = Some(self.budget.split(fraction));
                    }
                    Err(why) => agent = Err(why),
                }
            }
            Job { delegation, agent, path, budget }
        });
        jobs.collect()
    }

    /// Whether a delegation is to a manager.
    fn delegates(&self, delegation: &Delegation) -> bool {
        delegation.as_submanager || self.named(delegation) == self.settings.manager
    }

    fn named<'n>(&self, delegation: &'n Delegation) -> &'n str {
        delegation.agent.as_deref().unwrap_or(&delegation.worker_id)
    }

    /// The agent that does the work: the one that is named, or the one for all others.
    fn agent_of(&self, delegation: &Delegation) -> Result<String, String> {
        let agents = &self.running.settings.agents;
        let named = self.named(delegation);
        let stands_in =
            if delegation.as_submanager { Some(&self.settings.manager) } else { self.settings.worker.as_ref() };
        match agents.get(named).map(|agent| &agent.worker) {
            Some(Ok(_)) => Ok(named.to_owned()),
            Some(Err(why)) => Err(format!("the agent `{named}` {why}")),
            None => {
                let stands_in = stands_in.filter(|_| delegation.agent.is_none()).cloned();
                stands_in.ok_or_else(|| format!("there is no agent `{named}`"))
            }
        }
    }

    /// Whether another manager may begin below this one.
    fn may_delegate(&self, path: &str, concurrent: usize) -> Result<(), String> {
        let budget = &self.settings.budget;
        if self.depth >= budget.max_depth {
            return Err(format!("managers may not be more than {} deep", budget.max_depth));
        }
        if concurrent > budget.max_concurrent_submanagers {
            return Err(format!("no more than {} managers may work at once", budget.max_concurrent_submanagers));
        }
        let begun = self.running.submanagers.fetch_add(1, Ordering::Relaxed);
        // One that is on record had its place already.
        if begun >= budget.max_total_submanagers_per_run && !self.running.journal.knows(path) {
            return Err(format!(
                "a run may have no more than {} managers below its manager",
                budget.max_total_submanagers_per_run
            ));
        }
        Ok(())
    }

    /// Does a part of the work; what is left of its own budget, if it has one, and what came of it.
    fn carry_out(&self, control: &Control, job: &Job<'_>, tab: &Tab) -> (Option<Budget>, Result<Report, Halt>) {
        match (&job.agent, &job.budget) {
            (Err(why), _) => (None, Ok(failed(job.delegation, why))),
            (Ok(agent), Some(budget)) => {
                let (budget, report) = self.below(agent, job, budget.clone());
                (Some(budget), report)
            }
            (Ok(agent), None) => (None, self.worker(control, (agent, tab), job)),
        }
    }

    /// A manager below this one, with a part of its budget. Its agents are charged to that part, which is given back without
    /// what they used.
    fn below(&self, agent: &str, job: &Job<'_>, budget: Budget) -> (Budget, Result<Report, Halt>) {
        let delegation = job.delegation;
        let task = (agent.to_owned(), delegation.instructions.clone());
        let mut below = Loop::new(self.running, self.settings, task, budget);
        below.path.clone_from(&job.path);
        below.depth = self.depth + 1;
        below.place = Some(self.running.managing.take());
        let (budget, outcome) = below.run();
        (budget, outcome.map(|outcome| reported(delegation, outcome)))
    }

    fn worker(&self, control: &Control, (agent, tab): (&str, &Tab), job: &Job<'_>) -> Result<Report, Halt> {
        static WANTED: AtomicBool = AtomicBool::new(false);
        let (settings, delegation) = (self.running.settings, job.delegation);
        let node = self.settings.node(&delegation.worker_id).or_else(|| self.settings.node(agent));
        let subtask = control.plan().subtasks.iter().find(|one| Some(&one.id) == delegation.subtask_id.as_ref());
        let given = json!({
            "instructions": delegation.instructions, "subtask": subtask, "iteration": control.iteration(),
            "inputs": {}, "depth": self.depth, "known_defects": lock(&self.running.memory).known(),
        });
        let ask = Ask {
            step: format!("{}work", job.path),
            name: agent,
            agent,
            state: Some(agent),
            role: "worker",
            given: given.as_object().cloned().unwrap_or_default(),
            timeout: node.map_or(settings.execution.per_agent, |node| node.timeout),
            retry: node.map_or(&settings.execution.retry, |node| &node.retry),
            unwanted: &|| WANTED.load(Ordering::Relaxed),
            tab,
        };
        let (came, score, defects) = match self.running.ask(&ask)? {
            Came::Answered(answer) => {
                let improved = self.running.improved(&ask, answer)?;
                let came = self.running.scored(&ask, improved.answer, &self.budget.used())?;
                (came, improved.score, improved.defects)
            }
            other => (other, None, Vec::new()),
        };
        match came {
            Came::Answered(answer) => Ok(Report {
                scores: score.into_iter().collect(),
                defects,
                progress: Progress::Completed,
                told: told(delegation, "completed", json!({"output": self.seen(agent, &answer.said)})),
                fatal: false,
            }),
            Came::Failed(failure) => {
                let fatal = node.is_some_and(|node| node.own_on_failure && node.on_failure == OnFailure::Stop);
                Ok(Report { fatal, ..failed(delegation, &failure.reason) })
            }
            Came::Unwanted => Err(Halt::Over),
        }
    }

    /// What the manager sees of an answer (R16): a reply to its delegation is no state, so that the strategy does not count.
    fn seen(&self, agent: &str, said: &Map<String, Value>) -> Value {
        let sharing = &self.running.settings.sharing;
        let shown = said.iter().filter(|(field, _)| agent == self.manager || !sharing.keeps_back(agent, field));
        shown.map(|(field, value)| (field.clone(), value.clone())).collect::<Map<_, _>>().into()
    }
}

/// What a manager below came to. Its own rounds were held to the cap of defects.
fn reported(delegation: &Delegation, outcome: Outcome) -> Report {
    let complete = outcome.end.status == Status::Complete;
    let said = json!({"status": outcome.end.status, "reason": outcome.end.reason, "output": outcome.output});
    Report {
        progress: if complete { Progress::Completed } else { Progress::Failed },
        told: told(delegation, if complete { "completed" } else { "failed" }, said),
        fatal: false,
        scores: outcome.scores,
        defects: Vec::new(),
    }
}

fn failed(delegation: &Delegation, why: &str) -> Report {
    let told = told(delegation, "failed", json!({"error": why}));
    Report { progress: Progress::Failed, told, fatal: false, scores: Vec::new(), defects: Vec::new() }
}

fn told(delegation: &Delegation, status: &str, mut more: Value) -> Value {
    if let Some(more) = more.as_object_mut() {
        more.insert("worker_id".to_owned(), json!(delegation.worker_id));
        more.insert("subtask_id".to_owned(), json!(delegation.subtask_id));
        let ended = more.insert("status".to_owned(), json!(status));
        more.extend(ended.map(|ended| ("ended".to_owned(), ended)));
    }
    more
}
