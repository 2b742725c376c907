//! Sends one request, and again what may pass: servers that are busy, broken for a moment or out of reach.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use jackline_core::json::{JsonFault, decode};
use serde_json::Value;

use super::wire::{Failed, RESPONSE_BYTES_MAX, Request, Response};
use super::{Meter, Model, Said};
use crate::ask::{Cause, Unanswered, Usage};
use crate::visible::visible;

/// Requests for one turn of a conversation: a server that is busy for longer stays busy.
pub const ATTEMPTS_MAX: u32 = 4;
/// Milliseconds before the second request; each further pause is twice as long.
const PAUSE_MS: u64 = 500;
/// Seconds that a server may ask for before the next request; a longer wait is for people to decide.
const RETRY_AFTER_S_MAX: u64 = 60;
/// Milliseconds of one request: models think for minutes, and none of them for longer than this.
const REQUEST_MS_MAX: u64 = 600_000;
/// Characters of a server's own words that are told.
const TOLD_CHARS_MAX: usize = 200;

/// What time it is, and how to let some pass.
pub trait Clock: Send + Sync + fmt::Debug {
    fn now(&self) -> Instant;
    fn pause(&self, pause: Duration);
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy)]
pub struct Real;

impl Clock for Real {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn pause(&self, pause: Duration) {
        thread::sleep(pause);
    }
}

/// What one request came to.
enum Came {
    Said(Said),
    /// It may pass. The server may have said when.
    Busy {
        why: String,
        after_s: Option<u64>,
        cause: Cause,
    },
    /// It stays as it is.
    Never(String, Cause),
    Late(String),
}

/// Sends a body until there is an answer, within the attempts and the time.
pub(super) fn send(model: &Model, body: &[u8], (until, meter): (Instant, &Meter)) -> Result<Said, Unanswered> {
    let headers = model.endpoint.headers();
    let mut pause = Duration::from_millis(PAUSE_MS);
    let mut attempt = 1;
    loop {
        let left = until.saturating_duration_since(model.clock.now());
        if left.is_zero() {
            return Err(Unanswered::late("there was no time left to ask the model"));
        }
        let timeout = left.min(Duration::from_millis(REQUEST_MS_MAX));
        let url = model.endpoint.url();
        let request = Request { url, headers: &headers, body, timeout, bytes_max: RESPONSE_BYTES_MAX };
        meter.count(Usage { requests: 1, ..Usage::default() });
        let (why, after_s, cause) = match came(model, model.post.post(&request), meter) {
            Came::Said(said) => return Ok(said),
            Came::Never(why, cause) => return Err(Unanswered::new(why).by(cause)),
            Came::Late(why) => return Err(Unanswered::late(why)),
            Came::Busy { why, after_s, cause } => (why, after_s, cause),
        };
        let wait = after_s.map_or(pause, Duration::from_secs);
        let left = until.saturating_duration_since(model.clock.now());
        if attempt == ATTEMPTS_MAX || wait > Duration::from_secs(RETRY_AFTER_S_MAX) {
            let times = if attempt == 1 { "once".to_owned() } else { format!("{attempt} times") };
            return Err(Unanswered::new(format!("{why} (asked {times})")).by(cause));
        }
        if wait >= left {
            return Err(Unanswered::late(format!("{why}, and there is no time to ask again")));
        }
        model.clock.pause(wait);
        pause *= 2;
        attempt += 1;
    }
}

fn came(model: &Model, outcome: Result<Response, Failed>, meter: &Meter) -> Came {
    match outcome {
        Ok(response) => answered(model, &response, meter),
        Err(Failed::TimedOut) => Came::Late("the model did not answer in time".to_owned()),
        Err(fault @ Failed::TooLong(_)) => {
            Came::Never(format!("the model's answer cannot be used: {fault}"), Cause::Unfit)
        }
        Err(Failed::Unreachable(why)) => {
            let why = told(&model.endpoint.without_secrets(&why));
            Came::Busy { why: format!("the model cannot be reached: {why}"), after_s: None, cause: Cause::Failed }
        }
    }
}

fn answered(model: &Model, response: &Response, meter: &Meter) -> Came {
    let (status, body) = (response.status, decode(&response.body));
    // Whatever its status is, and whether it can be used: what the server counted was used.
    body.iter().for_each(|body| meter.count(model.endpoint.used(body)));
    let refused = || refused(model, status, body.as_ref().ok());
    match status {
        200..=299 => read(model, &body).unwrap_or_else(|why| Came::Never(why, Cause::Unfit)),
        300..=399 => {
            let why = format!("the model's server answers {status} and names another address, which is not followed");
            Came::Never(why, Cause::Failed)
        }
        401 | 403 => Came::Never(refused(), Cause::Denied),
        408 | 409 | 425 | 429 | 500..=599 => Came::Busy {
            why: refused(),
            after_s: response.retry_after_s,
            cause: if status == 429 { Cause::Busy } else { Cause::Failed },
        },
        _ => Came::Never(refused(), Cause::Failed),
    }
}

fn read(model: &Model, body: &Result<Value, JsonFault>) -> Result<Came, String> {
    let answer = body.as_ref().map_err(|fault| format!("the model's answer is no JSON: {fault}"))?;
    let said = model.endpoint.said(answer);
    said.map(Came::Said).map_err(|why| format!("the model's answer is of no known form: {why}"))
}

/// What a server says with a status that is no answer.
fn refused(model: &Model, status: u16, body: Option<&Value>) -> String {
    let error = body.and_then(|body| body.get("error"));
    let message = error.and_then(|error| error.get("message").or(Some(error)));
    let said = message.and_then(Value::as_str).map(|said| told(&model.endpoint.without_secrets(said)));
    match said {
        Some(said) => format!("the model's server answers {status}: {said}"),
        None => format!("the model's server answers {status}"),
    }
}

/// A text of the server's on one line.
pub(super) fn told(text: &str) -> String {
    visible(&text.chars().take(TOLD_CHARS_MAX).collect::<String>())
}
