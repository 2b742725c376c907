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
        self.check_alike(root, base.as_deref());
    }

    /// Git sees the same in the work tree as we do; whether we looked ourselves.
    #[track_caller]
    fn check_alike(&self, root: &Path, commit: Option<&str>) -> bool {
        let own = Survey::new(&self.git, root, LOOK_MS_MAX).unwrap();
        let gits = Survey { whole: false, ..Survey::new(&self.git, root, LOOK_MS_MAX).unwrap() };
        // What is staged git tells by the seconds of stat data, and we by what files contain.
        let added = |survey: &Survey<'_>| -> Vec<(String, bool)> {
            survey.tracked(commit).unwrap().into_iter().map(|(name, how)| (name, how.added)).collect()
        };
        assert_eq!(added(&own), added(&gits));
        assert_eq!(own.untracked().unwrap(), gits.untracked().unwrap());
        assert!(!gits.looks_itself());
        own.looks_itself()
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.roll(all.len())]
    }
}

#[test]
fn random_patterns_ignore_what_they_do_for_git() {
    let (parts, ends) =
        (["a", "b", "ab", "a.c", "b-", "é", "a b", "#a", "!b", "[", "x]"], ["", "", "/", " ", "\\ ", "\r"]);
    let wild = [
        "*", "**", "?", "*.c", "a*", "*b", "[a-b]", "[!a]", "[^b]?", "**a", "b**", "\\a", "\\#a", "\\!b", "*?", "a*b*",
    ];
    for seed in 0..60 {
        let (world, mut dice) = (World::new(), Dice(seed));
        for _ in 0..40 {
            let depth = 1 + dice.roll(3);
            let path: Vec<&str> = (0..depth).map(|_| dice.pick(&parts)).collect();
            let path = world.root.join(path.join("/"));
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::write(path, "1\n");
        }
        for _ in 0..dice.roll(5) {
            let some = dice.pick(&["a", "b", "ab", "a.c", ""]);
            if !world.root.join(some).exists() {
                continue;
            }
            world.git(&["add", "-A", "-f", "--", if some.is_empty() { "." } else { some }]);
        }
        for dir in ["", "a", "b", "ab", "a/b"] {
            let mut text = String::new();
            for _ in 0..dice.roll(5) {
                let negative = if dice.roll(4) == 0 { "!" } else { "" };
                let lead = dice.pick(&["", "", "/", "a/", "**/", "*/"]);
                let (middle, end) =
                    (if dice.roll(2) == 0 { dice.pick(&parts) } else { dice.pick(&wild) }, dice.pick(&ends));
                let rest = if dice.roll(3) == 0 { format!("/{}", dice.pick(&wild)) } else { String::new() };
                text.push_str(&format!("{negative}{lead}{middle}{rest}{end}\n"));
            }
            if world.root.join(dir).is_dir() && !text.is_empty() {
                fs::write(world.root.join(dir).join(".gitignore"), text).unwrap();
            }
        }
        world.check_alike(&world.root, None);
    }
}

#[test]
fn random_changes_are_what_they_are_for_git() {
    for seed in 0..40 {
        let (world, mut dice) = (World::new(), Dice(seed));
        let names = ["a", "b", "a.b", "d/a", "d/b", "d/e/f", "d.x", "e/a", "e/b"];
        for name in names {
            world.write(name, name);
        }
        std::os::unix::fs::symlink("a", world.root.join("l")).unwrap();
        world.commit("begin");
        for _ in 0..12 {
            let name = dice.pick(&names);
            let path = world.root.join(name);
            match dice.roll(13) {
                0 => drop(fs::remove_file(&path)),
                1 => drop(fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(&path, "other"))),
                2 => drop(world.git(&["add", "-A"])),
                3 => drop(fs::remove_file(&path).and_then(|()| std::os::unix::fs::symlink("b", &path))),
                4 => drop(fs::remove_file(&path).and_then(|()| fs::create_dir_all(&path))),
                5 => drop(fs::write(world.root.join(dice.pick(&["new", "d/new", "n/e/w"])), "1")),
                6 => drop(fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))),
                7 => drop(fs::remove_dir_all(world.root.join(dice.pick(&["d", "e", "d/e"])))),
                8 => drop(world.git(&["commit", "-q", "--allow-empty", "-m", "more"])),
                9 => drop(world.git(&["reset", "-q"])),
                // The index is a tree then, and mostly another one than what is checked out.
                10 => drop(world.git(&["write-tree"])),
                11 => drop(world.git(&["status"])),
                _ => drop(world.git(&["rm", "-q", "--cached", "--ignore-unmatch", "-r", name])),
            }
            let head = world.git(&["rev-parse", "HEAD"]);
            assert!(world.check_alike(&world.root, Some(&head)), "nothing here is unusual");
        }
    }
}

