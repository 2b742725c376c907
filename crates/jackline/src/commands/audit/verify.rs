//! `jackline audit verify`: whether the log is what was written.

mod retired;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use jackline_core::audit::{Broken, CHECKPOINT_BYTES_MAX, Checkpoint, Format, Summary, Verifier};
use jackline_core::sha::Digest;
use jackline_runtime::checkpoint::{self, SignFault};
use jackline_runtime::replay;
use jackline_runtime::retention::Graves;
use jackline_runtime::store::files::FileStore;
use jackline_runtime::store::{RECORD_BYTES_MAX, Store as _};
use serde_json::Value;

use crate::error::CommandError;
use crate::place::Where;
use crate::{screen, timeline};

/// Bytes of a line of an export that are read; a longer one is no record.
const LINE_BYTES_MAX: u64 = 2 * RECORD_BYTES_MAX as u64;

/// Check an export, or the store: every record's hash and link
///
/// Exits with 0 when every chain holds and 1 when one is broken, naming the first broken record. What it cannot see
/// by itself is a chain that was cut at its end or forged as a whole: give it a head that was kept elsewhere. What
/// `jackline store gc` retired is told; with a known head, one that is younger must stand behind that.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// An export (`-` for standard input); without it, the store
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only this session of the store
    #[arg(long, value_name = "SESSION", conflicts_with = "file")]
    session: Option<String>,
    /// A head that was noted elsewhere: the chain must hold this record
    #[arg(long, value_name = "SESSION:SEQ:HASH")]
    head: Vec<String>,
    /// Signed checkpoints, one per line: the chain must hold the records they name
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// The public key (hexadecimal) that checkpoints must be signed with
    #[arg(long, value_name = "HEX")]
    public_key: Option<String>,
    #[command(flatten)]
    at: Where,
}

impl Verify {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let mut heads = self.heads()?;
        for file in &self.checkpoint {
            let signed = self.signed(file, Others::Refused)?;
            if signed.is_empty() {
                let why = format!("`{}` holds no checkpoint", file.display());
                return Err(CommandError::input(why).hint("`jackline audit checkpoint` prints one"));
            }
            heads.extend(signed);
        }
        let outcome = match &self.file {
            Some(file) => verify_export(file, &heads)?
                .map(|summary| Verified { gone: Vec::new(), summary })
                .map_err(|broken| describe(&broken)),
            None => self.verify_store(&mut heads)?,
        };
        match outcome {
            Ok(verified) => {
                let unvouched = show(&verified, &heads)?;
                if unvouched { Err(CommandError::not_fine()) } else { Ok(()) }
            }
            Err(broken) => {
                screen::line(&broken)?;
                Err(CommandError::not_fine())
            }
        }
    }

    fn heads(&self) -> Result<Vec<Known>, CommandError> {
        let parse = |text: &String| {
            let mut parts = text.rsplitn(3, ':');
            let hash = parts.next().and_then(Digest::parse)?;
            let seq = parts.next()?.parse().ok()?;
            Some(Known { session: parts.next()?.to_owned(), seq, hash })
        };
        let bad = |text: &String| {
            CommandError::input(format!("`{text}` is no head"))
                .hint("write it as SESSION:SEQ:HASH, the hash with 64 digits")
        };
        self.head.iter().map(|text| parse(text).ok_or_else(|| bad(text))).collect()
    }

    /// The heads that checkpoints vouch for.
    fn signed(&self, file: &Path, others: Others) -> Result<Vec<Known>, CommandError> {
        let trusted = self.trusted()?;
        let mut known = Vec::new();
        for line in BufReader::new(open(file)?).split(b'\n') {
            let line = line?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let signed = line.get(..CHECKPOINT_BYTES_MAX.min(line.len())).unwrap_or_default();
            let refused = |why: String| format!("a checkpoint in `{}` does not hold: {why}", file.display());
            let point = Checkpoint::parse(signed).map_err(|fault| CommandError::input(refused(fault.to_string())))?;
            match checkpoint::verify(&point, trusted.as_ref()) {
                Err(SignFault::WrongKey) if others == Others::PassedOver => continue,
                Err(fault) => return Err(CommandError::found(refused(fault.to_string()))),
                Ok(_) => {}
            }
            known.push(Known { session: point.session, seq: point.seq, hash: point.hash });
        }
        Ok(known)
    }

    fn trusted(&self) -> Result<Option<[u8; 32]>, CommandError> {
        let Some(text) = &self.public_key else { return Ok(None) };
        Digest::parse(text)
            .map(|key| Some(key.0))
            .ok_or_else(|| CommandError::input("the public key must have 64 hexadecimal digits"))
    }

    /// The heads of the checkpoints that the store itself keeps.
    fn kept_heads(&self) -> Result<Vec<Known>, CommandError> {
        let mut heads = Vec::new();
        for file in checkpoint::kept_below(&self.at.state()?).files()? {
            heads.extend(self.signed(&file, Others::PassedOver)?);
        }
        Ok(heads)
    }

    /// What holds, or what is broken first.
    fn verify_store(&self, heads: &mut Vec<Known>) -> Result<Result<Verified, String>, CommandError> {
        let store = self.at.files()?;
        heads.extend(self.kept_heads()?);
        let ids: Vec<String> = match &self.session {
            Some(named) => vec![named.clone()],
            None => store.sessions()?.into_iter().map(|entry| entry.id).collect(),
        };
        if let Some(named) = self.session.as_ref().filter(|named| !heads.iter().any(|known| known.session == **named)) {
            super::log::chosen(&store, &self.at, Some(named))?;
        }
        let graves = Graves::of(&store)?;
        let mut all = Verified::default();
        // A session of which only a head is left is looked for too: its whole log is what was cut.
        for id in with_heads(ids, heads, self.session.as_deref()) {
            let known: Vec<&Known> = heads.iter().filter(|known| known.session == id).collect();
            let (known, gone) = match retired::split(&store, known, graves.session(&id))? {
                Ok(split) => split,
                Err(broken) => return Ok(Err(describe(&broken))),
            };
            all.gone.extend(gone);
            match verify_session(&store, &id, &known)? {
                Ok(summary) => all.summary.sessions.extend(summary.sessions),
                Err(broken) => return Ok(Err(describe(&broken))),
            }
        }
        Ok(match self.session.is_none().then(|| odd_of(&store)).transpose()?.flatten() {
            Some(odd) => Err(odd),
            None => Ok(all),
        })
    }
}

