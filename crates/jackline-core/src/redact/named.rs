//! Names that whoever sends an event makes up: of agents, hosts, tools, calls and snapshots. They stand in records and in
//! what is remembered, so a secret leaves them before anything is decided: the same name stays the same name.

use super::{Redactor, Scan, marker};
use crate::event::{Body, Call, Event};

impl Redactor {
    /// The event without secrets in its names; nothing when there are none. Only what is a secret by its own shape counts:
    /// a tool may well be called `token:refresh`.
    #[must_use]
    pub fn event(&self, event: &Event) -> Option<Event> {
        if names(event).into_iter().flatten().all(|name| self.name(name).is_none()) {
            return None;
        }
        let plain = |name: &mut String| {
            if let Some(redacted) = self.name(name) {
                *name = redacted;
            }
        };
        let mut event = event.clone();
        event.agent.iter_mut().chain(&mut event.host).for_each(plain);
        match &mut event.body {
            Body::CallRequested(call) | Body::CallFinished(call, _) | Body::CallSettled(call) => {
                call.id.iter_mut().chain([&mut call.tool]).for_each(plain);
            }
            Body::Noted { name } | Body::Snapshot { name } | Body::Restore { name } => plain(name),
            _ => {}
        }
        Some(event)
    }

    /// A name without secrets; nothing when there are none.
    fn name(&self, name: &str) -> Option<String> {
        let mut scan = Scan { shapes_only: true, ..Scan::new(name, &self.names) };
        let mut plain = String::new();
        let mut kept = 0;
        while let Some(secret) = scan.next_secret() {
            plain.push_str(name.get(kept..secret.start)?);
            plain.push_str(&marker(name.get(secret.clone())?.as_bytes()));
            kept = secret.end;
        }
        plain.push_str(name.get(kept..).filter(|_| kept > 0)?);
        Some(plain)
    }
}

fn names(event: &Event) -> [Option<&str>; 5] {
    let named = match &event.body {
        Body::Noted { name } | Body::Snapshot { name } | Body::Restore { name } => Some(name.as_str()),
        _ => None,
    };
    let call = event.call();
    let id = call.and_then(|call: &Call| call.id.as_deref());
    [event.agent.as_deref(), event.host.as_deref(), id, call.map(|call| call.tool.as_str()), named]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;
    use serde_json::json;

    #[test]
    fn secrets_leave_the_names_of_an_event_and_nothing_else_does() {
        let secret = format!("ghp_{}", "aB3".repeat(12));
        let call = Call { id: Some(secret.clone()), ..Call::new(format!("mcp__x__{secret}"), json!({})) };
        let event = Event {
            agent: Some(secret.clone()),
            host: Some(secret.clone()),
            ..Event::new("s1", Timestamp(0), Body::CallRequested(call))
        };
        let redactor = Redactor::new([]);
        let plain = redactor.event(&event).expect("it has secrets");
        assert!(!format!("{plain:?}").contains(&secret), "{plain:?}");
        assert_eq!(redactor.event(&plain), None, "twice is once");
        let kept = Call { id: Some("toolu_01A".into()), ..Call::new("api_key:rotate", json!({ "token": secret })) };
        let agent = Some("password=x".to_owned());
        let event = Event { agent, ..Event::new("s1", Timestamp(0), Body::CallRequested(kept)) };
        assert_eq!(redactor.event(&event), None);
    }
}