#[test]
fn what_is_unusual_is_left_to_git() {
    let unusual: [(&[&[&str]], bool); 9] = [
        (&[&["status"]], true),
        (&[&["update-index", "--index-version", "4"]], true),
        (&[&["update-index", "--untracked-cache"]], true),
        (&[&["update-index", "--split-index"]], false),
        (&[&["update-index", "--assume-unchanged", "a"]], false),
        (&[&["update-index", "--skip-worktree", "a"]], false),
        (&[&["config", "core.filemode", "false"]], false),
        (&[&["add", "-N", "new"]], false),
        (&[&["init", "-q", "inner"]], false),
    ];
    for (commands, want) in unusual {
        let world = World::committed();
        world.write("new", "1\n");
        world.write("long/name/of/a/file", "1\n");
        world.write("long/name/of/another", "1\n");
        world.git(&["add", "long"]);
        commands.iter().for_each(|words| drop(world.git(words)));
        fs::remove_file(world.root.join("b")).unwrap();
        let head = world.git(&["rev-parse", "HEAD"]);
        assert_eq!(world.check_alike(&world.root, Some(&head)), want, "{commands:?}");
    }
}

#[test]
fn an_index_that_is_what_was_committed_is_not_compared() {
    let world = World::committed();
    for name in ["d/e/f", "d/g", "d.x", "d-", "e/a"] {
        world.write(name, name);
    }
    world.commit("directories");
    fs::create_dir_all(world.root.join(".jackline/policies")).unwrap();
    fs::write(world.root.join(".jackline/policies/p.md"), "---\ntrigger: a\n---\nx\n").unwrap();
    let folder = crate::files::find(&world.root, None).unwrap();
    let kept = folder.state().join("cache/commit");
    let is_tree = || {
        let survey = Survey::new(&world.git, &world.root, LOOK_MS_MAX).unwrap().beside(&folder, &[]);
        survey.begin();
        let head = survey.head().unwrap().unwrap();
        let tree = survey.index().unwrap().tree.clone();
        survey.is_tree_of(&head, tree.as_deref()).unwrap()
    };
    assert!(is_tree());
    assert!(!kept.exists(), "whoever only looks keeps nothing");
    fs::create_dir_all(folder.state()).unwrap();
    assert!(is_tree());
    let commit = fs::read(&kept).unwrap();
    assert!(commit.starts_with(b"tree "));
    // What is kept is believed where it is the commit, and git is not asked.
    let head = world.git(&["rev-parse", "HEAD"]);
    let object = world.root.join(".git/objects").join(&head[..2]).join(&head[2..]);
    let aside = world.root.with_file_name("object");
    fs::rename(&object, &aside).unwrap();
    assert!(is_tree());
    for other in [&b"tree 0000000000000000000000000000000000000000\n"[..], b""] {
        fs::write(&kept, other).unwrap();
        assert!(!is_tree(), "nobody knows what it is");
    }
    fs::rename(&aside, &object).unwrap();
    assert!(is_tree());
    assert_eq!(fs::read(&kept).unwrap(), commit);
    let index = world.root.join(".git/index");
    let trees = |bytes: &[u8]| bytes.windows(4).rposition(|window| window == b"TREE").unwrap();
    let before = fs::read(&index).unwrap();
    world.write("a", "2\n");
    world.git(&["add", "a"]);
    assert!(!is_tree(), "something is staged");
    world.git(&["write-tree"]);
    assert!(!is_tree(), "the index is a tree, and not this commit's");
    let staged = fs::read(&index).unwrap();
    let forged = [&staged[..trees(&staged)], &before[trees(&before)..]].concat();
    fs::write(&index, forged).unwrap();
    assert!(!is_tree(), "whatever is noted of the top, its entries tell");
    fs::write(&index, staged).unwrap();
    world.git(&["commit", "-qm", "staged"]);
    assert!(is_tree());
    assert_ne!(fs::read(&kept).unwrap(), commit);
}

