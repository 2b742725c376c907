//! Looks at a server's message without reading it: where its outermost members stand. So what is not judged passes as it
//! is, however large, and only what is judged is read.

use std::ops::Range;

use serde_json::Value;

use crate::message::{Id, MEMBERS, is_disguise};

/// The members that make a message an answer.
const ANSWERS: [&str; 2] = ["result", "error"];

/// The outermost members of a message that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline<'a> {
    pub(crate) id: Option<&'a [u8]>,
    pub(crate) method: Option<String>,
    pub(crate) result: Option<&'a [u8]>,
    pub(crate) error: Option<&'a [u8]>,
}

impl Outline<'_> {
    /// The id, where it is one.
    pub(crate) fn id(&self) -> Option<Id> {
        Id::of(&serde_json::from_slice::<Value>(self.id?).ok()?)
    }
}

/// The outline of an object; `None` where the text is none, or says one of the members twice, in whatever letters.
pub(crate) fn outline(text: &[u8]) -> Option<Outline<'_>> {
    let (mut outline, mut method) = (Outline::default(), None);
    for (key, value) in members(text)? {
        let slot = match key.as_str() {
            "id" => &mut outline.id,
            "result" => &mut outline.result,
            "error" => &mut outline.error,
            "method" => &mut method,
            // To some readers it is one of these.
            key if is_disguise(key, &MEMBERS) => return None,
            _ => continue,
        };
        if slot.replace(value).is_some() {
            return None;
        }
    }
    outline.method = match method {
        // Some servers write every member that there is.
        None | Some(b"null") => None,
        Some(method) => Some(serde_json::from_slice(method).ok()?),
    };
    // Some servers say of every answer both what it is and, with `null`, what it is not.
    match (outline.result, outline.error) {
        (Some(_), Some(b"null")) => outline.error = None,
        (Some(b"null"), Some(_)) => outline.result = None,
        _ => {}
    }
    Some(outline)
}

/// Who is to be told of a message that cannot be read: its id, where it has one and only one.
pub(crate) fn id_in(text: &[u8]) -> Option<Id> {
    let mut ids = members(text)?.into_iter().filter(|(key, _)| key == "id" || is_disguise(key, &["id"]));
    let (key, id) = ids.next().filter(|_| ids.next().is_none())?;
    Id::of(&serde_json::from_slice(id).ok()?).filter(|_| key == "id")
}

/// Whether an object that may not be readable is meant as an answer: it says what came of something, and asks for nothing.
pub(crate) fn is_answer(text: &[u8]) -> bool {
    let asks = |(key, value): &(String, &[u8])| is_meant(key, &["method"]) && *value != b"null";
    has_answer(text) && members(text).is_some_and(|members| !members.iter().any(asks))
}

/// Whether such an object says what came of something, whatever else it says.
pub(crate) fn has_answer(text: &[u8]) -> bool {
    members(text).is_some_and(|members| members.iter().any(|(key, _)| is_meant(key, &ANSWERS)))
}

/// Whether a key is one of these names, in whatever letters.
fn is_meant(key: &str, names: &[&str]) -> bool {
    names.contains(&key) || is_disguise(key, names)
}

/// The same for a message that is too long to be kept: what it is stands before what is long.
pub(crate) fn begins_as_answer(head: &[u8]) -> bool {
    let begins = || {
        let mut scan = Scan::of(head);
        scan.skip_space();
        scan.expect(b'{')?;
        loop {
            scan.skip_space();
            let key = scan.string()?;
            let key: String = serde_json::from_slice(head.get(key)?).ok()?;
            match key.as_str() {
                key if ANSWERS.contains(&key) => return Some(true),
                "method" | "params" => return Some(false),
                _ => {}
            }
            scan.skip_space();
            scan.expect(b':')?;
            scan.skip_space();
            scan.value()?;
            scan.skip_space();
            scan.expect(b',')?;
        }
    };
    begins().unwrap_or_default()
}

/// The members of an object, each as it is written; `None` where the text is none.
pub(crate) fn members(text: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let spans = Scan::of(text).members()?;
    spans.into_iter().map(|(key, span)| Some((key, text.get(span)?))).collect()
}

