//! Where the program is played to: on a disk, as an agent's files are, and outside of any repository, since the program finds
//! one around it, whatever a way of the play says.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// How the systems of files are called that are no disk.
const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// A place of its own, which goes with what is returned.
pub(super) fn made() -> Result<TempDir, String> {
    // The first lies on a disk nearly everywhere.
    let candidates = [PathBuf::from("/var/tmp"), std::env::temp_dir()];
    let mounted = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fit = candidates.iter().filter_map(|candidate| candidate.canonicalize().ok());
    let mut fit = fit.filter(|candidate| !is_in_repository(candidate) && !is_in_memory(candidate, &mounted));
    let made = |candidate: PathBuf| tempfile::Builder::new().prefix("jackline-played-").tempdir_in(candidate).ok();
    let nowhere = "no directory on a disk and outside of repositories is there to play in: name one by `TMPDIR`";
    fit.find_map(made).ok_or_else(|| nowhere.to_owned())
}

fn is_in_repository(place: &Path) -> bool {
    place.ancestors().any(|above| above.join(".git").exists())
}

/// Whether the last system that is mounted at this place, or nearest above it, is none of a disk.
fn is_in_memory(place: &Path, mounted: &str) -> bool {
    let fields = mounted.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    let around = fields.filter(|(at, _)| place.starts_with(at));
    let nearest = around.max_by_key(|(at, _)| at.components().count());
    nearest.is_some_and(|(_, kind)| MEMORY.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_memory_is_told_by_the_nearest_mount() {
        let mounted =
            "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/disk ext4 rw 0 0\ntmpfs /x tmpfs rw 0 0\n";
        let is_in_memory = |place: &str| is_in_memory(Path::new(place), mounted);
        assert!(is_in_memory("/tmp/a") && is_in_memory("/tmp") && is_in_memory("/x"));
        assert!(!is_in_memory("/tmp/disk/a") && !is_in_memory("/tmpa") && !is_in_memory("/"));
    }

    #[test]
    fn what_lies_in_a_repository_is_told_by_what_is_above_it() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir_all(scratch.path().join("a/.git")).unwrap();
        fs::create_dir_all(scratch.path().join("a/b")).unwrap();
        assert!(is_in_repository(&scratch.path().join("a/b")));
        assert!(!is_in_repository(&made().unwrap().path().canonicalize().unwrap()));
    }
}
