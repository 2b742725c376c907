//! What checks ask of addresses. The client is the embedder's: a trait here, no network in this crate.

use std::fmt;

use jackline_core::probe::{Fact, Told, WebRequest};
use serde_json::Value;

/// Bytes of an answer that are read: a pull request has some tens of thousands.
pub const BODY_BYTES_MAX: u64 = 1 << 20;
/// Milliseconds that one request may take, from looking up its host to the end of its answer.
pub const WEB_MS_MAX: u64 = 10_000;

/// The status of an answer that holds what was asked for.
const FOUND: u16 = 200;

/// Asks addresses over HTTP.
pub trait Web: Send + Sync + fmt::Debug {
    /// Sends one GET request and gives what came back, within [`WEB_MS_MAX`] and [`BODY_BYTES_MAX`]; follows no
    /// redirect. The user's token goes along only with `authorised`.
    ///
    /// # Errors
    /// Why there is no answer, in words without secrets.
    fn get(&self, url: &str, authorised: bool) -> Result<Response, String>;
}

/// What an address answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Answers where there is no client.
pub(crate) fn absent() -> Fact {
    Fact::Unknown("this program was built into one that asks no addresses".to_owned())
}

pub(crate) fn answer(web: &dyn Web, request: &WebRequest) -> Fact {
    let answered = match request {
        WebRequest::Status { url } => web.get(url, false).map(|Response { status, .. }| (status, None)),
        WebRequest::Pull { api, repo, number } => {
            let url = format!("{}/repos/{repo}/pulls/{number}", api.trim_end_matches('/'));
            web.get(&url, true).and_then(|response| pull(&response, *number))
        }
    };
    match answered {
        Ok((status, merged)) => Fact::Told(Told::Answered { status, merged }),
        Err(why) => Fact::Unknown(why),
    }
}

/// The status of an answer, and whether the pull request is merged, as GitHub spells it. A page of a login, another
/// pull request or half of one says nothing of the one that was asked for.
fn pull(Response { status, body }: &Response, number: u64) -> Result<(u16, Option<bool>), String> {
    if *status != FOUND {
        return Ok((*status, None));
    }
    let pull: Value =
        jackline_core::json::decode(body).map_err(|_| "the answer is no pull request, or not all of one".to_owned())?;
    match pull.get("number").and_then(Value::as_u64) {
        Some(named) if named == number => Ok((*status, pull.get("merged").and_then(Value::as_bool))),
        Some(_) | None => Err(format!("the answer is not pull request {number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Says the same to everyone, and remembers who asked how.
    #[derive(Debug)]
    struct Parrot(Mutex<Vec<(String, bool)>>, &'static str);

    impl Web for Parrot {
        fn get(&self, url: &str, authorised: bool) -> Result<Response, String> {
            self.0.lock().unwrap().push((url.to_owned(), authorised));
            Ok(Response { status: 200, body: self.1.as_bytes().to_vec() })
        }
    }

    #[track_caller]
    fn check(body: &'static str, want: Option<Option<bool>>) {
        let parrot = Parrot(Mutex::default(), body);
        let request = WebRequest::Pull { api: "http://x/".into(), repo: "a/b".into(), number: 7 };
        match (answer(&parrot, &request), want) {
            (Fact::Told(Told::Answered { status: 200, merged }), Some(want)) => assert_eq!(merged, want, "{body}"),
            (Fact::Unknown(_), None) => {}
            (fact, _) => panic!("{body}: {fact:?}"),
        }
        assert_eq!(*parrot.0.lock().unwrap(), [("http://x/repos/a/b/pulls/7".to_owned(), true)]);
    }

    #[test]
    fn a_pull_request_is_merged_only_if_it_says_so() {
        check(r#"{"number": 7, "merged": true}"#, Some(Some(true)));
        check(r#"{"number": 7, "merged": false}"#, Some(Some(false)));
        check(r#"{"number": 7, "merged": "true"}"#, Some(None));
    }

    #[test]
    fn what_is_not_the_pull_request_says_nothing_of_it() {
        for body in ["<html>login</html>", "", "[]", r#"{"message": "x"}"#, r#"{"number": 7, "mer"#] {
            check(body, None);
        }
        check(r#"{"number": 999, "merged": true}"#, None);
        check(r#"{"number": "7", "merged": true}"#, None);
    }

    #[test]
    fn the_token_goes_nowhere_else() {
        let parrot = Parrot(Mutex::default(), "");
        answer(&parrot, &WebRequest::Status { url: "http://y".into() });
        assert_eq!(*parrot.0.lock().unwrap(), [("http://y".to_owned(), false)]);
    }
}
