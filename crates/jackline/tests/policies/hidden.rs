//! A change is seen whatever git was told, and what did not change is not.

use std::fs;

use serde_json::json;

use super::World;

/// A repository with `src/t.py`, and a policy about everything below `src`.
pub(super) fn world() -> World {
    let world = World::new();
    world.write("src/t.py", "aaaa\n");
    world.policy("rule", "---\nname: Rule\ntrigger: src/**\n---\nDo it.\n");
    world.commit("policy");
    assert_eq!(world.outstanding(), [""; 0]);
    world
}

#[track_caller]
pub(super) fn fires_for(world: &World, files: &[&str]) {
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
fn a_link_that_git_shall_not_look_at_is_looked_at_too() {
    let world = world();
    std::os::unix::fs::symlink("t.py", world.repo("src/link")).expect("linked");
    world.commit("a link");
    world.git(&["update-index", "--assume-unchanged", "src/link"]);
    assert_eq!(world.outstanding(), [""; 0], "nothing changed yet");
    fs::remove_file(world.repo("src/link")).expect("removed");
    std::os::unix::fs::symlink("t.py", world.repo("src/link")).expect("linked");
    assert_eq!(world.outstanding(), [""; 0], "it leads where it led");
    world.git(&["update-index", "--no-assume-unchanged", "src/link"]);
    assert_eq!(world.outstanding(), [""; 0], "only its stat data differ");
    world.git(&["update-index", "--assume-unchanged", "src/link"]);
    fs::remove_file(world.repo("src/link")).expect("removed");
    std::os::unix::fs::symlink("other", world.repo("src/link")).expect("linked");
    fires_for(&world, &["src/link"]);
}

#[test]
fn a_name_in_other_letters_is_another_name() {
    let world = world();
    world.git(&["config", "core.ignorecase", "true"]);
    world.write("src/T.py", "1\n");
    fires_for(&world, &["src/T.py"]);
}

#[test]
fn a_file_is_left_out_of_a_work_tree_only_where_git_is_told_to_leave_files_out() {
    for (sparse, want) in [("false", 1), ("0", 1), ("true", 0)] {
        let world = world();
        world.git(&["config", "core.sparseCheckout", sparse]);
        world.git(&["update-index", "--skip-worktree", "src/t.py"]);
        fs::remove_file(world.repo("src/t.py")).expect("removed");
        assert_eq!(world.outstanding().len(), want, "core.sparseCheckout={sparse}");
    }
}

#[test]
fn a_history_that_was_cut_makes_no_less_count() {
    let world = world();
    let remote = world.path("remote.git").display().to_string();
    world.git(&["clone", "-q", "--bare", ".", &remote]);
    world.git(&["remote", "add", "origin", &remote]);
    world.git(&["fetch", "-q", "origin"]);
    world.write("src/new.py", "1\n");
    world.commit("the agent commits");
    fires_for(&world, &["src/new.py"]);
    let head = world.git(&["rev-parse", "HEAD"]);
    fs::write(world.repo(".git/shallow"), format!("{head}\n")).expect("cut");
    fires_for(&world, &["src/new.py"]);
    let seen = world.check(&[]);
    assert!(seen["faults"].to_string().contains("git fetch --unshallow"), "{seen}");
}

#[test]
fn a_directory_that_cannot_be_listed_hides_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    for nested in [false, true] {
        let world = world();
        let dir = world.repo("src/new");
        world.write("src/new/a.py", "1\n");
        if nested {
            world.write("src/new/.git/HEAD", "no repository\n");
        }
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o300)).expect("closed");
        // Who may list everything sees the file itself.
        let unlisted = fs::read_dir(&dir).is_err();
        let seen = world.check(&[]);
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).expect("opened");
        let files = seen["outstanding"][0]["trigger_files"].to_string();
        assert_eq!(files.contains("src/new/a.py"), !unlisted, "{seen}");
        assert!(files.contains("src/new"), "{seen}");
        assert_eq!(seen["faults"].to_string().contains("cannot be listed"), unlisted, "{seen}");
    }
}

