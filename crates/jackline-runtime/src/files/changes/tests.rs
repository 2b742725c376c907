//! What counts as changed, in real repositories of every kind.

use super::*;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

struct World {
    _dir: TempDir,
    root: PathBuf,
    git: Git,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("repo");
        fs::create_dir(&root).unwrap();
        let git = Git::find(&root, None).expect("git is there");
        let world = Self { _dir: dir, root, git };
        world.git(&["init", "-q", "-b", "main"]);
        world
    }

    /// With one commit of `a` and `b`.
    fn committed() -> Self {
        let world = Self::new();
        world.write("a", "1\n");
        world.write("b", "1\n");
        world.commit("begin");
        world
    }

    #[track_caller]
    fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.root, words)
    }

    #[track_caller]
    fn git_in(&self, dir: &Path, words: &[&str]) -> String {
        let settings = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "protocol.file.allow=always"];
        let output = Command::new("git").args(settings).args(words).current_dir(dir).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", message]);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What changed since the base: `+` for what is new.
    #[track_caller]
    fn check(&self, want: &[&str]) {
        self.check_in(&self.root, want);
    }

    #[track_caller]
    fn check_in(&self, root: &Path, want: &[&str]) {
        let index = fs::read(self.root.join(".git/index")).ok();
        let survey = Survey::new(&self.git, root, LOOK_MS_MAX).unwrap();
        let base = survey.base().unwrap();
        let changes = survey.since(base.as_deref()).unwrap();
        let told = |file: &Changed| format!("{}{}", if file.created { "+" } else { "" }, file.path);
        assert_eq!(changes.iter().map(told).collect::<Vec<_>>(), want);
        assert_eq!(fs::read(self.root.join(".git/index")).ok(), index, "nothing is staged");
    }
}

#[test]
fn every_way_to_change_a_file_is_seen_once() {
    let world = World::committed();
    world.check(&[]);
    world.write("a", "2\n");
    world.write("new", "1\n");
    world.write("staged", "1\n");
    world.git(&["add", "staged"]);
    fs::remove_file(world.root.join("b")).unwrap();
    world.check(&["a", "b", "+new", "+staged"]);
    world.commit("all of it");
    world.check(&[]);
}