#[test]
fn a_look_that_was_begun_is_gone_on_with_in_its_own_repository() {
    let (world, other) = (World::committed(), World::committed());
    assert!(Ahead::begin(&world.root).is_none(), "nobody will ask where there are no policies");
    for root in [&world.root, &other.root] {
        fs::create_dir_all(root.join(".jackline/policies")).unwrap();
    }
    world.write("a", "2\n");
    world.write("new", "1\n");
    for (ahead, taken) in [(Ahead::begin(&world.root), true), (Ahead::begin(&other.root), false)] {
        let ahead = ahead.unwrap();
        let survey = Survey::new(&world.git, &world.root, LOOK_MS_MAX).unwrap().after(Some(&ahead));
        let changes = survey.since(survey.head().unwrap().as_deref()).unwrap();
        assert_eq!(changes.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a", "new"]);
        assert!(survey.looks_itself());
        let left = [&world, &other].into_iter().find_map(|world| ahead.take(&world.root.join(".git")));
        assert_eq!(left.is_none(), taken);
    }
    // What was begun too early to know how is ended with whoever began it.
    drop(Ahead::begin(&world.root));
}

#[test]
fn what_changed_files_contain_is_read_as_the_tree_is_looked_at() {
    let world = World::committed();
    world.write("a", "2\n");
    let touched = fs::File::options().append(true).open(world.root.join("b")).unwrap();
    touched.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    let survey = Survey::new(&world.git, &world.root, LOOK_MS_MAX).unwrap();
    survey.prepare().unwrap();
    let content = |path: &[u8]| survey.read(path).map(|read| read.as_ref().and_then(|read| read.content));
    assert_eq!(content(b"a"), Some(Some(Digest::of(b"2\n"))));
    assert_eq!(content(b"b"), Some(None), "it is what the index has");
    assert_eq!(content(b"c"), None);
    let head = survey.head().unwrap();
    assert_eq!(survey.tracked(head.as_deref()).unwrap().into_keys().collect::<Vec<_>>(), ["a"]);
    // What was read a moment ago is not read again.
    assert_eq!(survey.contents(&["a"]).get("a"), Some(&Some(Digest::of(b"2\n"))));
}

#[test]
fn settings_are_read_without_git_where_nothing_is_unusual() {
    let listed = |world: &World| {
        let survey = Survey::new(&world.git, &world.root, LOOK_MS_MAX).unwrap();
        let read = declared::list(survey.git, &survey.repository);
        let told = survey.run(&["config", "-z", "--list"], Vec::new()).unwrap();
        if let Some(read) = &read {
            assert!(told.starts_with(read), "{}", String::from_utf8_lossy(read));
        }
        read.is_some()
    };
    let world = World::committed();
    world.git(&["remote", "add", "origin", "git@example.com:x/y.git"]);
    world.git(&["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    assert!(listed(&world) || !Path::new("/usr/bin/git").exists());
    for (key, value) in [
        ("include.path", "other"),
        ("includeIf.gitdir:/x/.path", "other"),
        ("extensions.worktreeConfig", "true"),
        ("core.repositoryFormatVersion", "1"),
        ("core.odd", "a\\b"),
    ] {
        let world = World::committed();
        world.git(&["config", key, value]);
        assert!(!listed(&world), "{key}");
    }
    let world = World::committed();
    let config = world.root.join(".git/config");
    fs::rename(&config, world.root.with_file_name("config")).unwrap();
    std::os::unix::fs::symlink(world.root.with_file_name("config"), &config).unwrap();
    assert!(!listed(&world), "a link");
}

#[test]
fn an_index_with_longer_ids_is_left_to_git() {
    let world = World::new();
    fs::remove_dir_all(world.root.join(".git")).unwrap();
    world.git(&["init", "-q", "--object-format=sha256"]);
    world.write("a", "1\n");
    world.commit("begin");
    world.write("a", "2\n");
    world.write("b", "2\n");
    world.check(&["a", "+b"]);
}

#[test]
fn what_changed_since_a_session_began_is_read_whatever_the_index_says() {
    let world = World::committed();
    let hide = |text: &str| {
        world.write("a", text);
        let filter = "filter.x.clean=git cat-file blob HEAD:a";
        fs::write(world.root.with_file_name("attributes"), "a filter=x\n").unwrap();
        let attributes = format!("core.attributesFile={}", world.root.with_file_name("attributes").display());
        std::thread::sleep(Duration::from_millis(1100));
        world.git(&["-c", &attributes, "-c", filter, "add", "a"]);
        std::thread::sleep(Duration::from_millis(1100));
        world.git(&["status"]);
    };
    hide("2\n");
    for whole in [true, false] {
        let since = |began: Option<Timestamp>| {
            let survey = Survey::new(&world.git, &world.root, LOOK_MS_MAX).unwrap().doubting(began);
            let survey = Survey { whole, ..survey };
            let head = survey.head().unwrap();
            survey.since(head.as_deref()).unwrap().iter().map(|file| file.path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(since(None), [""; 0], "git's index says that it is the same");
        assert_eq!(since(Some(Timestamp(0))), ["a"]);
    }
}

#[test]
fn a_filter_of_the_repository_is_believed_and_no_other() {
    let world = World::committed();
    world.git(&["config", "filter.x.clean", "echo 1; cat >/dev/null"]);
    world.write(".gitattributes", "a filter=x\n");
    world.write("a", "2\n");
    world.write("b", "2\n");
    std::thread::sleep(Duration::from_millis(1100));
    world.git(&["add", "a"]);
    for whole in [true, false] {
        let survey = Survey::new(&world.git, &world.root, LOOK_MS_MAX).unwrap().doubting(Some(Timestamp(0)));
        let survey = Survey { whole, ..survey };
        let head = survey.head().unwrap();
        let told: Vec<String> = survey.tracked(head.as_deref()).unwrap().into_keys().collect();
        assert_eq!(told, ["b"]);
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