/// What becomes of checkpoints that another key signed than the trusted one. Those that the store keeps are signed with its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    Refused,
    PassedOver,
}

/// What holds, and what is known of sessions that were retired whole.
#[derive(Default)]
struct Verified {
    summary: Summary,
    gone: Vec<retired::GoneHead>,
}

/// What is wrong with the first place of a session's that has a log and no session.
pub(crate) fn odd_of(store: &FileStore) -> Result<Option<String>, CommandError> {
    let odd = store.odd_sessions()?.into_iter().next();
    Ok(odd.map(|odd| format!("broken: `{}`: {}", odd.directory.display(), odd.why)))
}

/// Verifies these sessions of a store, against the checkpoints that it keeps; what is broken about the first that is.
pub(crate) fn broken_of(at: &Where, ids: &[String]) -> Result<Option<String>, CommandError> {
    let nothing_named = Verify {
        file: None,
        session: None,
        head: Vec::new(),
        checkpoint: Vec::new(),
        public_key: None,
        at: at.clone(),
    };
    let (store, heads) = (at.files()?, nothing_named.kept_heads()?);
    for id in ids {
        let known: Vec<&Known> = heads.iter().filter(|known| known.session == *id).collect();
        if let Err(broken) = verify_session(&store, id, &known)? {
            return Ok(Some(describe(&broken)));
        }
    }
    Ok(None)
}

