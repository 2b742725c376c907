//! States kept by content: the file's name is the digest of what is in it, so writing one twice is writing it once.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use jackline_core::sha::Digest;
use rustix::fs::{AtFlags, Dir, OFlags};
use rustix::io::Errno;

use super::disk;
use super::place::{self, Place, SNAPSHOTS};
use crate::store::{SNAPSHOTS_MAX, STATE_BYTES_MAX, StoreFault, Sync, within};

/// Names looked at in the directory: ours are few, so more means that someone else uses it.
const NAMES_MAX: usize = 4096;

pub(super) fn put(place: &Place, state: &[u8]) -> Result<Digest, StoreFault> {
    within("state", state.len(), STATE_BYTES_MAX)?;
    let (_, own) = place.create(Sync::Full)?;
    let unwritable = |error| StoreFault::unwritable(&place.path(SNAPSHOTS), error);
    let directory = place::directory(&own, SNAPSHOTS).map_err(unwritable)?;
    let digest = Digest::of(state);
    let kept = digests(&directory).map_err(unwritable)?;
    if !kept.contains(&digest) && kept.len() >= SNAPSHOTS_MAX {
        return Err(StoreFault::TooMany { what: "snapshots", max: SNAPSHOTS_MAX });
    }
    write(&directory, &digest.hex(), state).map_err(|error| StoreFault::unwritable(&path(place, &digest), error))?;
    for directory in [directory, own] {
        let synced = File::from(directory).sync_all();
        synced.map_err(|error| StoreFault::unwritable(&place.path(SNAPSHOTS), error))?;
    }
    Ok(digest)
}

fn write(directory: &OwnedFd, name: &str, state: &[u8]) -> std::io::Result<()> {
    let file = File::from(place::open_at(directory, name, place::CREATE)?);
    let written = disk::write_all_at(&file, state, 0)
        .and_then(|()| disk::cut(&file, state.len() as u64))
        .and_then(|()| disk::sync(&file));
    if written.is_err() {
        // A broken one would be noticed when it is read, but it would count until then.
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
    }
    written
}

pub(super) fn get(place: &Place, digest: &Digest) -> Result<Option<Vec<u8>>, StoreFault> {
    let Some(root) = place.root()? else { return Ok(None) };
    let unreadable = |error| StoreFault::unreadable(&path(place, digest), error);
    let opened = place.open(&root, &[SNAPSHOTS, &digest.hex()], place::READ);
    let Some(file) = opened.map_err(|error| unreadable(error.into()))? else { return Ok(None) };
    // One byte more than allowed, so that a longer file does not pass for its beginning.
    let mut bytes = vec![0; STATE_BYTES_MAX + 1];
    let read = disk::read_at(&file, &mut bytes, 0).map_err(unreadable)?;
    bytes.truncate(read);
    if Digest::of(&bytes) != *digest {
        return Err(StoreFault::corrupt(&place.session, 0, "a snapshot is not what its name says"));
    }
    Ok(Some(bytes))
}

pub(super) fn remove(place: &Place, digest: &Digest) -> Result<(), StoreFault> {
    let Some(directory) = directory(place)? else { return Ok(()) };
    match rustix::fs::unlinkat(&directory, digest.hex(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(StoreFault::unwritable(&path(place, digest), error)),
    }
}

pub(super) fn list(place: &Place) -> Result<Vec<Digest>, StoreFault> {
    let Some(directory) = directory(place)? else { return Ok(Vec::new()) };
    digests(&directory).map_err(|error| StoreFault::unreadable(&place.path(SNAPSHOTS), error))
}

fn directory(place: &Place) -> Result<Option<OwnedFd>, StoreFault> {
    let Some(root) = place.root()? else { return Ok(None) };
    let opened = place.open(&root, &[SNAPSHOTS], place::READ.union(OFlags::DIRECTORY));
    let opened = opened.map_err(|error| StoreFault::unreadable(&place.path(SNAPSHOTS), error))?;
    Ok(opened.map(OwnedFd::from))
}

fn digests(directory: &OwnedFd) -> Result<Vec<Digest>, Errno> {
    let mut digests = Vec::new();
    for entry in Dir::read_from(directory)?.take(NAMES_MAX) {
        digests.extend(entry?.file_name().to_str().ok().and_then(Digest::parse));
    }
    digests.sort_unstable();
    Ok(digests)
}

fn path(place: &Place, digest: &Digest) -> PathBuf {
    place.path(SNAPSHOTS).join(digest.hex())
}
