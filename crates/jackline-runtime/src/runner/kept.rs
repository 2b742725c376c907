//! What is kept of a command's output: its beginning and its end, as text, without secrets.

use std::collections::VecDeque;

use jackline_core::redact::Redactor;
use jackline_core::sha::Digest;

/// Bytes of a stream that are kept for an artifact; whole test runs fit.
pub const KEPT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a stream that are shown: more than anyone reads, less than a record's bound.
pub const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// Bytes at a cut that are given up to cut at a line's end: half of a token is not recognised as a secret.
const EDGE_BYTES_MAX: usize = 4 * 1024;
/// Continuing bytes of a character: one that was cut has no more of them.
const CUT_CHARACTER_BYTES_MAX: usize = 3;

/// Stands where something was left out: the beginning names the cause, the end says what came of it.
const GAP: &str = "\n[… left out …]\n";

/// What a command printed on one stream, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The text, or the beginning and the end of it: [`SHOWN_BYTES_MAX`].
    pub text: String,
    /// Bytes that were printed, kept or not.
    pub bytes_total: u64,
    /// Whether `text` lacks something that was printed.
    pub truncated: bool,
    /// Whether something was printed that is no UTF-8; `�` stands for it.
    pub lossy: bool,
    /// Whether secrets were taken out.
    pub redacted: bool,
    /// The digest of [`whole`](Self::whole), which is its name as an [artifact](super::artifacts).
    pub digest: Digest,
    whole: String,
}

impl Kept {
    /// A text that no command printed, kept as if one had.
    pub(crate) fn of(text: &str, redactor: &Redactor) -> Self {
        let mut printed = Printed::default();
        printed.push(text.as_bytes());
        printed.keep(redactor)
    }

    /// The text, or more of it than is shown: [`KEPT_BYTES_MAX`].
    #[must_use]
    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// The text, or the beginning and the end of it, in so many bytes.
    #[must_use]
    pub fn short(&self, bytes_max: usize) -> String {
        short(&self.text, bytes_max)
    }
}

impl Default for Kept {
    fn default() -> Self {
        Printed::default().keep(&Redactor::new([]))
    }
}

/// What a command has printed so far.
#[derive(Debug, Default)]
pub(super) struct Printed {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Printed {
    /// Takes more in and forgets the middle.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        const HALF: usize = half(KEPT_BYTES_MAX);
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(HALF - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        self.tail.drain(..self.tail.len().saturating_sub(HALF));
    }

    /// All of it, if nothing had to be forgotten.
    pub(super) fn all(&self) -> Option<Vec<u8>> {
        let whole = self.head.iter().chain(&self.tail).copied();
        (self.total == (self.head.len() + self.tail.len()) as u64).then(|| whole.collect())
    }

    /// As it is kept. Secrets go before anything is cut for showing, so that none is cut in two.
    pub(super) fn keep(self, redactor: &Redactor) -> Kept {
        let total = self.total;
        let (text, lossy, forgotten) = self.text();
        let (text, redacted) = redactor.text(&text);
        // What stands for a secret, or for bytes that are no text, may be longer than they were.
        let longer = cut(&text, KEPT_BYTES_MAX);
        let forgotten = forgotten || longer.is_some();
        let whole = longer.unwrap_or_else(|| text.into_owned());
        let shown = cut(&whole, SHOWN_BYTES_MAX);
        let truncated = forgotten || shown.is_some();
        let (text, digest) = (shown.unwrap_or_else(|| whole.clone()), Digest::of(whole.as_bytes()));
        Kept { text, bytes_total: total, truncated, lossy, redacted, digest, whole }
    }

    /// The text, whether something in it was no text, and whether its middle is missing.
    fn text(self) -> (String, bool, bool) {
        let Self { mut head, tail, total } = self;
        let tail = Vec::from(tail);
        let forgotten = total > (head.len() + tail.len()) as u64;
        if forgotten {
            let ((start, start_lossy), (end, end_lossy)) = (read(before_cut(&head)), read(after_cut(&tail)));
            return ([start.as_str(), GAP, end.as_str()].concat(), start_lossy || end_lossy, true);
        }
        head.extend(tail);
        let (text, lossy) = read(&head);
        (text, lossy, false)
    }
}

fn read(bytes: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(bytes);
    let lossy = matches!(text, std::borrow::Cow::Owned(_));
    (text.into_owned(), lossy)
}

/// The bytes up to the last line's end, if it is near; else without the last character, which may be half of one.
fn before_cut(head: &[u8]) -> &[u8] {
    let edge = head.len().saturating_sub(EDGE_BYTES_MAX);
    let line = head.iter().rposition(|byte| *byte == b'\n').filter(|at| *at >= edge);
    let cut = head.len() - continuing(head.iter().rev());
    let cut = cut - usize::from(head.get(..cut).and_then(<[u8]>::last).is_some_and(|byte| !byte.is_ascii()));
    head.get(..line.unwrap_or(cut)).unwrap_or_default()
}

/// The bytes from the first line's beginning, if it is near; else from the first whole character.
fn after_cut(tail: &[u8]) -> &[u8] {
    let line = tail.iter().take(EDGE_BYTES_MAX).position(|byte| *byte == b'\n').map(|at| at + 1);
    tail.get(line.unwrap_or_else(|| continuing(tail.iter()))..).unwrap_or_default()
}

/// How many bytes in a row continue a character.
fn continuing<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.take(CUT_CHARACTER_BYTES_MAX).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count()
}