fn with_heads(mut ids: Vec<String>, heads: &[Known], only: Option<&str>) -> Vec<String> {
    let named = heads.iter().map(|known| known.session.clone());
    ids.extend(named.filter(|session| only.is_none_or(|only| only == session)));
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn verify_session(store: &FileStore, id: &str, heads: &[&Known]) -> Result<Result<Summary, Broken>, CommandError> {
    let mut verifier = heads.iter().copied().fold(Verifier::new(Format::Ours), Known::told);
    for line in store.lines(id, 0)? {
        if let Err(broken) = verifier.line(&line?) {
            return Ok(Err(broken));
        }
    }
    let tail = store.unfinished(id)?;
    if let Some(unended) = unended(id, &tail) {
        return Ok(Err(unended));
    }
    if !tail.is_empty() {
        let shown = timeline::shown(id);
        screen::complain(&format!(
            "note: {shown}: {} bytes of an unfinished record follow; the next event cuts them off and records it",
            tail.len()
        ));
    }
    match verifier.finish() {
        Ok(summary) => Ok(match retired::changed(store, &summary)? {
            Some(changed) => Err(changed),
            None => Ok(summary),
        }),
        broken => Ok(broken),
    }
}

/// A whole record without its line end: a crash leaves the beginning of one, so somebody changed its last byte.
fn unended(session: &str, tail: &[u8]) -> Option<Broken> {
    let but_last = tail.get(..tail.len().saturating_sub(1)).unwrap_or_default();
    let record = replay::record(tail).or_else(|_| replay::record(but_last)).ok()?;
    let seq = record.get("seq").and_then(Value::as_u64);
    let why = "it is not ended by a line end".to_owned();
    Some(Broken { line: seq.unwrap_or_default(), seq, session: Some(session.to_owned()), why })
}

/// A head that was kept elsewhere.
struct Known {
    session: String,
    seq: u64,
    hash: Digest,
}

impl Known {
    fn told(verifier: Verifier, known: &Self) -> Verifier {
        verifier.expecting(&known.session, known.seq, known.hash)
    }
}

fn verify_export(file: &Path, heads: &[Known]) -> Result<Result<Summary, Broken>, CommandError> {
    let mut input: Box<dyn BufRead> =
        if file.as_os_str() == "-" { Box::new(io::stdin().lock()) } else { Box::new(BufReader::new(open(file)?)) };
    let mut verifier = heads.iter().fold(Verifier::new(Format::Foreign), Known::told);
    let mut line = Vec::new();
    loop {
        line.clear();
        if io::Read::by_ref(&mut input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(verifier.finish());
        }
        if let Err(broken) = verifier.line(&line) {
            return Ok(Err(broken));
        }
    }
}

fn open(file: &Path) -> Result<File, CommandError> {
    let unreadable = |why: String| CommandError::input(format!("`{}` cannot be read: {why}", file.display()));
    let opened = File::open(file).map_err(|fault| unreadable(fault.to_string()))?;
    let directory = opened.metadata().is_ok_and(|there| there.is_dir());
    if directory { Err(unreadable("it is a directory".to_owned())) } else { Ok(opened) }
}

/// Shows what holds and what is missing; whether known heads do not stand behind something that is.
fn show(Verified { summary, gone }: &Verified, heads: &[Known]) -> io::Result<bool> {
    let mut unvouched = false;
    for chain in &summary.sessions {
        let shown = timeline::shown(&chain.session);
        screen::line(&format!("{shown}: {} records, head #{} {}", chain.records, chain.seq, chain.head))?;
        if let Some(retired) = &chain.retired {
            let doubted = !retired.vouched && heads.iter().any(|known| known.session == chain.session);
            retired::words(retired, doubted).iter().try_for_each(|line| screen::line(&format!("  {line}")))?;
            unvouched |= doubted;
        }
    }
    for gone in gone {
        let doubted = !gone.is_vouched(heads);
        screen::line(&gone.words(doubted))?;
        unvouched |= doubted;
    }
    let count = summary.sessions.len();
    match (count, gone.len()) {
        (0, 0) => screen::line("there is no record to verify")?,
        (0, _) => screen::line("there is no record left to verify")?,
        _ => screen::line(&format!("{count} {} verified", if count == 1 { "chain" } else { "chains" }))?,
    }
    Ok(unvouched)
}

fn describe(broken: &Broken) -> String {
    let session =
        broken.session.as_deref().map(|id| format!(" of session {}", timeline::shown(id))).unwrap_or_default();
    match broken.seq {
        Some(seq) => format!("broken at record {seq}{session} (line {}): {}", broken.line, broken.why),
        None => format!("broken at line {}{session}: {}", broken.line, broken.why),
    }
}
