//! A model that follows a script: an HTTP server on loopback that remembers everything that reached it.
//!
//! It is also the proxy that hosts are told to use, so whatever wants to leave the machine ends here as a stranger.

mod anthropic;
mod chat;
mod dialect;
mod gemini;
pub(crate) mod http;
mod responses;
mod script;

use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use dialect::Dialect;
pub use dialect::Outcome;
pub use http::Request;
use http::Response;
use script::Said;
pub use script::{CWD, Call, Lane, SUBAGENT, Script, call};

/// What a host gets that asks for a title or a summary.
const ASIDE: &str = "a title";

/// A request to the model and what it got.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Whose it was.
    pub lane: Lane,
    /// The number of its turn in the lane, from 0; none when the default was given.
    pub turn: Option<usize>,
    /// As it came in.
    pub request: Request,
    /// Its body.
    pub body: Value,
    dialect: &'static dyn Dialect,
}

/// All that happened, and how far the script is.
#[derive(Debug, Default)]
struct Log {
    asked: Vec<Asked>,
    strangers: Vec<String>,
}

/// The running model. It ends with the process: its threads hold nothing that matters.
#[derive(Debug, Clone)]
pub struct Model {
    address: SocketAddr,
    script: Arc<Script>,
    log: Arc<Mutex<Log>>,
}