#[test]
fn a_file_that_cannot_be_read_makes_no_other_count() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    world.write("src/old.py", "1\n");
    world.commit("another");
    for name in ["src/t.py", "src/old.py"] {
        let later = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
        fs::File::options().append(true).open(world.repo(name)).expect("opened").set_modified(later).expect("set");
    }
    fs::set_permissions(world.repo("src/t.py"), fs::Permissions::from_mode(0o000)).expect("locked");
    let seen = world.check(&[]);
    // Who may read everything sees that nothing changed.
    let unread = fs::read(world.repo("src/t.py")).is_err();
    let want = if unread { json!(["src/t.py"]) } else { json!(null) };
    assert_eq!(seen["outstanding"][0]["trigger_files"], want, "{seen}");
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

#[test]
fn a_file_that_ignores_itself_is_asked_about() {
    let world = world();
    world.policy("ignores", "---\nname: Ignores\ntrigger: '**/.gitignore'\n---\nWhy?\n");
    world.write(".gitignore", "build/\n");
    world.commit("a policy about what is ignored");
    for text in ["*\n", ".gitignore\nnew.py\n"] {
        world.write("src/.gitignore", text);
        world.write("src/new.py", "1\n");
        let seen = world.check(&[]);
        assert_eq!(seen["outstanding"][0]["trigger_files"], json!(["src/.gitignore"]), "{text}: {seen}");
        assert_eq!(seen["outstanding"][1]["trigger_files"], json!(["src/.gitignore"]), "{text}: {seen}");
        fs::remove_file(world.repo("src/.gitignore")).expect("removed");
        fs::remove_file(world.repo("src/new.py")).expect("removed");
    }
    world.write("build/.gitignore", "*\n");
    assert_eq!(world.outstanding(), [""; 0], "its directory is ignored as a whole");
}

#[test]
fn what_we_write_beside_folders_is_no_change() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\nfile_policies: {dir: pol}\n");
    world.write("pol/ignores.md", "---\nname: Ignores\ntrigger: '**/.gitignore'\n---\nWhy?\n");
    let settings = world.path("home/.config/jackline");
    fs::create_dir_all(&settings).expect("made");
    fs::write(settings.join("jackline.yaml"), "jackline: 1\nfile_policies: {dir: a/team}\n").expect("written");
    world.write("a/team/all.md", "---\nname: All\ntrigger: '**'\n---\nWhy?\n");
    world.commit("policies");
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["all"]);
    fs::remove_file(world.repo("src/a.py")).expect("removed");
    assert!(world.repo("tmp/policy/.gitignore").exists() || world.repo("a/tmp/policy/.gitignore").exists());
    assert_eq!(world.outstanding(), [""; 0]);
}

#[test]
fn what_is_no_file_any_more_or_too_large_to_be_read_makes_no_other_go_unjudged() {
    for mark in [false, true] {
        let world = world();
        if mark {
            world.git(&["update-index", "--assume-unchanged", "README.md"]);
        }
        world.write("src/t.py", "bbbb\n");
        let readme = world.repo("README.md");
        fs::remove_file(&readme).expect("removed");
        assert!(std::process::Command::new("mkfifo").arg(&readme).status().expect("made").success());
        fires_for(&world, &["src/t.py"]);
        fs::remove_file(&readme).expect("removed");
        fs::File::create(&readme).and_then(|file| file.set_len(6 << 30)).expect("a file of holes");
        fires_for(&world, &["src/t.py"]);
    }
}

#[test]
fn what_a_filter_of_the_agents_has_git_keep_is_not_believed() {
    use super::sessions::blocked;
    let world = world();
    world.write("jackline.yaml", "jackline: 1\n");
    world.commit("a definition");
    world.write("src/t.py", "bbbb\n");
    blocked(&world, "s1");
    fs::write(world.path("attributes"), "src/t.py filter=x\n").expect("written");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let attributes = format!("core.attributesFile={}", world.path("attributes").display());
    world.git(&["-c", &attributes, "-c", "filter.x.clean=git cat-file blob HEAD:src/t.py", "add", "src/t.py"]);
    assert!(!world.git(&["status", "--porcelain"]).contains("src/t.py"), "git takes it for unchanged");
    blocked(&world, "s1");
}
