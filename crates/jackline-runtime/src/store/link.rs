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

/// The head that a log has when `line` follows `head`: it links to it, and is what its own hash says. Whole records only:
/// a canonical one without its hash is the line without that member.
pub(super) fn after(head: Head, line: &[u8]) -> Option<Head> {
    if before(line)? != (head.seq.checked_add(1)?, head.hash) || !line.ends_with(b"\n") {
        return None;
    }
    let Link { seq, hash } = serde_json::from_slice(line).ok()?;
    let digest = Digest::parse(hash)?;
    let start = (hash.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?.checked_sub(MEMBER.len())?;
    let (name, rest) = line.get(start..)?.split_at_checked(MEMBER.len())?;
    let rest = rest.get(hash.len()..)?.strip_prefix(b"\",")?.strip_suffix(b"\n")?;
    let is_own = name == MEMBER && Digest::of(&[line.get(..start)?, rest].concat()) == digest;
    is_own.then_some(Head { seq, hash: digest, offset: head.offset + line.len() as u64 })
}

/// How the member begins that holds a record's hash. Members are sorted, so it is never the last.
const MEMBER: &[u8] = b"\"hash\":\"";

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