/// The elements of an array; `None` where the text is none.
pub(crate) fn elements(text: &[u8]) -> Option<Vec<&[u8]>> {
    let mut scan = Scan::of(text);
    scan.skip_space();
    scan.expect(b'[')?;
    let mut found = Vec::new();
    loop {
        scan.skip_space();
        match scan.peek()? {
            b']' => break,
            b',' if !found.is_empty() => scan.at += 1,
            _ => found.push(text.get(scan.value()?)?),
        }
    }
    scan.at += 1;
    scan.is_done().then_some(found)
}

/// The id in the edges of a message that is too long to be kept; clients and servers write it first or last.
pub(crate) fn id_in_edges(head: &[u8], tail: &[u8]) -> Option<Id> {
    const MEMBER: &[u8] = b"\"id\":";
    let at_end = || {
        let tail = tail.trim_ascii_end().strip_suffix(b"}")?;
        let at = tail.windows(MEMBER.len()).rposition(|window| window == MEMBER)?;
        Id::of(&serde_json::from_slice(tail.get(at + MEMBER.len()..)?).ok()?)
    };
    let at_start = || {
        let at = head.windows(MEMBER.len()).position(|window| window == MEMBER)?;
        let mut scan = Scan { text: head, at: at + MEMBER.len() };
        scan.skip_space();
        let span = scan.value()?;
        let ends = head.get(span.end).is_some_and(|next| b",} ".contains(next));
        Id::of(&serde_json::from_slice(head.get(span)?).ok()?).filter(|_| ends)
    };
    at_end().or_else(at_start)
}

/// A place in a text.
pub(crate) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    /// The beginning of a text.
    pub(crate) const fn of(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }
}