#[test]
fn a_touched_file_did_not_change() {
    let world = World::committed();
    let file = fs::File::options().append(true).open(world.root.join("a")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    world.check(&[]);
    world.write("a", "1\n2\n");
    world.check(&["a"]);
}

#[test]
fn a_rename_is_a_deletion_and_a_new_file() {
    let world = World::committed();
    world.git(&["mv", "a", "c"]);
    world.check(&["a", "+c"]);
}

#[test]
fn a_repository_without_a_commit_has_only_new_files() {
    let world = World::new();
    world.write("x", "1\n");
    world.write("y", "1\n");
    world.git(&["add", "y"]);
    world.check(&["+x", "+y"]);
}

#[test]
fn what_the_index_takes_for_a_repository_is_looked_into_without_a_commit_too() {
    let world = World::new();
    world.git(&["update-index", "--add", "--cacheinfo", "160000,5716ca5987cbf97d6bb54920bea6adde242d87e6,deep"]);
    world.check(&["+deep"]);
    world.write("deep/er/n", "1\n");
    world.check(&["+deep", "+deep/er/n"]);
}

#[test]
fn a_setting_is_on_when_its_last_value_is() {
    for (values, want) in [
        (&b""[..], false),
        (b"core.a\ntrue\0", false),
        (b"core.b\ntrue\0", true),
        (b"core.B\nYES\0core.a\nfalse\0", true),
        (b"core.b\0", true),
        (b"core.b\n\0", false),
        (b"core.b\ntrue\0core.b\nOff\0", false),
        (b"core.b\n0\0core.b\n1\0", true),
    ] {
        assert_eq!(is_on(values, b"core.b"), want, "{}", String::from_utf8_lossy(values));
    }
}

#[test]
fn a_branch_is_compared_to_where_it_left_the_remotes() {
    let world = World::committed();
    let remote = world.root.with_file_name("remote.git");
    world.git(&["clone", "-q", "--bare", ".", remote.to_str().unwrap()]);
    world.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    world.git(&["fetch", "-q", "origin"]);
    world.git(&["checkout", "-q", "-b", "work"]);
    world.write("c", "1\n");
    world.commit("on a branch");
    world.check(&["+c"]);
    // Another commit on the remote does not count as ours.
    world.git(&["checkout", "-q", "main"]);
    world.write("d", "1\n");
    world.commit("elsewhere");
    world.git(&["push", "-q", "origin", "main"]);
    world.git(&["checkout", "-q", "work"]);
    world.check(&["+c"]);
    let survey = Survey::new(&world.git, &world.root, LOOK_MS_MAX).unwrap();
    let tip = survey.default_tip().unwrap();
    assert_eq!(tip, Some(world.git(&["rev-parse", "origin/main"])));
    let told: Vec<String> = survey.since(tip.as_deref()).unwrap().iter().map(|file| file.path.clone()).collect();
    assert_eq!(told, ["c", "d"]);
    assert_eq!(survey.named("main").unwrap(), world.git(&["merge-base", "HEAD", "main"]));
    assert!(matches!(survey.named("--output=x"), Err(Unclear::NoCommit(_))));
    world.git(&["checkout", "-q", "--detach"]);
    world.check(&["+c"]);
    world.git(&["pack-refs", "--all"]);
    world.check(&["+c"]);
}

#[test]
fn any_byte_may_stand_in_a_name() {
    let world = World::committed();
    for name in [&b"docs/\xc3\xa9 \xc3\xbc.md"[..], b"docs/sp ace.md", b"docs/new\nline", b"docs/\"q\"", b"docs/\xff"] {
        let path = world.root.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "1").unwrap();
    }
    world.check(&["+docs/\"q\"", "+docs/\\xff", "+docs/new\nline", "+docs/sp ace.md", "+docs/é ü.md"]);
    world.git(&["add", "-A"]);
    world.check(&["+docs/\"q\"", "+docs/\\xff", "+docs/new\nline", "+docs/sp ace.md", "+docs/é ü.md"]);
}

#[test]
fn work_trees_and_directories_below_the_top_are_looked_at_from_there() {
    let world = World::committed();
    world.write("sub/x", "1\n");
    world.write("y", "1\n");
    world.check_in(&world.root.join("sub"), &["+x"]);
    let linked = world.root.with_file_name("linked");
    world.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    fs::write(linked.join("a"), "2\n").unwrap();
    world.check_in(&linked, &["a"]);
}

#[test]
fn a_submodule_is_looked_into_and_nothing_in_it_runs() {
    let world = World::committed();
    let other = world.root.with_file_name("other");
    world.git_in(world.root.parent().unwrap(), &["clone", "-q", "repo", "other"]);
    world.git(&["submodule", "--quiet", "add", other.to_str().unwrap(), "module"]);
    world.commit("with a module");
    world.check(&[]);
    let (module, witness) = (world.root.join("module"), world.root.with_file_name("witness"));
    world.git_in(&module, &["config", "filter.evil.clean", &format!("touch {}; cat", witness.display())]);
    world.write("module/.gitattributes", "* filter=evil\n");
    world.write("module/a", "changed\n");
    world.check(&["+module/.gitattributes", "module/a"]);
    assert!(!witness.exists());
    world.git_in(&module, &["config", "--unset", "filter.evil.clean"]);
    world.git_in(&module, &["commit", "-qam", "moved"]);
    world.check(&["module", "+module/.gitattributes", "module/a"]);
}

#[test]
fn filters_of_the_repository_are_not_run() {
    let world = World::committed();
    let witness = world.root.with_file_name("witness");
    world.write(".gitattributes", "* filter=evil\n");
    world.commit("attributes");
    world.git(&["config", "filter.evil.clean", &format!("touch {}; cat", witness.display())]);
    world.write("a", "2\n");
    world.check(&["a"]);
    assert!(!witness.exists());
}
