//! What differs between the APIs that models are reached by. A new one is a file beside `anthropic` and a row here.

use std::fmt::Debug;

use serde_json::Value;

use super::anthropic::Anthropic;
use super::chat::Chat;
use super::gemini::Gemini;
use super::http::{Request, Response};
use super::responses::Responses;
use super::script::{Lane, SUBAGENT, Said};

/// What the model was shown of one call's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The call's name in the script.
    pub name: String,
    /// All text of the result.
    pub text: String,
    /// Whether it was marked as an error.
    pub failed: bool,
}

/// One API, both ways; knows neither the server nor the order of turns.
pub(super) trait Dialect: Debug + Sync {
    /// Whether this is a request to the model in this API.
    fn speaks(&self, request: &Request) -> bool;
    /// Whose request it is.
    fn lane(&self, request: &Request, body: &Value) -> Lane;
    /// Whether the host asks for itself, such as for a title: then no turn is used up.
    fn is_aside(&self, request: &Request, body: &Value) -> bool;
    /// A turn as this request wants it; `id` tells answers apart.
    fn answer(&self, request: &Request, body: &Value, said: &Said, id: &str) -> Response;
    /// The results of calls in a request.
    fn outcomes(&self, body: &Value) -> Vec<Outcome>;
    /// Every text in a request: system, messages, results.
    fn texts(&self, body: &Value) -> Vec<String>;
}

const ALL: &[&dyn Dialect] = &[&Anthropic, &Responses, &Chat, &Gemini];

/// The lane of a conversation in which people's texts are these: hosts hand a sub-agent's task on word by word.
pub(super) fn marked(mut asked: impl Iterator<Item = String>) -> Lane {
    if asked.any(|text| text.contains(SUBAGENT)) { Lane::Subagent } else { Lane::Main }
}

/// The API of a request; none if it is not for a model.
pub(super) fn of(request: &Request) -> Option<&'static dyn Dialect> {
    ALL.iter().copied().find(|dialect| dialect.speaks(request))
}
