//! An agent that is a model: its prompt and its input in, one object out.

use std::fmt;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::worker::{self, Failure, FailureKind, Reply, Request, Unanswered, Worker};
use crate::ask::{self, Cause, Question, Usage};
use crate::model::{Endpoint, Meter, Model, Post};

/// Between two looks at whether the answer is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// What a model that manages is told beside its own prompt.
const MANAGER: &str = "\
You manage a run. Answer with one decision: {\"decision\": \"PLAN\", \"subtasks\": [{\"id\", \"description\", \"required_outputs\", \
\"success_criteria\"}]} to make or change the plan; {\"decision\": \"DELEGATE\", \"delegations\": [{\"worker_id\", \"subtask_id\", \
\"instructions\"}]} to have `workers` work; {\"decision\": \"COMPLETE\", \"final_result\": {}} when all is done; {\"decision\": \
\"FAIL\", \"reason\"} when it cannot be. While `plan_locked` is set only DELEGATE is taken; `refused` and `rejections` say what \
was wrong before.";

/// What agents that are models need: a way out, and their tokens.
#[derive(Clone)]
pub(crate) struct Means<'a> {
    pub(crate) post: Arc<dyn Post>,
    /// The value of an environment variable.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Means<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Means").field("post", &self.post).finish_non_exhaustive()
    }
}

/// A model, as an agent's file names it.
#[derive(Debug, Clone)]
pub(super) struct ModelAgent {
    model: Model,
    /// Its own prompt.
    system: String,
    /// What its answers must fit.
    schema: Option<Value>,
}

impl ModelAgent {
    /// The model that an agent's file names under `model`.
    pub(super) fn of(
        model: &Value,
        (system, schema): (String, Option<Value>),
        means: &Means<'_>,
    ) -> Result<Self, String> {
        let endpoint = Endpoint::read(model, means.variable).map_err(|fault| fault.to_string())?;
        Ok(Self { model: Model::new(endpoint, Arc::clone(&means.post)), system, schema })
    }

    /// What it is told in one role.
    fn told(&self, request: &Request<'_>) -> (String, Option<Value>) {
        let more = match (request.question, request.input.get("role").and_then(Value::as_str)) {
            (Some(question), _) => question.instructions,
            (None, Some("manager")) => MANAGER,
            (None, _) => "",
        };
        let schema = request.question.map_or_else(|| self.schema.clone(), |question| question.schema.cloned());
        (format!("{}\n\n{more}", self.system.trim()).trim().to_owned(), schema)
    }
}

impl Worker for ModelAgent {
    fn ask(&self, request: &Request<'_>) -> Result<Reply, Unanswered> {
        let (instructions, schema) = self.told(request);
        let (model, input) = (self.model.clone(), request.input.clone());
        let until = Instant::now() + request.timeout;
        let meter = Arc::new(Meter::default());
        let counts = Arc::clone(&meter);
        let answer = patiently(request.stop, move || {
            let question =
                Question { role: "worker", instructions: &instructions, input: &input, schema: schema.as_ref() };
            model.metered(&question, until, &counts)
        });
        // What is left behind may use more, which nobody hears of.
        let answer = answer.map_err(|unanswered| unanswered.having_used(counted(meter.read())))?;
        let answer = answer.map_err(|unanswered| Unanswered::Failed(failure(&unanswered)))?;
        let usage = counted(answer.usage);
        let Value::Object(value) = answer.value else {
            let failure = Failure::new(FailureKind::Validation, "its answer is no JSON object");
            return Err(Unanswered::Failed(Failure { usage, ..failure }));
        };
        Ok(Reply { value, notes: Map::new(), usage: Some(usage) })
    }
}

/// Asks on a thread of its own, which is left behind when the answer is not wanted any more: it ends by itself in time.
fn patiently<T: Send + 'static>(
    stop: &dyn Fn() -> bool,
    ask: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unanswered> {
    let (tell, told) = mpsc::sync_channel(1);
    let spawned = thread::Builder::new().name("model".to_owned()).spawn(move || drop(tell.send(ask())));
    let broken = |why: String| Unanswered::Failed(Failure::new(FailureKind::Failed, why));
    spawned.map_err(|fault| broken(format!("no thread could be started: {fault}")))?;
    loop {
        match told.recv_timeout(LOOK) {
            Ok(answer) => return Ok(answer),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(broken("asking the model failed".to_owned())),
            Err(mpsc::RecvTimeoutError::Timeout) if stop() => {
                return Err(Unanswered::Stopped(worker::Usage::default()));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

fn failure(unanswered: &ask::Unanswered) -> Failure {
    let kind = match unanswered.cause {
        Cause::Late => FailureKind::Timeout,
        Cause::Busy => FailureKind::RateLimit,
        Cause::Denied => FailureKind::Auth,
        Cause::Unfit => FailureKind::Validation,
        Cause::Failed => FailureKind::Failed,
    };
    let failure = Failure::new(kind, unanswered.why.clone());
    Failure { usage: counted(unanswered.usage), ..failure }
}

/// What was used, as answers tell it.
fn counted(usage: Usage) -> worker::Usage {
    let cost = jackline_core::session::shown_usd(usage.cost_nano_usd);
    let ask::Usage { requests, input_tokens, output_tokens, .. } = usage;
    worker::Usage { requests, input_tokens, output_tokens, tool_calls: 0, cost_usd: cost }
}
