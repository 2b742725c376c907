//! As much HTTP/1.1 as the hosts' clients need: keep-alive connections, bodies of known or chunked length, streams.
//!
//! Written by hand because the server must also see what no HTTP library hands out: `CONNECT` from a client that
//! wants to leave the machine.

use std::io::{self, BufRead, Read, Write};

/// Bytes of the request line and all headers. Real heads have two thousand.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a body. A long conversation with all tool descriptions has half a million.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One request as it came in.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `POST`, `GET`, `CONNECT`, ...
    pub method: String,
    /// The path with its query, or the host of a `CONNECT`.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, empty if there was none.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The target without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// What goes back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    /// Headers beside those that every answer has.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
}

/// A body in one piece, or in pieces that are sent one by one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Whole(String),
    Stream(Vec<String>),
}

impl Response {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::text(status, body.to_string())
    }

    pub(crate) fn text(status: u16, text: String) -> Self {
        Self { status, kind: "application/json", headers: Vec::new(), body: Body::Whole(text) }
    }

    pub(crate) fn stream(pieces: Vec<String>) -> Self {
        Self { status: 200, kind: "text/event-stream", headers: Vec::new(), body: Body::Stream(pieces) }
    }
}

/// Reads the next request of a connection; `None` when the other side closed it.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut left = HEAD_BYTES_MAX;
    let Some(first) = head_line(input, &mut left)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method: method.to_owned(), target: target.to_owned(), ..Request::default() };
    while let Some(line) = head_line(input, &mut left)?.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| broken("a header without a colon"))?;
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    request.body = body(input, &request)?;
    Ok(Some(request))
}

fn head_line(input: &mut impl BufRead, left: &mut usize) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = input.take(u64::try_from(*left).unwrap_or(u64::MAX)).read_line(&mut line)?;
    *left -= read;
    match read {
        0 if *left == 0 => Err(broken("a head without an end")),
        0 => Ok(None),
        _ => Ok(Some(line.trim_end().to_owned())),
    }
}

fn body(input: &mut impl BufRead, request: &Request) -> io::Result<Vec<u8>> {
    if request.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return chunks(input);
    }
    let length = request.header("content-length").map_or(Ok(0), str::parse);
    exactly(input, length.map_err(|_| broken("a content length that is no number"))?)
}

fn chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut left = HEAD_BYTES_MAX;
        let line = head_line(input, &mut left)?.ok_or_else(|| broken("a body without an end"))?;
        let length = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(length, 16).map_err(|_| broken("a chunk without a length"))?;
        body.extend(exactly(input, length)?);
        head_line(input, &mut left)?;
        if length == 0 {
            return Ok(body);
        }
        if body.len() > BODY_BYTES_MAX {
            return Err(broken("a body that is too large"));
        }
    }
}

fn exactly(input: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    if length > BODY_BYTES_MAX {
        return Err(broken("a body that is too large"));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(body)
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Sends a response; the connection stays open.
pub(crate) fn write(output: impl Write, response: &Response) -> io::Result<()> {
    // One packet per piece: many small ones would wait for one another.
    let mut output = io::BufWriter::new(output);
    let Response { status, kind, headers, body } = response;
    write!(output, "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\n")?;
    for (name, value) in headers {
        write!(output, "{name}: {value}\r\n")?;
    }
    match body {
        Body::Whole(text) => write!(output, "content-length: {}\r\n\r\n{text}", text.len())?,
        Body::Stream(pieces) => {
            write!(output, "transfer-encoding: chunked\r\n\r\n")?;
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                write!(output, "{:x}\r\n{piece}\r\n", piece.len())?;
                output.flush()?;
            }
            write!(output, "0\r\n\r\n")?;
        }
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(mut text: &[u8]) -> Vec<Request> {
        std::iter::from_fn(|| read(&mut text).unwrap()).collect()
    }

    #[test]
    fn requests_follow_one_another_on_a_connection() {
        let read = requests(
            b"POST /v1/messages?beta=true HTTP/1.1\r\nContent-Length: 2\r\nX-A: b: c\r\n\r\n{}GET /next HTTP/1.1\r\n\r\n",
        );
        assert_eq!(read.len(), 2);
        assert_eq!(
            (read[0].path(), read[0].header("x-a"), &read[0].body[..]),
            ("/v1/messages", Some("b: c"), &b"{}"[..])
        );
        assert_eq!((read[1].method.as_str(), read[1].target.as_str()), ("GET", "/next"));
    }

    #[test]
    fn chunks_are_joined() {
        let read = requests(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\n\r\n");
        assert_eq!(read[0].body, b"abc");
    }

    #[test]
    fn what_is_no_request_is_an_error() {
        let endless = [b"GET /".as_slice(), &vec![b'a'; HEAD_BYTES_MAX]].concat();
        let texts: [&[u8]; 4] = [
            b"GET / HTTP/1.1\r\nnothing\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nshort",
            &endless,
        ];
        for mut text in texts {
            assert!(read(&mut text).is_err());
        }
    }

    #[test]
    fn a_stream_is_sent_in_pieces() {
        let mut sent = Vec::new();
        write(&mut sent, &Response::stream(vec!["ab".to_owned(), "c".to_owned()])).unwrap();
        let sent = String::from_utf8(sent).unwrap();
        assert!(sent.ends_with("\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), "{sent}");
    }
}
