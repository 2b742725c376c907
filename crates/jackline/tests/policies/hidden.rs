//! A change is seen whatever git was told, and what did not change is not.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::World;

/// A repository with `src/t.py`, and a policy about everything below `src`.
fn world() -> World {
    let world = World::new();
    world.write("src/t.py", "aaaa\n");
    world.policy("rule", "---\nname: Rule\ntrigger: src/**\n---\nDo it.\n");
    world.commit("policy");
    assert_eq!(world.outstanding(), [""; 0]);
    world
}

#[track_caller]
fn fires_for(world: &World, files: &[&str]) {
    let seen = world.check(&[]);
    assert_eq!(seen["outstanding"][0]["trigger_files"], json!(files), "{seen}");
}

#[test]
fn a_file_that_git_shall_not_look_at_is_looked_at() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let world = world();
        world.git(&["update-index", mark, "src/t.py"]);
        assert_eq!(world.outstanding(), [""; 0], "{mark}: nothing changed yet");
        world.write("src/t.py", "bbbb\n");
        assert_eq!(world.git(&["status", "--porcelain"]), "", "git shows nothing");
        fires_for(&world, &["src/t.py"]);
        fs::remove_file(world.repo("src/t.py")).expect("removed");
        fires_for(&world, &["src/t.py"]);
    }
}

#[test]
fn excludes_outside_of_the_tree_hide_nothing() {
    let world = world();
    fs::write(world.repo(".git/info/exclude"), "src/\n").expect("written");
    world.write("src/new.py", "1\n");
    fires_for(&world, &["src/new.py"]);
    fs::remove_file(world.repo("src/new.py")).expect("removed");
    fs::write(world.repo(".git/info/exclude"), "").expect("written");
    fs::write(world.path("excludes"), "src/\n").expect("written");
    world.git(&["config", "core.excludesFile", &world.path("excludes").display().to_string()]);
    world.write("src/other.py", "1\n");
    fires_for(&world, &["src/other.py"]);
}

#[test]
fn what_the_tree_itself_ignores_is_ignored() {
    let world = world();
    world.write(".gitignore", "*.log\n");
    world.commit("ignore");
    world.write("src/x.log", "1\n");
    assert_eq!(world.outstanding(), [""; 0]);
}

#[test]
fn a_repository_inside_is_looked_into() {
    let world = world();
    world.git(&["init", "-q", "src/new"]);
    world.write("src/new/a.py", "1\n");
    fires_for(&world, &["src/new", "src/new/a.py"]);
    // One that git cannot list any more is walked through.
    fs::write(world.repo("src/new/.git/config"), "[core\n").expect("written");
    fires_for(&world, &["src/new", "src/new/a.py"]);
}

#[test]
fn neither_clocks_nor_replaced_commits_hide_a_change() {
    let world = world();
    world.git(&["config", "core.trustctime", "false"]);
    let file = world.repo("src/t.py");
    let before = fs::metadata(&file).expect("there").modified().expect("a time");
    fs::write(&file, "bbbb\n").expect("written");
    fs::File::options().append(true).open(&file).expect("opened").set_modified(before).expect("set");
    fires_for(&world, &["src/t.py"]);
    world.git(&["stash", "-q"]);
    let first = world.git(&["rev-parse", "HEAD"]);
    world.write("src/t.py", "cccc\n");
    let tree = {
        world.git(&["add", "-A"]);
        world.git(&["write-tree"])
    };
    let other = world.git(&["commit-tree", "-m", "x", &tree]);
    world.git(&["replace", &first, &other]);
    fires_for(&world, &["src/t.py"]);
}

#[test]
fn a_submodule_is_looked_into() {
    let world = world();
    let library = world.path("library");
    fs::create_dir(&library).expect("made");
    let git = |dir: &std::path::Path, words: &[&str]| {
        let settings = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "protocol.file.allow=always"];
        let output = Command::new("git").args(settings).args(words).current_dir(dir).output().expect("git is there");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&library, &["init", "-q"]);
    fs::write(library.join("old.py"), "1\n").expect("written");
    git(&library, &["add", "-A"]);
    git(&library, &["commit", "-qm", "begin"]);
    git(&world.path("repo"), &["submodule", "add", "-q", &library.display().to_string(), "src/sm"]);
    world.commit("submodule");
    assert_eq!(world.outstanding(), [""; 0]);
    world.write("src/sm/new.py", "1\n");
    world.write("src/sm/old.py", "2\n");
    fires_for(&world, &["src/sm/new.py", "src/sm/old.py"]);
    git(&world.repo("src/sm"), &["add", "-A"]);
    git(&world.repo("src/sm"), &["commit", "-qm", "more"]);
    fires_for(&world, &["src/sm", "src/sm/new.py", "src/sm/old.py"]);
}

#[test]
fn a_file_that_git_converts_did_not_change_when_it_was_touched() {
    let world = world();
    world.write(".gitattributes", "*.txt text eol=crlf\n*.bin filter=lfs\n");
    world.write("src/a.txt", "one\r\ntwo\r\n");
    world.git(&["config", "filter.lfs.clean", "cat"]);
    let content = "large";
    let digest = jackline_core::sha::Digest::of(content.as_bytes());
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {}\n", content.len());
    world.write("src/a.bin", &pointer);
    world.commit("converted");
    world.write("src/a.bin", content);
    let later = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    for name in ["src/a.txt", "src/a.bin"] {
        fs::File::options().append(true).open(world.repo(name)).expect("opened").set_modified(later).expect("set");
    }
    assert_eq!(world.outstanding(), [""; 0]);
    world.write("src/a.txt", "one\r\nthree\r\n");
    world.write("src/a.bin", "other");
    fires_for(&world, &["src/a.bin", "src/a.txt"]);
}

#[test]
fn two_names_are_never_one() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world();
    let odd = world.repo("src").join(std::ffi::OsStr::from_bytes(b"x\xffy"));
    fs::write(&odd, "1\n").expect("written");
    world.write("src/x\\xffy", "2\n");
    fires_for(&world, &["src/x\\x5cxffy", "src/x\\xffy"]);
}

#[test]
fn a_command_is_given_the_name_that_a_file_has() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::with("there", "---\nname: There\ntrigger: src/**\naction: {command: 'test -f {file}'}\n---\n");
    for name in [&b"x\xffy"[..], b"x\\xffy"] {
        fs::create_dir_all(world.repo("src")).expect("made");
        fs::write(world.repo("src").join(std::ffi::OsStr::from_bytes(name)), "1\n").expect("written");
    }
    let seen = world.check(&["--trust"]);
    assert_eq!((&seen["outstanding"], &seen["settled"][0]["settled_by"]), (&json!([]), &json!("command")), "{seen}");
}
