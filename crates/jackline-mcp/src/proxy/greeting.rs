//! A server that has forgotten the session, because it was started anew, is greeted as the client greeted it. The client
//! speaks to us over pipes, and cannot know.

use std::sync::{Arc, PoisonError};

use ureq::Agent;

use super::remote::{
    Agreed, Heard, INITIALIZED, Posted, Remote, SESSION, Way, answers, body, header, is_stream, reader, version,
};
use super::sse::{Said, Stream};
use crate::message::Id;
use crate::reply;

impl Remote {
    /// Greets the server anew, unless it knows the session after all; whether there is another one now.
    pub(super) fn greet_anew(self: &Arc<Self>, agent: &Agent, forgotten: &str) -> bool {
        // INVARIANT: held until it is greeted. One of those who were refused does it, and the others go on with that.
        let greeting = self.greeting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.agreed().0.as_deref() != Some(forgotten) {
            return true;
        }
        let Some(greeting) = greeting.as_ref().filter(|_| self.has_forgotten(agent)) else { return false };
        let Some(agreed) = self.greet(agent, greeting) else { return false };
        self.agree(agreed);
        let text = reply::notice(INITIALIZED).into_bytes();
        let initialized = Posted { text, method: Some(INITIALIZED.to_owned()), ..Posted::default() };
        drop(self.post_as(Way::ahead(agent), &initialized, &self.agreed()));
        self.tell(Heard::Anew);
        self.begin_listening();
        true
    }

    /// Whether it is the session that the server does not know, and not what was asked in it.
    fn has_forgotten(&self, agent: &Agent) -> bool {
        let id = Id::own("jackline:ping");
        let text = reply::request(&id, "ping", &serde_json::json!({})).into_bytes();
        let ping = Posted { text, id: Some(id), method: Some("ping".to_owned()), ..Posted::default() };
        self.post_as(Way::ahead(agent), &ping, &self.agreed()).is_ok_and(|response| response.status().as_u16() == 404)
    }

    fn greet(&self, agent: &Agent, greeting: &Posted) -> Option<Agreed> {
        let response = self.post_as(Way::ahead(agent), greeting, &(None, None)).ok()?;
        let session = header(&response, SESSION);
        let answer = if is_stream(&response) {
            let mut stream = Stream::new(reader(response), None);
            loop {
                match stream.next().ok()?? {
                    Said::Message(message) if answers(&message) == greeting.id => break message,
                    Said::Message(_) | Said::TooLong { .. } => {}
                }
            }
        } else {
            body(response).ok()?
        };
        Some((session, Some(version(&answer)?)))
    }
}
