//! Real repositories, asked.

use super::*;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A repository with one commit on `main`, beside a bare one that is its `origin`.
struct Fixture {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let fixture = Self { _dir: dir, root: top.join("repo") };
        fs::create_dir(&fixture.root).unwrap();
        git_at(&top, &["init", "-q", "--bare", "remote.git"]);
        fixture.git(&["init", "-q", "-b", "main"]);
        fixture.git(&["remote", "add", "origin", "../remote.git"]);
        fs::write(fixture.root.join("a.txt"), "one\n").unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "one"]);
        fixture
    }

    fn git(&self, words: &[&str]) -> String {
        git_at(&self.root, words)
    }

    fn ask(&self, question: &GitQuestion) -> (bool, String) {
        let git = Git::find(&self.root, None).expect("git is installed");
        match answer(&git, &self.root, question) {
            Fact::Told(Told::Holds { holds, seen }) => (holds, seen),
            other => panic!("{other:?}"),
        }
    }
}

fn git_at(dir: &Path, words: &[&str]) -> String {
    let user = ["-c", "user.name=dev", "-c", "user.email=dev@example.org"];
    let output = Command::new("git").current_dir(dir).args(user).args(words).env("HOME", dir).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn pushed(branch: Option<&str>) -> GitQuestion {
    GitQuestion::Pushed { branch: branch.map(str::to_owned), remote: "origin".to_owned() }
}

#[test]
fn a_commit_is_there_or_not() {
    let fixture = Fixture::new();
    let head = fixture.git(&["rev-parse", "HEAD"]);
    assert!(fixture.ask(&GitQuestion::Commit { sha: head.clone() }).0);
    assert!(fixture.ask(&GitQuestion::Commit { sha: head[..10].to_owned() }).0);
    let tree = fixture.git(&["rev-parse", "HEAD^{tree}"]);
    for other in [tree, "0000000000000000000000000000000000000000".to_owned(), "dead".to_owned()] {
        assert!(!fixture.ask(&GitQuestion::Commit { sha: other }).0);
    }
}

#[test]
fn a_clean_work_tree_has_nothing_to_commit() {
    let fixture = Fixture::new();
    assert!(fixture.ask(&GitQuestion::Clean).0);
    fs::write(fixture.root.join("b.txt"), "").unwrap();
    assert_eq!(fixture.ask(&GitQuestion::Clean), (false, "1 path(s) changed: b.txt".to_owned()));
    fixture.git(&["add", "b.txt"]);
    assert!(!fixture.ask(&GitQuestion::Clean).0);
    fixture.git(&["commit", "-q", "-m", "two"]);
    assert!(fixture.ask(&GitQuestion::Clean).0);
    fs::write(fixture.root.join("a.txt"), "two\n").unwrap();
    assert!(!fixture.ask(&GitQuestion::Clean).0);
}

#[test]
fn the_repositorys_filters_are_not_run() {
    let fixture = Fixture::new();
    let mark = fixture.root.parent().unwrap().join("ran");
    fs::write(fixture.root.join(".gitattributes"), "*.txt filter=evil\n").unwrap();
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", "attributes"]);
    fixture.git(&["config", "filter.evil.clean", &format!("touch {}; cat", mark.display())]);
    fixture.git(&["config", "filter.evil.required", "true"]);
    fs::write(fixture.root.join("a.txt"), "two\n").unwrap();
    assert!(!fixture.ask(&GitQuestion::Clean).0);
    assert!(!mark.exists(), "the filter ran");
}

#[test]
fn a_branch_is_pushed_when_its_remote_has_all_of_it() {
    let fixture = Fixture::new();
    assert!(!fixture.ask(&pushed(None)).0);
    fixture.git(&["push", "-q", "origin", "main"]);
    assert!(fixture.ask(&pushed(None)).0);
    assert!(fixture.ask(&pushed(Some("main"))).0);
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    assert!(!fixture.ask(&pushed(Some("main"))).0);
    assert!(!fixture.ask(&pushed(Some("other"))).0);
}

#[test]
fn without_a_repository_nothing_holds() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let git = Git::find(&root, None).expect("git is installed");
    assert_eq!(answer(&git, &root, &GitQuestion::Clean), told(false, "there is no git repository"));
}

#[test]
fn what_is_hidden_from_git_on_this_machine_is_not_clean() {
    let fixture = Fixture::new();
    let (clean, changed) = (true, (false, "1 path(s) changed: a.txt".to_owned()));
    for (hide, show) in [("--assume-unchanged", "--no-assume-unchanged"), ("--skip-worktree", "--no-skip-worktree")] {
        fixture.git(&["update-index", hide, "a.txt"]);
        assert_eq!(fixture.ask(&GitQuestion::Clean).0, clean, "{hide}: nothing changed");
        fs::write(fixture.root.join("a.txt"), "two\n").unwrap();
        assert_eq!(fixture.ask(&GitQuestion::Clean), changed, "{hide}");
        fs::remove_file(fixture.root.join("a.txt")).unwrap();
        // A sparse work tree leaves files out; one that is only taken as unchanged must be there.
        assert_eq!(fixture.ask(&GitQuestion::Clean).0, hide == "--skip-worktree");
        fixture.git(&["update-index", show, "a.txt"]);
        fixture.git(&["checkout", "--", "a.txt"]);
    }
    let untracked = (false, "1 path(s) changed: new.rs".to_owned());
    fs::write(fixture.root.join("new.rs"), "x").unwrap();
    fs::write(fixture.root.join(".git/info/exclude"), "new.rs\n").unwrap();
    assert_eq!(fixture.ask(&GitQuestion::Clean), untracked, "info/exclude");
    fs::write(fixture.root.join(".git/info/exclude"), "").unwrap();
    fs::write(fixture.root.join("../ignore"), "*\n").unwrap();
    fixture.git(&["config", "core.excludesFile", "../ignore"]);
    assert_eq!(fixture.ask(&GitQuestion::Clean), untracked, "core.excludesFile");
    fs::write(fixture.root.join(".gitignore"), "new.rs\n").unwrap();
    fixture.git(&["add", "-f", ".gitignore"]);
    fixture.git(&["commit", "-q", "-m", "ignore it"]);
    assert_eq!(fixture.ask(&GitQuestion::Clean).0, clean, "what the repository ignores is ignored");
}
