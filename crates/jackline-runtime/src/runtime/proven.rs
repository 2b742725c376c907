//! Outcomes whose success stands in the host's transcript alone: looked up before anything is decided or kept.

use std::path::Path;

use jackline_core::event::Body;
use serde_json::{Value, json};

use crate::adapters::Message;
use crate::probes::exit;

/// The message with what its host's transcript says of the call. A call that is not found there has not succeeded.
pub(super) fn settled(mut message: Message) -> Message {
    if !message.unproven {
        return message;
    }
    let transcript = message.event.transcript.clone();
    let Body::CallFinished(call, outcome) = &mut message.event.body else { return message };
    let code = call.id.as_deref().zip(transcript).and_then(|(call, file)| exit::code(Path::new(&file), call));
    outcome.ok = code == Some(0);
    if let Value::Object(raw) = &mut message.raw {
        raw.insert("ok".to_owned(), json!(code == Some(0)));
    }
    message
}
