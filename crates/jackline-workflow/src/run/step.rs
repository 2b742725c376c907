//! One step: an agent is asked, as often as it may be tried, and what comes of it is on record before it counts.
//!
//! A step that is on record already is not taken again: that is how an interrupted run goes on.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::answer::{Answer, Usage};
use super::command;
use super::fault::{Halt, RunFault};
use super::ledger::Entry;
use super::mail::{Letter, Rejected};
use super::running::{Earlier, Running, lock};
use super::settings::{AgentSettings, Retry};
use super::tab::Tab;
use super::worker::{Failure, FailureKind, Reply, Request, Unanswered};

/// What is asked of whom.
pub(super) struct Ask<'a> {
    /// Names the step; once in a run.
    pub(super) step: String,
    /// Who is asked, as the workflow calls it: a node, or a worker.
    pub(super) name: &'a str,
    /// The agent that answers for it.
    pub(super) agent: &'a str,
    /// The member of the state that the answer becomes.
    pub(super) state: Option<&'a str>,
    pub(super) role: &'static str,
    /// What it is given beside what everybody is given.
    pub(super) given: Map<String, Value>,
    pub(super) timeout: Duration,
    pub(super) retry: &'a Retry,
    /// Whether nobody wants the answer any more.
    pub(super) unwanted: &'a (dyn Fn() -> bool + Sync),
    /// Who pays for it.
    pub(super) tab: &'a Tab,
}

/// What came of a step.
#[derive(Debug)]
pub(super) enum Came {
    Answered(Answer),
    Failed(Failure),
    /// Nobody wanted the answer any more.
    Unwanted,
}

impl<'a> Ask<'a> {
    /// The same question once more, as another step, with something added to what is given.
    pub(super) fn again(&self, step: String, (name, value): (&str, Value)) -> Ask<'a> {
        let mut given = self.given.clone();
        given.insert(name.to_owned(), value);
        Ask { step, given, ..*self }
    }
}