impl Scan<'_> {
    /// Passes over the byte here.
    pub(crate) const fn step(&mut self) {
        self.at += 1;
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn is_done(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    fn members(&mut self) -> Option<Vec<(String, Range<usize>)>> {
        self.skip_space();
        self.expect(b'{')?;
        let mut members = Vec::new();
        loop {
            self.skip_space();
            match self.peek()? {
                b'}' => break,
                b',' if !members.is_empty() => {
                    self.at += 1;
                    self.skip_space();
                }
                _ => {}
            }
            let key = self.string()?;
            let key: String = serde_json::from_slice(self.text.get(key)?).ok()?;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            members.push((key, self.value()?));
        }
        self.at += 1;
        self.is_done().then_some(members)
    }

    pub(crate) fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(start..self.at)
    }

    /// Passes over a value by counting brackets: no recursion, so no depth is too deep.
    pub(crate) fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b'}' | b']') | None if depth == 0 => break,
                Some(byte) if depth == 0 && byte.is_ascii_whitespace() => break,
                Some(_) => self.at += 1,
                None => return None,
            }
            if depth == 0 && self.text.get(self.at - 1).is_some_and(|last| b"\"}]".contains(last)) {
                break;
            }
        }
        (self.at > start).then_some(start..self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Option<(Option<&str>, Option<String>, Option<&str>)> {
        let text_of = |bytes| std::str::from_utf8(bytes).unwrap();
        outline(text.as_bytes()).map(|outline| (outline.id.map(text_of), outline.method, outline.result.map(text_of)))
    }

    #[test]
    fn the_outermost_members_are_found_wherever_they_stand() {
        let nested = r#"{"result":{"id":9,"a":["}",{"b":"\"]"}]},"jsonrpc":"2.0","id":"x\"1"}"#;
        assert_eq!(seen(nested), Some((Some(r#""x\"1""#), None, Some(r#"{"id":9,"a":["}",{"b":"\"]"}]}"#))));
        assert_eq!(seen(r#" { "id" : 1.5e3 , "method" : "a\/b" } "#), Some((Some("1.5e3"), Some("a/b".into()), None)));
        assert_eq!(seen(r#"{"id":null}"#), Some((Some("null"), None, None)));
        assert_eq!(seen(r#"{"id":1,"method": null ,"result":5}"#), Some((Some("1"), None, Some("5"))));
        assert_eq!(seen(r#"{"id":1,"method":null,"method":"a"}"#), None);
    }

    #[test]
    fn an_answer_may_say_what_it_is_not() {
        let seen = |text: &str| outline(text.as_bytes()).map(|seen| (seen.result.is_some(), seen.error.is_some()));
        assert_eq!(seen(r#"{"id":1,"result":{},"error":null}"#), Some((true, false)));
        assert_eq!(seen(r#"{"id":1,"error":{"code":1},"result": null }"#), Some((false, true)));
        assert_eq!(seen(r#"{"id":1,"error":null,"result":null}"#), Some((true, false)));
        assert_eq!(seen(r#"{"id":1,"error":{"code":1},"result":{}}"#), Some((true, true)));
        assert_eq!(seen(r#"{"id":1,"result":null}"#), Some((true, false)));
    }

    #[test]
    fn what_is_no_message_has_no_outline() {
        for text in
            ["", "hello", "{", r#"{"id":1"#, r#"{"id":1}x"#, r#"{"id":1,"id":2}"#, r#"{"id":}"#, "[]", r#"{1:2}"#]
        {
            assert_eq!(outline(text.as_bytes()), None, "{text}");
        }
        let deep = format!("{{\"id\":1,\"result\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(outline(deep.as_bytes()).is_some());
    }

    #[test]
    fn who_said_what_cannot_be_read_is_told_where_that_is_plain() {
        let id = |text: &str| id_in(text.as_bytes()).map(|id| id.as_json().to_owned());
        assert_eq!(id(r#"{"id":3,"method":"a","method":"b"}"#).as_deref(), Some("3"));
        for unclear in [r#"{"id":3,"id":3}"#, r#"{"id":3,"ID":4}"#, r#"{"Id":3}"#, r#"{"id":[3]}"#, r#"{"id":3"#] {
            assert_eq!(id(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn an_answer_is_seen_though_it_cannot_be_read() {
        let answers = [
            r#"{"id":3,"result":{"a":1,"a":2}}"#,
            r#"{"id":3,"error":{},"error":{}}"#,
            r#"{"id":3,"Result":{}}"#,
            r#"{"id":3,"method":null,"result":{}}"#,
        ];
        answers.iter().for_each(|text| assert!(is_answer(text.as_bytes()), "{text}"));
        let others =
            [r#"{"id":3,"method":"a","result":{}}"#, r#"{"id":3,"METHOD":"a","result":{}}"#, r#"{"id":3}"#, "[1]", "x"];
        others.iter().for_each(|text| assert!(!is_answer(text.as_bytes()), "{text}"));
        let begins = |head: &str| begins_as_answer(head.as_bytes());
        assert!(begins(r#" { "jsonrpc" : "2.0", "id":[1,{"method":2}], "result":{"text":"xx"#));
        for head in
            [r#"{"id":1,"method":"a","params":{"result":1"#, r#"{"params":{"#, r#"{"id":1,"x":{"result":1,"#, "x"]
        {
            assert!(!begins(head), "{head}");
        }
    }

    #[test]
    fn elements_are_told_apart() {
        let found = elements(br#" [ {"a":[1,2]}, 5 ,"x,]" ] "#).unwrap();
        assert_eq!(found, [&br#"{"a":[1,2]}"#[..], &b"5"[..], &br#""x,]""#[..]]);
        assert_eq!(elements(b"[]"), Some(Vec::new()));
        assert_eq!(elements(b"[1"), None);
    }

    #[test]
    fn an_id_is_seen_at_either_edge() {
        let id =
            |head: &str, tail: &str| id_in_edges(head.as_bytes(), tail.as_bytes()).map(|id| id.as_json().to_owned());
        assert_eq!(id(r#"{"result":{"#, r#"zzz"}]},"jsonrpc":"2.0","id":12}"#).as_deref(), Some("12"));
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":"a","result":{"#, r#"zzz"}]}}"#).as_deref(), Some("\"a\""));
        assert_eq!(id(r#"{"result":"#, "zzz"), None);
    }
}
