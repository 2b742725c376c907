//! The members of a record line that a store reads: its number, its hash and the one before. It does not verify the chain.

use jackline_core::sha::Digest;
use serde::Deserialize;

use super::Head;

// A real reader, not a search for `"hash":"`: arguments that an agent chose may hold members of that name.
#[derive(Deserialize)]
struct Link<'a> {
    seq: u64,
    hash: &'a str,
}

/// The head that a log has when `line` is its last record and ends at `offset`.
pub(crate) fn head(line: &[u8], offset: u64) -> Option<Head> {
    let Link { seq, hash } = serde_json::from_slice(line).ok()?;
    Some(Head { seq, hash: Digest::parse(hash)?, offset })
}

/// The number of a record and the hash that it links to.
pub(crate) fn before(line: &[u8]) -> Option<(u64, Digest)> {
    #[derive(Deserialize)]
    struct Before<'a> {
        seq: u64,
        prev_hash: &'a str,
    }
    let Before { seq, prev_hash } = serde_json::from_slice(line).ok()?;
    Some((seq, Digest::parse(prev_hash)?))
}

/// The member `session` of a record line.
pub(super) fn session(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        session: String,
    }
    serde_json::from_slice(line).ok().map(|Named { session }| session)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[track_caller]
    fn check(line: &str, want: Option<u64>) {
        let line = line.replace('#', HASH);
        let want = want.map(|seq| Head { seq, hash: Digest::of(b"abc"), offset: 9 });
        assert_eq!(head(line.as_bytes(), 9), want, "{line}");
    }

    #[test]
    fn only_the_outer_members_count() {
        check(r##"{"hash":"#","seq":7}"##, Some(7));
        check("{\"hash\":\"#\",\"seq\":7}\n", Some(7));
        check(r##"{"data":{"hash":"00","seq":1},"hash":"#","seq":7,"target":{"hash":"11"}}"##, Some(7));
        check(r##"{"data":"\"hash\":\"00\"","hash":"#","seq":7}"##, Some(7));
    }

    #[test]
    fn what_is_no_record_has_no_head() {
        check(r##"{"hash":"#"}"##, None);
        check(r##"{"hash":"#","seq":-1}"##, None);
        check(r##"{"hash":"#","seq":7,"seq":8}"##, None);
        check(r##"{"hash":"abc","seq":7}"##, None);
        check(r##"{"hash":"#","seq":7}{"##, None);
        check("", None);
        check("\0\0\0\0", None);
    }

    #[test]
    fn deep_nesting_does_not_overflow() {
        let deep = "[".repeat(1 << 19);
        check(&format!(r##"{{"data":{deep},"hash":"#","seq":7}}"##), None);
        let closed = format!("{}{}", "[".repeat(1 << 18), "]".repeat(1 << 18));
        check(&format!(r##"{{"data":{closed},"hash":"#","seq":7}}"##), Some(7));
    }
}
