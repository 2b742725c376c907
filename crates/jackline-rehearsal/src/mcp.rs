//! A tiny MCP server over HTTP, in the test's own process: one tool, `note`, and the calls it was given.
//!
//! In the process, because then its calls can be looked at, and no second program has to be built for a test.

use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::model::http::{self, Request, Response};

/// The running server.
#[derive(Debug, Clone)]
pub struct Mcp {
    address: SocketAddr,
    calls: Arc<Mutex<Vec<Value>>>,
}

impl Mcp {
    /// Starts it.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let server = Self { address: listener.local_addr()?, calls: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let server = serving.clone();
                thread::spawn(move || server.serve(&connection));
            }
        });
        Ok(server)
    }

    /// Where clients find it.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The arguments of every call that got through, in order.
    pub fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serve(&self, connection: &TcpStream) {
        let mut input = BufReader::new(connection);
        while let Ok(Some(request)) = http::read(&mut input) {
            if http::write(connection, &self.answer(&request)).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> Response {
        let message = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let Some(id) = message.get("id").filter(|_| request.method == "POST") else {
            // A notification needs no answer, and there is no stream of our own to listen to.
            let status = if request.method == "POST" { 202 } else { 405 };
            return Response::json(status, &json!({}));
        };
        let answer = match self.result(&message) {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            None => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown method"}}),
        };
        Response::json(200, &answer)
    }

    fn result(&self, message: &Value) -> Option<Value> {
        let parameters = message.get("params").cloned().unwrap_or_default();
        match message.get("method")?.as_str()? {
            "initialize" => Some(json!({
                "protocolVersion": parameters.get("protocolVersion"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"}})),
            "ping" => Some(json!({})),
            "tools/list" => Some(json!({"tools": [{"name": "note", "description": "Keeps a note.", "inputSchema":
                {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}]})),
            "tools/call" => {
                let arguments = parameters.get("arguments").cloned().unwrap_or_default();
                self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(arguments);
                Some(json!({"content": [{"type": "text", "text": "noted"}]}))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(server: &Mcp, method: &str, body: &Value) -> (u16, Value) {
        let request = Request { method: method.to_owned(), body: body.to_string().into_bytes(), ..Request::default() };
        let Response { status, body: http::Body::Whole(text), .. } = server.answer(&request) else { panic!("whole") };
        (status, serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn calls_are_answered_and_kept() {
        let server = Mcp::start().unwrap();
        let call = json!({"id": 7, "method": "tools/call", "params": {"name": "note", "arguments": {"text": "x"}}});
        let (status, answer) = send(&server, "POST", &call);
        assert_eq!((status, &answer["id"], &answer["result"]["content"][0]["text"]), (200, &json!(7), &json!("noted")));
        assert_eq!(server.calls(), [json!({"text": "x"})]);
    }

    #[test]
    fn what_is_no_call_is_told_apart() {
        let server = Mcp::start().unwrap();
        assert_eq!(send(&server, "POST", &json!({"method": "notifications/initialized"})).0, 202);
        assert_eq!(send(&server, "GET", &json!({})).0, 405);
        assert_eq!(send(&server, "POST", &json!({"id": 1, "method": "odd"})).1["error"]["code"], json!(-32601));
        assert!(server.calls().is_empty());
    }
}
