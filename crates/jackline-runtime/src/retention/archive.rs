//! Where retired records are moved: one file a session, which goes on with each retirement and verifies like an export.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jackline_core::sha::Digest;

use crate::private;
use crate::store::{Head, RECORD_BYTES_MAX, Store, StoreFault, link};

/// Files of one session: a new one begins where the records before are elsewhere, which happens once in a while.
const FILES_MAX: u32 = 1_000;

/// A directory of retired records.
#[derive(Debug, Clone)]
pub struct Archive {
    dir: PathBuf,
}

/// Why records could not be archived. Then nothing was retired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveFault {
    #[error("cannot write `{}`: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("`{}` lies in the store itself", .0.display())]
    Inside(PathBuf),
    #[error("`{}` has more files of one session than {FILES_MAX}", .0.display())]
    TooMany(PathBuf),
}

/// How a file of the archive stands to the records that are to be added.
enum Fits {
    /// It has nothing of them, and may take them all.
    Empty,
    /// It has those up to this number.
    UpTo(u64),
    /// It holds something else.
    Not,
}

impl Archive {
    /// The archive in a directory, which is made where it is missing.
    ///
    /// # Errors
    /// When it cannot be made, or lies among what may be retired.
    pub fn at(dir: &Path, sessions: &Path) -> Result<Self, ArchiveFault> {
        let unwritable = |source| ArchiveFault::Unwritable { path: dir.to_owned(), source };
        private::create_dir(dir).map_err(unwritable)?;
        let dir = dir.canonicalize().map_err(unwritable)?;
        if sessions.canonicalize().is_ok_and(|sessions| dir.starts_with(sessions)) {
            return Err(ArchiveFault::Inside(dir));
        }
        Ok(Self { dir })
    }

    /// Adds the records of a session up to `last`; the file that has them, durable.
    pub(super) fn add(&self, store: &dyn Store, session: &str, last: Head) -> Result<PathBuf, super::RetentionFault> {
        let name = Digest::of(session.as_bytes()).hex();
        for number in 1..=FILES_MAX {
            let file = if number == 1 { format!("{name}.jsonl") } else { format!("{name}.{number}.jsonl") };
            let path = self.dir.join(file);
            let unwritable = |source| ArchiveFault::Unwritable { path: path.clone(), source };
            let mut file = open(&path).map_err(unwritable)?;
            let from = match fits(&mut file, store, session, last)? {
                Fits::Not => continue,
                Fits::Empty => 0,
                Fits::UpTo(seq) => seq,
            };
            append(&mut file, store, session, (from, last.seq))?.map_err(unwritable)?;
            let synced = file.sync_all().and_then(|()| File::open(&self.dir)?.sync_all());
            synced.map_err(unwritable)?;
            return Ok(path);
        }
        Err(ArchiveFault::TooMany(self.dir.clone()).into())
    }

    /// Moves a file of signed heads there.
    pub(super) fn take_checkpoints(&self, session: &str, kept: &Path) -> io::Result<()> {
        let Ok(bytes) = std::fs::read(kept) else { return Ok(()) };
        let path = self.dir.join(format!("{}.checkpoints.jsonl", Digest::of(session.as_bytes())));
        let mut file = open(&path)?;
        file.seek(io::SeekFrom::End(0))?;
        file.write_all(&bytes)?;
        file.sync_all()
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(i32::try_from(flags).unwrap_or_default()).open(path)
}

/// Looks how far a file has the session's records, and cuts what a crash left of a write.
fn fits(file: &mut File, store: &dyn Store, session: &str, last: Head) -> Result<Fits, StoreFault> {
    let Ok(Some(kept)) = held(file, last.seq) else { return Ok(Fits::Not) };
    let Some((seq, hash)) = kept else { return Ok(Fits::Empty) };
    for line in store.lines(session, 0)? {
        let line = line?;
        let same = link::head(&line, 0).filter(|head| head.seq == seq).map(|head| head.hash == hash);
        let follows = link::before(&line).filter(|(next, _)| *next == seq + 1).map(|(_, before)| before == hash);
        match same.or(follows) {
            None => {}
            Some(true) => return Ok(Fits::UpTo(seq)),
            Some(false) => return Ok(Fits::Not),
        }
    }
    Ok(Fits::Not)
}

/// The last record of a file that is not behind `seq`; the file is cut after its last whole line. Nothing when it holds
/// anything but records.
fn held(file: &mut File, seq: u64) -> io::Result<Option<Option<(u64, Digest)>>> {
    let (mut kept, mut end) = (None, 0);
    file.rewind()?;
    let mut reader = BufReader::new(&mut *file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(RECORD_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        let Some(head) = link::head(&line, 0) else { return Ok(None) };
        if head.seq <= seq {
            kept = Some((head.seq, head.hash));
        }
        end += read as u64;
    }
    drop(reader);
    file.set_len(end)?;
    Ok(Some(kept))
}

/// Appends the records behind `from` up to `to`.
fn append(
    file: &mut File,
    store: &dyn Store,
    session: &str,
    (from, to): (u64, u64),
) -> Result<io::Result<()>, StoreFault> {
    if let Err(error) = file.seek(io::SeekFrom::End(0)) {
        return Ok(Err(error));
    }
    let mut out = io::BufWriter::new(file);
    for line in store.lines(session, 0)? {
        let line = line?;
        let seq = link::head(&line, 0).map_or(0, |head| head.seq);
        if seq > to {
            break;
        }
        if seq > from
            && let Err(error) = out.write_all(&line).and_then(|()| out.write_all(b"\n"))
        {
            return Ok(Err(error));
        }
    }
    Ok(out.flush())
}
