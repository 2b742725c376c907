//! Lines of an input, one JSON text each: bounded before anything looks inside. For every surface that is spoken to in
//! lines.

use std::io::{self, BufRead};

use jackline_core::json::JSON_BYTES_MAX;

/// Bytes of one line: what the strict reader takes. Events and results are text or pictures; longer ones are a flood.
pub const LINE_BYTES_MAX: usize = JSON_BYTES_MAX;
/// Bytes that are kept of either end of a line that is too long: enough to see which request it answers.
const EDGE_BYTES_MAX: usize = 256;
/// Bytes of room that are kept between two lines; a rare long one does not stay in memory.
const ROOM_BYTES_MAX: usize = 64 * 1024;

/// What became of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// It is in the buffer, without its end.
    Whole,
    /// It had this many bytes, which is too long; these are its first and last ones.
    TooLong { bytes: usize, head: Vec<u8>, tail: Vec<u8> },
}

/// Reads up to the next line end; `None` at the end of the input.
///
/// # Errors
/// When the input cannot be read.
pub fn next(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<Line>> {
    line.clear();
    line.shrink_to(ROOM_BYTES_MAX);
    let mut dropped: Option<Vec<u8>> = None;
    let (mut any, mut bytes) = (false, 0);
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(any.then(|| ended(line, bytes, dropped)));
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        if dropped.is_none() && line.len() + part.len() > LINE_BYTES_MAX {
            dropped = Some(line.get(..line.len().min(EDGE_BYTES_MAX)).unwrap_or_default().to_vec());
        }
        line.extend_from_slice(part);
        bytes += part.len();
        if dropped.is_some() {
            let excess = line.len().saturating_sub(EDGE_BYTES_MAX);
            line.drain(..excess);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(ended(line, bytes, dropped)));
        }
    }
}

fn ended(line: &mut Vec<u8>, bytes: usize, dropped: Option<Vec<u8>>) -> Line {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    match dropped {
        None => Line::Whole,
        Some(head) => Line::TooLong { bytes, head, tail: std::mem::take(line) },
    }
}

/// Whether there is nothing in a line.
#[must_use]
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_or_by_their_edges() {
        let long = format!("{{\"id\":7,{}\"x\":1}}", " ".repeat(LINE_BYTES_MAX));
        let text = format!("{{}}\r\n\n{long}\nlast");
        let mut input = io::BufReader::new(text.as_bytes());
        let mut line = Vec::new();
        assert_eq!(next(&mut input, &mut line).unwrap(), Some(Line::Whole));
        assert_eq!(line, b"{}");
        assert_eq!(next(&mut input, &mut line).unwrap(), Some(Line::Whole));
        assert!(is_blank(&line));
        let Some(Line::TooLong { bytes, head, tail }) = next(&mut input, &mut line).unwrap() else {
            panic!("too long")
        };
        assert_eq!(bytes, long.len());
        assert!(head.starts_with(b"{\"id\":7,") && tail.ends_with(b"\"x\":1}") && tail.len() <= EDGE_BYTES_MAX);
        assert_eq!(next(&mut input, &mut line).unwrap(), Some(Line::Whole));
        assert_eq!(line, b"last");
        assert_eq!(next(&mut input, &mut line).unwrap(), None);
    }
}
