//! Directories that a client names as its roots. Who asks for them may see a relative path from there, so calls are judged
//! from there too, from the answer on. They are learned as they pass by, and never asked for.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jackline_core::event::DIRS_MAX;
use serde_json::Value;

use crate::message::Id;

/// The request that a server asks for them with.
pub(super) const ROOTS: &str = "roots/list";
/// Questions of the server's that the client has not answered; one that asks again and again asks the same.
const ASKED_MAX: usize = 16;
/// What the address of a directory begins with.
const FILE: &str = "file://";

#[derive(Debug, Default)]
struct State {
    /// The questions for them.
    asked: Vec<Id>,
    dirs: Vec<String>,
}

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Roots(Mutex<State>);

impl Roots {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server asks for them.
    pub(super) fn asked(&self, id: Id) {
        let mut state = self.state();
        if state.asked.len() >= ASKED_MAX {
            state.asked.remove(0);
        }
        state.asked.push(id);
    }

    /// The client answers something; they are known where it is this.
    pub(super) fn answered(&self, id: Option<&Id>, result: Option<&Value>) {
        let mut state = self.state();
        let Some(at) = state.asked.iter().position(|asked| Some(asked) == id) else { return };
        state.asked.remove(at);
        state.dirs = result.map(named).unwrap_or_default();
    }

    /// The client goes on with a request, now with what the server wanted to know; which may be these.
    pub(super) fn given(&self, responses: &Value) {
        let all = || responses.as_object().into_iter().flatten().map(|(_, said)| said);
        if all().any(|said| said.get("roots").is_some()) {
            self.state().dirs = bounded(all().flat_map(named));
        }
    }

    /// The directories from which the server may see a relative path: these, and the roots.
    pub(super) fn and(&self, dirs: &[String]) -> Vec<String> {
        bounded(dirs.iter().chain(&self.state().dirs).cloned())
    }
}

/// Each once, and no more than are judged by.
fn bounded(dirs: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for dir in dirs {
        if all.len() < DIRS_MAX && !all.contains(&dir) {
            all.push(dir);
        }
    }
    all
}

/// The directories that an answer names.
fn named(result: &Value) -> Vec<String> {
    let roots = result.get("roots").and_then(Value::as_array);
    bounded(roots.into_iter().flatten().filter_map(|root| dir(root.get("uri")?.as_str()?)))
}

/// The directory of this address, on this machine.
fn dir(uri: &str) -> Option<String> {
    let rest = uri.get(..FILE.len()).filter(|front| front.eq_ignore_ascii_case(FILE)).and(uri.get(FILE.len()..))?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest).split(['?', '#']).next()?;
    let path = decoded(path).filter(|path| path.starts_with('/') && !path.contains('\0'))?;
    match jackline_runtime::canonical(Path::new(&path)) {
        Ok(real) => real.to_str().map(str::to_owned),
        // One that is not there now may be there when it is used.
        Err(_) => Some(path),
    }
}

/// A text without the escapes of addresses.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        let escaped = (*byte == b'%').then(|| after.split_at_checked(2)).flatten();
        let value = escaped.and_then(|(digits, _)| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match (value, escaped) {
            (Some(value), Some((_, after))) => {
                bytes.push(value);
                rest = after;
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn roots(uris: &[&str]) -> Value {
        json!({ "roots": uris.iter().map(|uri| json!({ "uri": uri })).collect::<Vec<_>>() })
    }

    #[test]
    fn addresses_of_directories_are_read() {
        for (uri, want) in [
            ("file:///no/such%20place", Some("/no/such place")),
            ("FILE://localhost/no/100%", Some("/no/100%")),
            ("file:///no/such#part", Some("/no/such")),
            ("file://elsewhere/share", None),
            ("https://example.com/", None),
            ("fil\u{e9}", None),
        ] {
            assert_eq!(dir(uri).as_deref(), want, "{uri}");
        }
    }

    #[test]
    fn only_what_the_server_asked_for_counts_and_the_last_answer_does() {
        let (known, id) = (Roots::default(), Id::own("q"));
        known.answered(Some(&id), Some(&roots(&["file:///no/a"])));
        assert!(known.and(&[]).is_empty(), "nobody asked");
        known.asked(id.clone());
        known.answered(Some(&id), Some(&roots(&["file:///no/a", "file:///no/a", "file:///no/b"])));
        assert_eq!(known.and(&["/c".to_owned(), "/no/b".to_owned()]), ["/c", "/no/b", "/no/a"]);
        known.asked(id.clone());
        known.answered(Some(&id), None);
        assert!(known.and(&[]).is_empty());
    }

    #[test]
    fn roots_may_come_with_a_request() {
        let known = Roots::default();
        known.given(&json!({ "where": roots(&["file:///no/a"]) }));
        known.given(&json!({ "name": { "content": "x" } }));
        assert_eq!(known.and(&[]), ["/no/a"]);
    }

    #[test]
    fn there_is_an_end_to_them() {
        let known = Roots::default();
        (0..100).for_each(|n| known.asked(Id::own(&n.to_string())));
        assert_eq!(known.state().asked.len(), ASKED_MAX);
        let many: Vec<String> = (0..100).map(|n| format!("file:///no/{n}")).collect();
        let many = roots(&many.iter().map(String::as_str).collect::<Vec<_>>());
        known.given(&json!({ "where": many }));
        assert_eq!(known.and(&[]).len(), DIRS_MAX);
    }
}
