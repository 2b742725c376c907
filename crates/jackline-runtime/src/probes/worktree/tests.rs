//! Work trees of real repositories: what counts as the same, what as a change, and what hostile ones cannot do.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use tempfile::TempDir;

use super::*;

/// A repository with one commit of `a` and `d/b`, and a home without settings.
struct World {
    dir: TempDir,
}

impl World {
    fn bare() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.at("home")).unwrap();
        fs::create_dir_all(world.at("ws")).unwrap();
        world
    }

    fn new() -> Self {
        let world = Self::bare();
        world.git("ws", &["init", "-q", "-b", "main"]);
        fs::create_dir(world.at("ws/d")).unwrap();
        world.write("ws/a", "one\n");
        world.write("ws/d/b", "two\n");
        world.commit("ws");
        world
    }

    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) {
        fs::write(self.at(path), text).unwrap();
    }

    #[track_caller]
    fn git(&self, dir: &str, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "protocol.file.allow=always"]);
        command.args(words).current_dir(self.at(dir)).env("HOME", self.at("home"));
        for inherited in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(inherited);
        }
        let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, dir: &str) {
        self.git(dir, &["add", "-A"]);
        self.git(dir, &["commit", "-q", "-m", "m", "--allow-empty"]);
    }

    fn seen(&self, root: &str) -> Fact {
        let root = self.at(root);
        answer(&Git::find(&root, Some(&self.at("home"))).unwrap(), &root)
    }

    #[track_caller]
    fn digest(&self) -> Digest {
        match self.seen("ws") {
            Fact::Content(Some(digest)) => digest,
            fact => panic!("{fact:?}"),
        }
    }

    /// Everything git keeps of the repository, with its time of change.
    fn kept(&self) -> BTreeMap<PathBuf, (u64, i64, i64)> {
        let mut open = vec![self.at("ws/.git")];
        let mut kept = BTreeMap::new();
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let meta = entry.metadata().unwrap();
                if meta.is_dir() {
                    open.push(entry.path());
                }
                kept.insert(entry.path(), (meta.len(), meta.mtime(), meta.mtime_nsec()));
            }
        }
        kept
    }
}

/// A change of the work tree and whether it must be seen.
#[track_caller]
fn check(what: &str, seen: bool, change: impl FnOnce(&World)) {
    let world = World::new();
    let before = world.digest();
    assert_eq!(world.digest(), before, "{what}: not stable");
    change(&world);
    assert_eq!(world.digest() != before, seen, "{what}");
}

#[test]
fn what_git_is_told_changes_nothing() {
    let world = World::new();
    world.write("ws/a", "edited\n");
    world.write("ws/new", "untracked\n");
    fs::remove_file(world.at("ws/d/b")).unwrap();
    symlink("a", world.at("ws/link")).unwrap();
    fs::set_permissions(world.at("ws/new"), fs::Permissions::from_mode(0o755)).unwrap();
    let edited = world.digest();
    let steps: [&[&str]; 8] = [
        &["add", "a"],
        &["add", "-A"],
        &["commit", "-q", "-m", "m"],
        &["reset", "-q", "--soft", "HEAD~1"],
        &["reset", "-q"],
        &["add", "--intent-to-add", "new"],
        &["update-index", "--assume-unchanged", "a"],
        &["update-index", "--refresh", "-q", "--really-refresh", "--ignore-missing"],
    ];
    for step in steps {
        if step.contains(&"--refresh") {
            // Reports what needs an update by its exit code.
            let _ = Command::new("git").args(step).current_dir(world.at("ws")).output().unwrap();
        } else {
            world.git("ws", step);
        }
        assert_eq!(world.digest(), edited, "{step:?}");
    }
}

#[test]
fn no_change_is_no_change() {
    check("touch", false, |world| {
        let file = fs::File::options().append(true).open(world.at("ws/a")).unwrap();
        file.set_modified(std::time::SystemTime::now() + Duration::from_secs(9)).unwrap();
    });
    check("rewrite", false, |world| world.write("ws/a", "one\n"));
    check("replace", false, |world| {
        fs::remove_file(world.at("ws/a")).unwrap();
        world.write("ws/a", "one\n");
    });
    check("empty commit", false, |world| world.commit("ws"));
    check("empty directory", false, |world| fs::create_dir(world.at("ws/empty")).unwrap());
    check("branch", false, |world| world.git("ws", &["checkout", "-q", "-b", "other"]));
}