impl Running<'_> {
    /// Asks an agent, again if it fails and may be tried again.
    pub(super) fn ask(&self, ask: &Ask<'_>) -> Result<Came, Halt> {
        for attempt in 1_u32.. {
            let step = format!("{}#{attempt}", ask.step);
            let known = self.known(&step)?;
            ask.tab.charge(&self.used_before(&step, known.is_some()));
            if let (None, Some(what)) = (&known, ask.tab.exhausted()) {
                return self.unpaid(ask, &step, what);
            }
            let (came, live) = match known {
                Some(Earlier::Finished(value)) => (Came::Answered(self.read(&step, value)?), false),
                Some(Earlier::Failed(failure)) => (Came::Failed(failure), false),
                Some(Earlier::Skipped) | None => {
                    (self.attempt(ask, attempt, &step).map_err(|halt| self.halted(halt))?, true)
                }
            };
            if live {
                self.pay(ask, &came);
            }
            match came {
                Came::Failed(ref failure) if ask.retry.again(attempt, failure.kind) => {
                    if live {
                        self.watch.pause(ask.retry.delay(attempt), ask.unwanted);
                        self.go_on()?;
                    }
                }
                Came::Failed(failure) => {
                    lock(&self.shared).failed(ask.name, &failure.reason);
                    return Ok(Came::Failed(failure));
                }
                other => return Ok(other),
            }
        }
        Ok(Came::Unwanted)
    }

    /// What a try used that is on record: the run paid for it when the records were read, and whoever asks pays now. One that
    /// is asked anew asks again whoever looks at its answer, and these pay for themselves.
    fn used_before(&self, step: &str, known: bool) -> Usage {
        let mut used = self.journal.used_by(step);
        if known {
            used.add(&self.journal.used_below(&format!("{step}/")));
        }
        used
    }

    /// Whoever asked pays for what a try used, and the run does.
    fn pay(&self, ask: &Ask<'_>, came: &Came) {
        let usage = match came {
            Came::Answered(answer) => answer.usage,
            Came::Failed(failure) => failure.usage,
            // What was used by one that was stopped is paid already.
            Came::Unwanted => return,
        };
        ask.tab.charge(&usage);
        self.charge(&usage);
    }

    /// Nobody pays for another try.
    fn unpaid(&self, ask: &Ask<'_>, step: &str, what: &str) -> Result<Came, Halt> {
        let reason = format!("the loop it works for has used up its `{what}`");
        let data = json!({"reason": reason});
        self.note(Entry::new("agent.gave_up", ask.name, data).of_step(step))?;
        lock(&self.shared).failed(ask.name, &reason);
        Ok(Came::Failed(Failure::new(FailureKind::Auth, reason)))
    }

    /// An answer as it was kept.
    pub(super) fn read(&self, step: &str, value: Value) -> Result<Answer, Halt> {
        let why = |why: serde_json::Error| RunFault::Unreadable {
            id: self.run.to_owned(),
            why: format!("what the step `{step}` came to cannot be read: {why}"),
        };
        Ok(serde_json::from_value(value).map_err(why)?)
    }

    fn attempt(&self, ask: &Ask<'_>, attempt: u32, step: &str) -> Result<Came, Halt> {
        let _taken = self.places.take();
        if (ask.unwanted)() {
            return Ok(Came::Unwanted);
        }
        self.go_on()?;
        self.reserve()?;
        let came = self.begun(ask, attempt, step);
        if !matches!(came, Ok(Came::Answered(_) | Came::Failed(_))) {
            self.release();
        }
        came
    }

    fn begun(&self, ask: &Ask<'_>, attempt: u32, step: &str) -> Result<Came, Halt> {
        let agent = match self.settings.agents.get(ask.agent) {
            Some(agent) => agent,
            None => {
                return self.failed(ask, (attempt, step), Failure::new(FailureKind::Auth, "there is no such agent"));
            }
        };
        let input = self.input(ask, attempt);
        let data = json!({"attempt": attempt, "role": ask.role, "input": input});
        self.record(Entry::new("agent.started", ask.name, data).of_step(step))?;
        let answered = match &agent.worker {
            Err(why) => Err(Unanswered::Failed(Failure::new(FailureKind::Auth, why.clone()))),
            Ok(worker) => worker.ask(&Request {
                input: &input,
                timeout: agent.timeout.map_or(ask.timeout, |own| own.min(ask.timeout)),
                stop: &|| (ask.unwanted)() || self.watch.cause().is_some(),
                place: &self.place,
                redactor: &self.hidden.redactor(),
                question: None,
            }),
        };
        self.watch.stir();
        match answered {
            Ok(reply) => self.answered(ask, agent, (attempt, step), reply),
            Err(Unanswered::Failed(failure)) => self.failed(ask, (attempt, step), failure),
            Err(Unanswered::Stopped(usage)) => {
                ask.tab.charge(&usage);
                self.charge(&usage);
                let data = json!({"attempt": attempt, "usage": usage});
                self.record(Entry::new("agent.stopped", ask.name, data).of_step(step))?;
                self.go_on().map(|()| Came::Unwanted)
            }
        }
    }

    /// The one object that an agent is given.
    fn input(&self, ask: &Ask<'_>, attempt: u32) -> Value {
        let shared = lock(&self.shared);
        let mut input = json!({
            "run_id": self.run,
            "agent": ask.name,
            "role": ask.role,
            "task": self.task,
            "state": shared.view(&self.settings.sharing, ask.name, self.about()),
            "messages": shared.letters(ask.name),
            "attempt": attempt,
            // Of a manager; everybody finds the same members.
            "plan": null,
            "plan_locked": null,
            "rejections": [],
            "output_dir": self.place.output,
            "workspace_dir": self.place.workspace,
        });
        let letters = input.get("messages").cloned().filter(|_| self.settings.channels.any());
        if let Some(input) = input.as_object_mut() {
            input.extend(ask.given.clone());
        }
        if let (Some(letters), Some(Value::Object(inputs))) = (letters, input.get_mut("inputs")) {
            // A node of this name waits there already, and messages are beside it, too.
            inputs.entry("messages").or_insert(letters);
        }
        input
    }

    fn failed(&self, ask: &Ask<'_>, (attempt, step): (u32, &str), failure: Failure) -> Result<Came, Halt> {
        // Cut only once nothing sensitive is in it: half a secret would not be found.
        let reason = command::reason(&failure.reason, self.hidden);
        let failure = Failure { reason, ..failure };
        let again = ask.retry.again(attempt, failure.kind);
        let delay = if again { ask.retry.delay(attempt).as_millis() } else { 0 };
        let data = json!({
            "attempt": attempt, "kind": failure.kind.word(), "reason": failure.reason, "again": again, "usage": failure.usage,
            "delay_ms": u64::try_from(delay).unwrap_or(u64::MAX),
        });
        self.record(Entry::new("agent.failed", ask.name, data).of_step(step))?;
        Ok(Came::Failed(failure))
    }

    fn answered(
        &self,
        ask: &Ask<'_>,
        agent: &AgentSettings,
        (attempt, step): (u32, &str),
        reply: Reply,
    ) -> Result<Came, Halt> {
        // Learned before anything is said about it, in whatever words.
        self.hidden.learn(&Value::Object(reply.value.clone()));
        let (schema, notes) = (agent.schema.as_ref(), command::kept(reply.notes.clone(), self.hidden));
        let answer = Answer::of(reply, &agent.fields).and_then(|answer| answer.check(schema).map(|()| answer));
        let answer = match answer {
            Ok(answer) => answer.given(&self.settings.sharing, (ask.agent, ask.name)),
            Err(failure) => return self.failed(ask, (attempt, step), failure),
        };
        if let Some(failure) = self.refused(ask, &answer, step)? {
            return self.failed(ask, (attempt, step), Failure { usage: answer.usage, ..failure });
        }
        if let Some(failure) = self.judged(ask, agent, (step, &answer))? {
            return self.failed(ask, (attempt, step), Failure { usage: answer.usage, ..failure });
        }
        let mut data = json!({"attempt": attempt, "role": ask.role, "usage": answer.usage});
        if let Some(data) = data.as_object_mut() {
            data.extend(notes);
        }
        self.land((ask.name, ask.state), step, &answer, data)?;
        Ok(Came::Answered(answer))
    }

    /// Why an answer is refused as a whole: it writes what no agent may write (R13), or too much.
    fn refused(&self, ask: &Ask<'_>, answer: &Answer, step: &str) -> Result<Option<Failure>, Halt> {
        let refused = answer.refused(&|name| self.settings.names().any(|agent| agent == name));
        if !refused.is_empty() {
            let data = json!({"keys": refused});
            self.violated(1);
            self.record(Entry::new("state.refused", ask.name, data).of_step(step))?;
            let keys: Vec<String> = refused.iter().map(|key| format!("`{key}`")).collect();
            let why = format!("it writes {}, which no agent may write", keys.join(", "));
            return Ok(Some(Failure::new(FailureKind::Refused, why)));
        }
        Ok(self.too_large(answer))
    }

    /// Why an answer cannot become part of the state: it would be too large with it.
    pub(super) fn too_large(&self, answer: &Answer) -> Option<Failure> {
        let bytes = lock(&self.shared).bytes() + json!([answer.said, answer.updates]).to_string().len() as u64;
        let max = self.settings.state_bytes_max;
        let why = || format!("with its answer the state would have more than {max} bytes");
        (bytes > max).then(|| Failure::new(FailureKind::Refused, why()))
    }

    /// An answer is recorded and becomes part of the state, in one.
    pub(super) fn land(
        &self,
        (name, state): (&str, Option<&str>),
        step: &str,
        answer: &Answer,
        mut data: Value,
    ) -> Result<(), Halt> {
        let (letters, rejected) = self.post(name, answer);
        self.violated(rejected.len());
        let kept = self.ledger.kept.put(&json!(answer))?;
        if let Some(data) = data.as_object_mut() {
            data.insert("kept".to_owned(), json!(kept.hex()));
            data.insert("state".to_owned(), json!(state));
            data.insert("answer".to_owned(), json!(answer.said));
            data.insert("state_updates".to_owned(), json!(answer.updates));
        }
        let letters_told = letters.iter().map(|letter| delivered(name, letter).of_step(step));
        let rejected_told = rejected.iter().map(|why| not_delivered(name, why).of_step(step));
        let mut entries: Vec<Entry> = letters_told.chain(rejected_told).collect();
        entries.push(Entry::new("agent.finished", name, data).of_step(step));
        // Held while it is recorded: the state changes in the order of the records.
        let mut shared = lock(&self.shared);
        self.ledger.commit(entries)?;
        shared.land(name, state, answer, letters);
        Ok(())
    }
}

fn delivered(name: &str, letter: &Letter) -> Entry {
    let data = json!({"channel": letter.channel, "to": letter.to, "content": letter.content});
    Entry::new("message.delivered", name, data)
}

fn not_delivered(name: &str, rejected: &Rejected) -> Entry {
    Entry::new("message.rejected", name, json!({"channel": rejected.channel, "reason": rejected.reason}))
}