impl Model {
    /// Starts playing, with `cwd` in place of its mark in the script.
    pub fn start(script: Script, cwd: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let model = Self { address, script: Arc::new(script.placed(cwd)), log: Arc::default() };
        let serving = model.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let model = serving.clone();
                thread::spawn(move || model.serve(&connection));
            }
        });
        Ok(model)
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn serve(&self, connection: &TcpStream) {
        let mut input = BufReader::new(connection);
        loop {
            let request = match http::read(&mut input) {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(fault) => return self.log().strangers.push(format!("unreadable: {fault}")),
            };
            // A client that is gone needs no answer.
            if http::write(connection, &self.answer(request)).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: Request) -> Response {
        let body = serde_json::from_slice::<Value>(&request.body);
        let (Some(dialect), Ok(body)) = (dialect::of(&request), body) else {
            self.log().strangers.push(format!("{} {}", request.method, request.target));
            return Response::json(502, &json!({"error": "only the scripted model is here"}));
        };
        if dialect.is_aside(&request, &body) {
            return dialect.answer(&request, &body, &Said::Text(ASIDE.to_owned()), "aside");
        }
        let lane = dialect.lane(&request, &body);
        let (number, count) =
            self.note(Asked { lane, turn: None, request: request.clone(), body: body.clone(), dialect });
        let (turn, _) = self.script.at(lane, number);
        if let Some(act) = &turn.meanwhile {
            act();
        }
        // A session that is resumed with another model must not meet an answer's id again.
        let said = turn.said.filled(&dialect.outcomes(&body));
        if let Said::Odd(odd) = said {
            return odd;
        }
        dialect.answer(&request, &body, &said, &format!("{}_{count}", self.address.port()))
    }

    /// Remembers a request; gives its number in the lane, from 0, and how many there are now.
    fn note(&self, mut asked: Asked) -> (usize, usize) {
        let mut log = self.log();
        let number = log.asked.iter().filter(|earlier| earlier.lane == asked.lane).count();
        asked.turn = Some(number).filter(|number| self.script.at(asked.lane, *number).1);
        log.asked.push(asked);
        (number, log.asked.len())
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // A thread that panicked in an act leaves whole entries behind.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every request to the model, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.log().asked.clone()
    }

    /// How many turns of a lane were played, and how many there are.
    pub fn turns_used(&self, lane: Lane) -> (usize, usize) {
        let used = self.log().asked.iter().filter(|asked| asked.lane == lane && asked.turn.is_some()).count();
        (used, self.script.lane(lane).len())
    }

    /// What came that is no request to the model: proof that nothing but loopback was contacted when there is none.
    pub fn strangers(&self) -> Vec<String> {
        self.log().strangers.clone()
    }

    /// What the model was shown as the result of a call, by its name in the script.
    pub fn outcome(&self, name: &str) -> Option<Outcome> {
        let log = self.log();
        let mut outcomes = log.asked.iter().rev().flat_map(|asked| asked.dialect.outcomes(&asked.body));
        outcomes.find(|outcome| outcome.name == name)
    }

    /// Every text that any request held, each once: whatever the model was ever shown.
    pub fn shown_to_model(&self) -> String {
        let log = self.log();
        let texts = log.asked.iter().flat_map(|asked| asked.dialect.texts(&asked.body));
        let mut seen: Vec<String> = Vec::new();
        for text in texts {
            if !seen.contains(&text) {
                seen.push(text);
            }
        }
        seen.join("\n")
    }

    /// All texts of the request that first held the result of a call, and those of all requests before it.
    pub fn shown_beside(&self, name: &str) -> Option<(String, String)> {
        let log = self.log();
        let holds = |asked: &Asked| asked.dialect.outcomes(&asked.body).iter().any(|outcome| outcome.name == name);
        let at = log.asked.iter().position(holds)?;
        let texts = |asked: &Asked| asked.dialect.texts(&asked.body).join("\n");
        let before: Vec<String> = log.asked.iter().take(at).map(texts).collect();
        Some((log.asked.get(at).map(texts)?, before.join("\n")))
    }

    /// All texts of one request, by its number from 0.
    pub fn shown_in(&self, number: usize) -> String {
        let log = self.log();
        log.asked.get(number).map(|asked| asked.dialect.texts(&asked.body).join("\n")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    /// Sends one request on a connection of its own; gives the whole answer.
    fn send(model: &Model, head: &str, body: &str) -> String {
        let mut connection = TcpStream::connect(model.address).unwrap();
        write!(connection, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        connection.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    const MESSAGES: &str = "POST /v1/messages?beta=true HTTP/1.1";

    #[test]
    fn each_lane_gets_its_own_turns() {
        let model = Model::start(Script::new().say("at {{CWD}}").subagent(Script::new().say("sub")), "/repo").unwrap();
        assert!(send(&model, MESSAGES, "{}").contains("at /repo"));
        assert!(send(&model, &format!("{MESSAGES}\r\nX-Claude-Code-Agent-Id: a1"), "{}").contains("\"sub\""));
        assert!(send(&model, MESSAGES, "{}").contains("no further turn"));
        assert_eq!((model.turns_used(Lane::Main), model.turns_used(Lane::Subagent)), ((1, 1), (1, 1)));
        assert_eq!(model.asked().iter().map(|asked| asked.turn).collect::<Vec<_>>(), [Some(0), Some(0), None]);
        assert_eq!(model.strangers(), [""; 0]);
    }

    #[test]
    fn what_is_not_for_a_model_is_a_stranger() {
        let model = Model::start(Script::new(), "/repo").unwrap();
        assert!(send(&model, "CONNECT example.com:443 HTTP/1.1", "").starts_with("HTTP/1.1 502"));
        send(&model, "GET /v1/messages HTTP/1.1", "");
        send(&model, MESSAGES, "no json");
        let seen = ["CONNECT example.com:443", "GET /v1/messages", "POST /v1/messages?beta=true"];
        assert_eq!(model.strangers(), seen);
        assert!(model.asked().is_empty());
    }

    #[test]
    fn many_requests_on_one_connection() {
        let model = Model::start(Script::new().say("one").say("two"), "/repo").unwrap();
        let mut connection = TcpStream::connect(model.address).unwrap();
        for want in ["one", "two"] {
            write!(connection, "{MESSAGES}\r\ncontent-length: 2\r\n\r\n{{}}").unwrap();
            let mut answer = [0; 4096];
            let read = connection.read(&mut answer).unwrap();
            assert!(String::from_utf8_lossy(&answer[..read]).contains(want));
        }
    }

    #[test]
    fn an_act_comes_before_the_answer() {
        let done = Arc::new(Mutex::new(false));
        let act = Arc::clone(&done);
        let script = Script::new().say("after").meanwhile(move || *act.lock().unwrap() = true);
        let model = Model::start(script, "/repo").unwrap();
        send(&model, MESSAGES, "{}");
        assert!(*done.lock().unwrap());
    }
}