#[test]
fn every_change_is_seen() {
    check("edit", true, |world| world.write("ws/a", "uno\n"));
    check("edit below", true, |world| world.write("ws/d/b", "zwo\n"));
    check("new file", true, |world| world.write("ws/new", ""));
    check("delete", true, |world| fs::remove_file(world.at("ws/a")).unwrap());
    check("delete all", true, |world| fs::remove_dir_all(world.at("ws/d")).unwrap());
    check("rename", true, |world| fs::rename(world.at("ws/a"), world.at("ws/c")).unwrap());
    check("swap", true, |world| {
        world.write("ws/a", "two\n");
        world.write("ws/d/b", "one\n");
    });
    check("chmod", true, |world| {
        fs::set_permissions(world.at("ws/a"), fs::Permissions::from_mode(0o755)).unwrap();
    });
    check("link", true, |world| {
        fs::rename(world.at("ws/a"), world.at("home/a")).unwrap();
        symlink(world.at("home/a"), world.at("ws/a")).unwrap();
    });
    check("file for a directory", true, |world| {
        fs::remove_dir_all(world.at("ws/d")).unwrap();
        world.write("ws/d", "");
    });
    check("directory for a file", true, |world| {
        fs::remove_file(world.at("ws/a")).unwrap();
        fs::create_dir(world.at("ws/a")).unwrap();
        world.write("ws/a/x", "one\n");
    });
}

#[test]
fn hidden_changes_are_seen() {
    check("time set back", true, |world| {
        let time = fs::metadata(world.at("ws/a")).unwrap().modified().unwrap();
        world.write("ws/a", "uno\n");
        fs::File::options().append(true).open(world.at("ws/a")).unwrap().set_modified(time).unwrap();
    });
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        check(flag, true, |world| {
            world.git("ws", &["update-index", flag, "a"]);
            world.write("ws/a", "uno\n");
        });
    }
    check("excluded", true, |world| {
        world.write("ws/new", "");
        world.write("ws/.git/info/exclude", "new\n");
    });
    check("below what git takes for another repository", true, |world| {
        let link = "160000,5716ca5987cbf97d6bb54920bea6adde242d87e6,deep";
        world.git("ws", &["update-index", "--add", "--cacheinfo", link]);
        fs::create_dir(world.at("ws/deep")).unwrap();
        let before = world.digest();
        world.write("ws/deep/x", "1");
        let there = world.digest();
        assert_ne!(there, before);
        world.write("ws/deep/x", "2");
        assert_ne!(world.digest(), there);
    });
    check("a name in other letters", true, |world| {
        world.git("ws", &["config", "core.ignorecase", "true"]);
        world.write("ws/A", "uno\n");
    });
    check("in a repository that says its work tree is elsewhere", true, |world| {
        world.git("ws", &["init", "-q", "new"]);
        fs::create_dir(world.at("empty")).unwrap();
        let empty = world.at("empty").display().to_string();
        world.git("ws/new", &["config", "core.worktree", &empty]);
        let before = world.digest();
        world.write("ws/new/x", "1");
        assert_ne!(world.digest(), before);
    });
    check("no longer tracked, and ignored", true, |world| {
        world.write("ws/.gitignore", "a\n.gitignore\n");
        world.git("ws", &["rm", "-q", "--cached", "a"]);
    });
}

#[test]
fn an_edit_right_after_staging_is_seen() {
    let world = World::new();
    for n in 0..20 {
        world.write("ws/a", &format!("{n:04}\n"));
        world.git("ws", &["add", "a"]);
        let staged = world.digest();
        world.write("ws/a", &format!("{:04}\n", n + 5000));
        assert_ne!(world.digest(), staged, "{n}");
    }
}

