//! Streams of events, as servers answer over HTTP: lines that say what they are, and a blank one after each event.

use std::io::{self, BufRead};

use jackline_runtime::lines::{self, LINE_BYTES_MAX, Line};

/// What a stream says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A message, on one line.
    Message(Vec<u8>),
    /// One that is too long; its first and last bytes.
    TooLong { head: Vec<u8>, tail: Vec<u8> },
}

/// A stream that is being read.
#[derive(Debug)]
pub(super) struct Stream<R> {
    input: R,
    line: Vec<u8>,
    /// The id of the last event, by which a stream is taken up again.
    pub(super) last_id: Option<String>,
    /// Milliseconds that the server wants to pass before that.
    pub(super) retry_ms: Option<u64>,
}

impl<R: BufRead> Stream<R> {
    pub(super) fn new(input: R, last_id: Option<String>) -> Self {
        Self { input, line: Vec::new(), last_id, retry_ms: None }
    }

    /// The next event that says anything; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Said>> {
        let (mut data, mut other): (Option<Vec<u8>>, bool) = (None, false);
        loop {
            match lines::next(&mut self.input, &mut self.line)? {
                // What was not ended by a blank line is no event.
                None => return Ok(None),
                Some(Line::TooLong { head, tail, .. }) => return Ok(Some(Said::TooLong { head, tail })),
                Some(Line::Whole) => {}
            }
            if self.line.is_empty() {
                // Events of other kinds, such as those that keep a connection alive, are no messages.
                match data.take().filter(|data| !lines::is_blank(data) && !other) {
                    Some(data) => return Ok(Some(Said::Message(data))),
                    None => {
                        other = false;
                        continue;
                    }
                }
            }
            let (field, value) = field(&self.line);
            match field {
                b"data" => {
                    let data = data.get_or_insert_with(Vec::new);
                    if data.len() + value.len() > LINE_BYTES_MAX {
                        return Ok(Some(Said::TooLong { head: Vec::new(), tail: Vec::new() }));
                    }
                    // A message may stand on several lines; between its parts a line end is only space.
                    data.extend_from_slice(value);
                    data.push(b' ');
                }
                b"event" => other = !matches!(value, b"" | b"message"),
                b"id" => self.last_id = String::from_utf8(value.to_vec()).ok().filter(|id| !id.is_empty()),
                b"retry" => self.retry_ms = std::str::from_utf8(value).ok().and_then(|ms| ms.trim().parse().ok()),
                _ => {}
            }
        }
    }
}

/// The name of a line and what it says; a comment has no name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = line.iter().position(|byte| *byte == b':') else { return (line, &[]) };
    let (name, rest) = line.split_at(colon);
    let value = rest.get(1..).unwrap_or_default();
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_with_their_ids() {
        let text = ": hello\nid: 1\nretry: 250\ndata: \n\nevent: ping\ndata: {}\n\nevent: message\nid: 2\ndata: {\"a\":\ndata: 1}\n\ndata:{\"b\":2}\r\n\r\ndata: cut off";
        let mut stream = Stream::new(io::BufReader::new(text.as_bytes()), None);
        let message = |text: &str| Some(Said::Message(text.as_bytes().to_vec()));
        assert_eq!(stream.next().unwrap(), message("{\"a\": 1} "));
        assert_eq!((stream.last_id.as_deref(), stream.retry_ms), (Some("2"), Some(250)));
        assert_eq!(stream.next().unwrap(), message("{\"b\":2} "));
        assert_eq!(stream.next().unwrap(), None);
    }
}
