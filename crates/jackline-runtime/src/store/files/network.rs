//! Whether a store lies on a network file system, where locks may hold on one machine only.

use std::path::Path;

/// File systems that other machines write to as well. `fuse.sshfs` does not even pass locks on.
const NETWORK: [&str; 10] = ["nfs", "nfs4", "cifs", "smb3", "smb2", "smbfs", "9p", "fuse.sshfs", "ceph", "afs"];

/// The kind of network file system that `root`, or the nearest directory above it that exists, lies on.
///
/// Best effort: `None` also when it cannot be told.
#[must_use]
pub fn network_file_system(root: &Path) -> Option<String> {
    let there = root.ancestors().find_map(|path| path.canonicalize().ok())?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let kind = file_system(&mounts, &there)?;
    NETWORK.contains(&kind).then(|| kind.to_owned())
}

/// The type of the innermost mount that holds `path`; of two at one place, the later hides the earlier.
fn file_system<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let holds = |line: &'a str| {
        let (mount, source) = line.split_once(" - ")?;
        let point = unescape(mount.split(' ').nth(4)?);
        let kind = source.split(' ').next()?;
        path.starts_with(&point).then_some((point.len(), kind))
    };
    mounts.lines().filter_map(holds).max_by_key(|(len, _)| *len).map(|(_, kind)| kind)
}

/// Mount points are written with `\040` for a space and the like.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let escape = part.split_at_checked(3);
        match escape.and_then(|(digits, rest)| Some((u8::from_str_radix(digits, 8).ok()?, rest))) {
            Some((byte, rest)) => {
                plain.push(char::from(byte));
                plain.push_str(rest);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:26 / /home rw shared:3 - nfs4 server:/home rw,vers=4.2
31 30 0:27 / /home/my\\040disk rw - ext4 /dev/vdb rw
32 22 0:28 / /mnt/far rw - tmpfs tmpfs rw
33 22 0:29 / /mnt/far rw - fuse.sshfs me@far: rw
";

    #[track_caller]
    fn check(path: &str, want: &str) {
        assert_eq!(file_system(MOUNTS, Path::new(path)), Some(want), "{path}");
    }

    #[test]
    fn the_innermost_mount_counts() {
        check("/var/lib", "ext4");
        check("/home/dev/.local/state", "nfs4");
        check("/homework", "ext4");
        check("/home/my disk/x", "ext4");
        check("/mnt/far/x", "fuse.sshfs");
    }

    #[test]
    fn a_root_that_does_not_exist_yet_is_judged_by_what_is_above_it() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(network_file_system(&dir.path().join("none/below")), network_file_system(dir.path()));
    }
}