/// What is kept on either side of a gap.
const fn half(bytes_max: usize) -> usize {
    (bytes_max - GAP.len()) / 2
}

/// A text, or its beginning and its end where it is too long.
#[must_use]
pub fn short(text: &str, bytes_max: usize) -> String {
    cut(text, bytes_max).unwrap_or_else(|| text.to_owned())
}

/// The beginning and the end of a text that is too long.
fn cut(text: &str, bytes_max: usize) -> Option<String> {
    if text.len() <= bytes_max {
        return None;
    }
    let half = half(bytes_max);
    let start = (0..=half).rev().find_map(|at| text.get(..at)).unwrap_or_default();
    let end = (text.len() - half..text.len()).find_map(|at| text.get(at..)).unwrap_or_default();
    Some([start, GAP, end].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: &[u8]) -> Kept {
        let mut printed = Printed::default();
        bytes.chunks(1000).for_each(|chunk| printed.push(chunk));
        printed.keep(&Redactor::new([]))
    }

    #[test]
    fn short_output_is_kept_as_it_is() {
        let short = kept("grün\n".as_bytes());
        assert_eq!((short.text.as_str(), short.bytes_total, short.whole()), ("grün\n", 6, "grün\n"));
        assert!(!short.truncated && !short.lossy && !short.redacted);
        assert_eq!(short.digest, Digest::of("grün\n".as_bytes()));
        assert_eq!(Kept::default().digest, Digest::of(b""));
    }

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let text: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
        let long = kept(text.as_bytes());
        assert!(long.truncated && !long.lossy);
        assert!(long.text.len() <= SHOWN_BYTES_MAX, "{}", long.text.len());
        assert!(long.text.starts_with("line 0\n") && long.text.ends_with("line 19999\n") && long.text.contains(GAP));
        assert_eq!((long.whole(), long.bytes_total), (text.as_str(), text.len() as u64));
    }

    #[test]
    fn a_flood_is_kept_at_both_ends() {
        let text: String = (0..200_000).map(|line| format!("line {line}\n")).collect();
        let flood = kept(text.as_bytes());
        assert!(flood.truncated && flood.whole().len() <= KEPT_BYTES_MAX, "{}", flood.whole().len());
        assert_eq!(flood.bytes_total, text.len() as u64);
        let (start, end) = flood.whole().split_once(GAP).unwrap();
        assert!(text.starts_with(&format!("{start}\n")) && text.ends_with(end) && end.starts_with("line "));
    }

    #[test]
    fn characters_are_not_cut_and_other_bytes_are_told() {
        for (before, character) in ["", "x", "xx", "xxx"].into_iter().flat_map(|x| [(x, "é"), (x, "€"), (x, "😀")])
        {
            let flood = kept([before, &character.repeat(KEPT_BYTES_MAX)].concat().as_bytes());
            assert!(flood.truncated && !flood.lossy && !flood.whole().contains('\u{fffd}'), "{before}{character}");
        }
        let binary = kept(&vec![0xff; KEPT_BYTES_MAX]);
        assert!(binary.truncated && binary.lossy && binary.whole().len() <= KEPT_BYTES_MAX, "{}", binary.whole().len());
        let binary = kept(b"a\xff\xfeb");
        assert_eq!((binary.text.as_str(), binary.lossy), ("a\u{fffd}\u{fffd}b", true));
    }

    #[test]
    fn secrets_are_gone_before_anything_is_cut() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let filler = "x\n".repeat(SHOWN_BYTES_MAX / 4 - 10);
        let told = kept(format!("{filler}token={secret}\n{filler}{filler}").as_bytes());
        assert!(told.redacted && told.truncated);
        assert!(!told.whole().contains("a1B2") && !told.text.contains("a1B2"), "{}", told.text);
    }
}