#[test]
fn ignored_files_do_not_count() {
    let world = World::new();
    world.write("ws/.gitignore", "*.log\n");
    let before = world.digest();
    world.write("ws/x.log", "1");
    assert_eq!(world.digest(), before);
}

#[test]
fn odd_names_are_names() {
    let names: [&[u8]; 11] = [
        b"with space",
        b"new\nline",
        b"return\r",
        b"\"quoted\"",
        b"-dash",
        b"tab\there",
        b"back\\slash",
        b"\xff\xfe",
        b" lead",
        b"\xc3\xa9",
        b"100644 aa 0",
    ];
    for name in names {
        let world = World::new();
        let path = Path::new("ws").join(OsStr::from_bytes(name));
        let before = world.digest();
        world.write(&path, "1");
        let there = world.digest();
        assert_ne!(there, before, "{name:?}");
        world.git("ws", &["add", "-A"]);
        assert_eq!(world.digest(), there, "{name:?}");
        world.commit("ws");
        assert_eq!(world.digest(), there, "{name:?}");
        world.write(&path, "2");
        assert_ne!(world.digest(), there, "{name:?}");
    }
}

#[test]
fn nothing_configured_is_run_and_nothing_is_written() {
    let world = World::new();
    let mark = world.at("mark");
    let run = format!("touch {}; cat", mark.display());
    let settings = [
        ("core.fsmonitor", &run),
        ("diff.external", &run),
        ("core.pager", &run),
        ("core.sshCommand", &run),
        ("filter.evil.clean", &run),
        ("filter.evil.smudge", &run),
        ("filter.evil.process", &run),
        ("diff.evil.textconv", &run),
        ("diff.evil.command", &run),
        ("alias.ls-files", &format!("!{run}")),
    ];
    for (name, value) in settings {
        world.git("ws", &["config", name, value]);
    }
    let hooks = world.at("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in ["post-index-change", "pre-commit", "fsmonitor-watchman"] {
        fs::write(hooks.join(hook), format!("#!/bin/sh\n{run}\n")).unwrap();
        fs::set_permissions(hooks.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.git("ws", &["config", "core.hooksPath", hooks.to_str().unwrap()]);
    world.write("ws/.gitattributes", "* filter=evil diff=evil\n");
    world.write("ws/.git/info/attributes", "* filter=evil diff=evil\n");
    // The same size, so that only comparing contents tells the difference.
    world.write("ws/a", "uno\n");
    world.write("ws/new", "new\n");
    let _ = fs::remove_file(&mark);
    let kept = world.kept();
    let digest = world.digest();
    world.write("ws/a", "dos\n");
    assert_ne!(world.digest(), digest);
    assert!(!mark.exists());
    assert_eq!(world.kept(), kept);
    // The trap does work: git left to itself falls into it.
    let _ = Command::new("git").arg("status").current_dir(world.at("ws")).output().unwrap();
    assert!(mark.exists());
}

#[test]
fn without_a_work_tree_there_is_nothing_to_see() {
    let world = World::bare();
    assert_eq!(world.seen("ws"), Fact::Absent);
    world.git("ws", &["init", "-q", "--bare", "."]);
    assert_eq!(world.seen("ws"), Fact::Absent);
    fs::create_dir_all(world.at("other/.git")).unwrap();
    assert_eq!(world.seen("other"), Fact::Absent);
    assert!(matches!(world.seen("gone"), Fact::Unknown(_)));
}

#[test]
fn a_broken_repository_is_unknown() {
    let world = World::new();
    world.write("ws/.git/index", "no index");
    assert!(matches!(world.seen("ws"), Fact::Unknown(_)));
    let world = World::new();
    world.write("ws/.git/config", "[core\n");
    assert!(matches!(world.seen("ws"), Fact::Unknown(_)));
    let world = World::new();
    fs::remove_dir_all(world.at("ws/.git/objects")).unwrap();
    assert!(matches!(world.seen("ws"), Fact::Unknown(_)));
}

#[test]
fn an_empty_repository_has_a_work_tree() {
    let world = World::bare();
    world.git("ws", &["init", "-q"]);
    let empty = world.digest();
    world.write("ws/a", "1");
    assert_ne!(world.digest(), empty);
}

#[test]
fn only_the_part_below_the_root_counts() {
    let world = World::new();
    let below = world.seen("ws/d");
    assert!(matches!(below, Fact::Content(Some(_))));
    world.write("ws/a", "uno\n");
    assert_eq!(world.seen("ws/d"), below);
    world.write("ws/d/b", "dos\n");
    assert_ne!(world.seen("ws/d"), below);
}

#[test]
fn linked_work_trees_have_their_own_index() {
    let world = World::new();
    world.git("ws", &["worktree", "add", "-q", "../linked"]);
    let before = world.seen("linked");
    assert_eq!(before, world.seen("ws"));
    world.write("linked/a", "uno\n");
    let edited = world.seen("linked");
    assert_ne!(edited, before);
    world.commit("linked");
    assert_eq!(world.seen("linked"), edited);
    assert_eq!(world.seen("ws"), before);
}

#[test]
fn submodules_count_by_content() {
    let world = World::new();
    world.git(".", &["clone", "-q", "ws", "origin"]);
    world.git("ws", &["submodule", "--quiet", "add", "../origin", "sub"]);
    world.commit("ws");
    let before = world.digest();
    world.write("ws/sub/a", "uno\n");
    let edited = world.digest();
    assert_ne!(edited, before);
    world.commit("ws/sub");
    assert_eq!(world.digest(), edited);
    world.commit("ws");
    assert_eq!(world.digest(), edited);
    fs::remove_file(world.at("ws/sub/.git")).unwrap();
    assert_ne!(world.digest(), edited);
}

#[test]
fn untracked_repositories_count_by_content() {
    let world = World::new();
    let before = world.digest();
    world.git("ws", &["init", "-q", "nested"]);
    world.write("ws/nested/x", "1");
    let nested = world.digest();
    assert_ne!(nested, before);
    world.write("ws/nested/x", "2");
    assert_ne!(world.digest(), nested);
    world.write("ws/nested/x", "1");
    world.commit("ws/nested");
    assert_eq!(world.digest(), nested);
}

#[test]
fn pipes_do_not_hang() {
    let world = World::new();
    let before = world.digest();
    let start = Instant::now();
    assert!(Command::new("mkfifo").arg(world.at("ws/pipe")).status().unwrap().success());
    assert_eq!(world.digest(), before);
    fs::remove_file(world.at("ws/a")).unwrap();
    assert!(Command::new("mkfifo").arg(world.at("ws/a")).status().unwrap().success());
    assert_ne!(world.digest(), before);
    assert!(start.elapsed() < Duration::from_millis(GIT_MS_MAX));
}

#[test]
fn many_files_are_counted_and_bounded() {
    let world = World::new();
    for n in 0..10_000 {
        if n % 100 == 0 {
            fs::create_dir(world.at(format!("ws/m{}", n / 100))).unwrap();
        }
        world.write(format!("ws/m{}/f{n}", n / 100), "x");
    }
    world.commit("ws");
    let root = world.at("ws");
    let git = Git::find(&root, None).unwrap();
    let before = fingerprint(&git, &root, FILES_MAX).unwrap();
    assert!(matches!(fingerprint(&git, &root, 10_002), Ok(Some(_))));
    assert!(matches!(fingerprint(&git, &root, 10_001), Err(Unclear::Files(10_001))));
    world.write("ws/m50/f5000", "y");
    assert_ne!(fingerprint(&git, &root, FILES_MAX).unwrap(), before);
}

#[test]
fn large_files_are_not_hashed_in_full() {
    let world = World::new();
    let path = world.at("ws/large");
    let file = fs::File::create(&path).unwrap();
    file.set_len(FINGERPRINT_BYTES_MAX + 1).unwrap();
    let there = world.digest();
    assert_eq!(world.digest(), there);
    file.set_len(FINGERPRINT_BYTES_MAX + 2).unwrap();
    assert_ne!(world.digest(), there);
}
