//! Paths as they are spelled, linked and nested, and what they lead to.

use super::*;
use crate::probes::own::own_like;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;
use tempfile::TempDir;

/// A workspace `ws`, a home `home` and an outside `out` in one temporary directory.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        for dir in ["ws/src/deep", "ws/.jackline/policies", "home/.claude", "out/inner"] {
            fs::create_dir_all(world.at(dir)).unwrap();
        }
        for file in ["ws/jackline.yaml", "ws/src/a.rs", "ws/.jackline/policies/p.md", "out/inner/x", "out/x"] {
            fs::write(world.at(file), file).unwrap();
        }
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(path)
    }

    fn link(&self, target: &str, at: &str) {
        symlink(target, self.at(at)).unwrap();
    }

    fn ground(&self) -> Ground {
        let own = |path: &str, label: &str| OwnPath::whole(self.at(path), label);
        let own = vec![
            own("ws/jackline.yaml", "definition"),
            own("ws/.jackline", "policies"),
            own("home/.claude/settings.json", "settings"),
            own_like(&self.at("home/.codex"), "*.config.toml", "profile"),
            own_like(&self.at("home/state"), "*/extensions{,/**}", "extension"),
        ];
        let (home, instructing) = (Some(self.at("home")), vec![self.at("home/.claude/skills")]);
        Ground { root: self.at("ws"), first_root: None, home, own, instructing, schemas: Default::default() }
    }

    fn seen(&self, dir: &str, path: &str) -> Fact {
        answer(&self.ground(), false, dir, path)
    }

    #[track_caller]
    fn identity(&self, dir: &str, path: &str) -> Identity {
        match self.seen(dir, path) {
            Fact::Identity(identity) => identity,
            fact => panic!("{path:?} from {dir:?}: {fact:?}"),
        }
    }

    #[track_caller]
    fn check(&self, path: &str, want: &str, there: There) -> Identity {
        let identity = self.identity("", path);
        assert_eq!(Path::new(&identity.path), self.at(want), "{path}");
        assert_eq!(identity.there, there, "{path}");
        let inside = want.strip_prefix("ws").map(|rest| rest.trim_start_matches('/').to_owned());
        assert_eq!(identity.inside, inside, "{path}");
        identity
    }

    #[track_caller]
    fn check_unknown(&self, path: &str, why: &str) {
        match self.seen("", path) {
            Fact::Unknown(text) => assert!(text.contains(why), "{path:?}: {text}"),
            fact => panic!("{path:?}: {fact:?}"),
        }
    }
}

#[test]
fn of_some_directories_only_what_is_like_something_is_ours() {
    let world = World::new();
    fs::create_dir_all(world.at("home/.codex")).unwrap();
    fs::write(world.at("home/.codex/work.config.toml"), "").unwrap();
    fs::write(world.at("home/.codex/notes.md"), "").unwrap();
    fs::hard_link(world.at("home/.codex/work.config.toml"), world.at("ws/a.toml")).unwrap();
    fs::hard_link(world.at("home/.codex/notes.md"), world.at("ws/b.md")).unwrap();
    let ours = |path: &str| world.identity("", path).ours;
    for path in ["~/.codex/work.config.toml", "~/.codex/new.config.toml", "a.toml"] {
        assert_eq!(ours(path).as_deref(), Some("profile"), "{path}");
    }
    for path in ["~/state/s1/extensions/x/extension.mjs", "~/state/s1/extensions"] {
        assert_eq!(ours(path).as_deref(), Some("extension"), "{path}");
    }
    for path in ["~/.codex/notes.md", "~/state/s1/plan.md", "b.md", "~/.codex"] {
        assert_eq!(ours(path), None, "{path}");
    }
    assert_eq!(world.identity("", "~/.codex").holds, None, "what may be there is no reason to keep the directory");
}

#[test]
fn agents_and_skills_are_known_wherever_their_host_has_them() {
    let world = World::new();
    world.link("../../out/inner", "home/.claude/skills");
    let seen = |path: &str| world.identity("", path).instructs;
    assert!(["~/.claude/skills/s/SKILL.md", "~/../out/inner/x"].into_iter().all(seen));
    assert!(!["~/.claude/notes.md", "src/a.rs", "../out/x"].into_iter().any(seen));
}

#[test]
fn all_spellings_of_a_file_are_one() {
    let world = World::new();
    let absolute = world.at("ws/src/a.rs");
    let absolute = absolute.to_str().unwrap();
    let through_root = format!("/proc/self/root{absolute}");
    world.link("src", "ws/s");
    world.link(absolute, "ws/direct");
    let mut spellings = vec!["src/a.rs", "./src/a.rs", "src//a.rs", "src/deep/../a.rs", "src/a.rs/", "src/a.rs/."];
    spellings.extend(["../ws/src/a.rs", "s/a.rs", "s/deep/../a.rs", "direct", "~/../ws/src/a.rs", absolute]);
    if cfg!(target_os = "linux") {
        spellings.extend(["/proc/self/cwd/src/a.rs", &through_root]);
    }
    for spelling in spellings {
        let identity = world.check(spelling, "ws/src/a.rs", There::File);
        assert_eq!((identity.ours, identity.holds), (None, None), "{spelling}");
    }
}

#[test]
fn directories_and_homes_are_where_they_are() {
    let world = World::new();
    for root in [".", "", "./", "src/..", "../ws"] {
        world.check(root, "ws", There::Directory);
    }
    world.check("~", "home", There::Directory);
    world.check("~/.claude", "home/.claude", There::Directory);
    world.check("./~", "ws/~", There::Nothing);
    world.check_unknown("~root/x", "home");
    world.check_unknown("~+/x", "home");
    let homeless = Ground { home: None, ..world.ground() };
    assert!(matches!(answer(&homeless, false, "", "~/x"), Fact::Unknown(_)));
    let adrift = Ground { root: "ws".into(), ..world.ground() };
    assert!(matches!(answer(&adrift, false, "", "x"), Fact::Unknown(_)));
}

#[test]
fn a_directory_may_be_relative_absolute_or_elsewhere() {
    let world = World::new();
    let out = world.at("out");
    for (dir, path, want) in [
        ("src", "a.rs", "ws/src/a.rs"),
        ("src/deep", "../a.rs", "ws/src/a.rs"),
        (out.to_str().unwrap(), "x", "out/x"),
        (out.to_str().unwrap(), "../ws/src/a.rs", "ws/src/a.rs"),
        ("~", "x", "home/x"),
        ("gone", "x", "ws/gone/x"),
    ] {
        assert_eq!(Path::new(&world.identity(dir, path).path), world.at(want), "{path} from {dir}");
    }
    // What `cwd` means to the call, not to us.
    if cfg!(target_os = "linux") {
        assert_eq!(Path::new(&world.identity("src", "/proc/self/cwd/a.rs").path), world.at("ws/src/a.rs"));
        assert!(matches!(world.seen("/proc/self/cwd", "a"), Fact::Unknown(_)));
    }
}

#[test]
fn links_come_before_dots() {
    let world = World::new();
    world.link("../out/inner", "ws/link");
    world.check("link/../x", "out/x", There::File);
    world.check("link/x", "out/inner/x", There::File);
    world.check("link/", "out/inner", There::Directory);
    // A link whose target itself climbs out of a link.
    world.link("link/../inner", "ws/twice");
    world.check("twice/x", "out/inner/x", There::File);
}

#[test]
fn what_may_be_read_in_two_ways_is_told_only_where_they_agree() {
    let world = World::new();
    world.link("../out/inner", "ws/link");
    let meant = |path: &str, other: &str| meant(&world.ground(), false, "", (path, &[other.to_owned()]));
    assert!(matches!(meant("link/../x", "x"), Fact::Unknown(_)));
    assert!(matches!(meant("~/x", "./~/x"), Fact::Unknown(_)));
    assert!(matches!(meant("gone/../x", "x"), Fact::Unknown(_)));
    assert_eq!(meant("src/deep/../a.rs", "src/a.rs"), world.seen("", "src/a.rs"));
}

#[test]
fn chains_end_and_loops_are_given_up() {
    let world = World::new();
    world.link("src/a.rs", "ws/l0");
    (1..=40).for_each(|n| world.link(&format!("l{}", n - 1), &format!("ws/l{n}")));
    world.check("l39", "ws/src/a.rs", There::File);
    world.check_unknown("l40", "links");
    world.link("loop", "ws/loop");
    world.check_unknown("loop", "links");
    world.link("pong", "ws/ping");
    world.link("ping/x", "ws/pong");
    world.check_unknown("ping", "links");
}

#[test]
fn what_is_missing_keeps_its_name() {
    let world = World::new();
    world.check("new", "ws/new", There::Nothing);
    world.check("a/b/./c", "ws/a/b/c", There::Nothing);
    world.check("src/a.rs/x", "ws/src/a.rs/x", There::Nothing);
    world.check_unknown("gone/../x", "no directory");
    world.check_unknown("src/a.rs/../x", "no directory");
    // A write through a dangling link lands at its target.
    world.link("../out/new/file", "ws/dangling");
    world.check("dangling", "out/new/file", There::Nothing);
    world.check("dangling/x", "out/new/file/x", There::Nothing);
}

#[test]
fn hostile_paths_are_bounded() {
    let world = World::new();
    world.check_unknown("a\0b", "NUL");
    world.check_unknown("gone/a\0b", "NUL");
    world.check_unknown(&"a/".repeat(1 << 20), "longer");
    world.check_unknown(&"x".repeat(256), "longer");
    world.check_unknown(&format!("gone/{}", "x".repeat(256)), "longer");
    world.check(&"./".repeat(2000), "ws", There::Directory);
    world.check(&"src/../".repeat(500), "ws", There::Directory);
    // Links that multiply: each target is as long as a path may be.
    for n in 0..8 {
        world.link(&format!("m{}/../", n + 1).repeat(300), &format!("ws/m{n}"));
    }
    world.link("src", "ws/m8");
    world.check_unknown("m0", "links");
    let long = format!("{}/x", "y".repeat(253));
    let long = [long.as_str(); 16].join("/");
    world.check_unknown(&long, "longer");
}

#[test]
fn names_that_are_no_text_are_not_told() {
    let world = World::new();
    let odd = std::ffi::OsStr::from_bytes(b"o\xffdd");
    fs::create_dir(world.at("ws").join(odd)).unwrap();
    symlink(odd, world.at("ws/odd")).unwrap();
    world.check_unknown("odd", "UTF-8");
    // Passing through is fine.
    world.check("odd/../src", "ws/src", There::Directory);
}

#[cfg(target_os = "linux")]
#[test]
fn other_views_of_the_files_are_not_told() {
    let world = World::new();
    let pid = std::process::id();
    world.link("/proc/self/fd/0", "ws/input");
    for path in ["/proc/self/fd/0", "/dev/fd/0", "/dev/stdin", "/proc/self/exe", "input"] {
        world.check_unknown(path, "another process");
    }
    world.check_unknown(&format!("/proc/{pid}/cwd/jackline.yaml"), "another process");
    world.check_unknown(&format!("/proc/{pid}/task/{pid}/root/etc"), "another process");
    world.check_unknown("/proc/thread-self/../../cwd/jackline.yaml", "another process");
    // These may be refused by the kernel first.
    world.check_unknown("/proc/1/root/etc", "");
    world.check_unknown("/proc/1/cwd", "");
    assert_eq!(world.identity("", "/proc/self/../self/status").there, There::File);
    assert_eq!(world.identity("", "/dev/null").there, There::Other);
    assert_eq!(world.identity("", "/../../dev/null").path, "/dev/null");
    assert_eq!(world.identity("", "/").path, "/");
}

#[test]
fn names_outside_that_lead_to_ours_are_told() {
    let world = World::new();
    assert_eq!(world.identity("", "..").leads, ["home", "ws"]);
    assert_eq!(world.identity("", "../home").leads, [".claude", ".codex", "state"]);
    assert!(world.identity("", "../out").leads.is_empty(), "nothing of ours lies there");
    assert!(world.identity("", ".").leads.is_empty(), "inside, the names themselves are known");
}

#[track_caller]
fn check_ours(world: &World, path: &str, ours: Option<&str>, holds: Option<&str>) {
    let identity = world.identity("", path);
    assert_eq!((identity.ours.as_deref(), identity.holds.as_deref()), (ours, holds), "{path}");
}

#[test]
fn our_files_are_known_by_place() {
    let world = World::new();
    check_ours(&world, "jackline.yaml", Some("definition"), None);
    check_ours(&world, "src/../jackline.yaml", Some("definition"), None);
    check_ours(&world, "jackline.yaml2", None, None);
    check_ours(&world, ".jackline", Some("policies"), None);
    check_ours(&world, ".jackline/policies/new.md", Some("policies"), None);
    check_ours(&world, ".jackline2", None, None);
    check_ours(&world, "~/.claude/settings.json", Some("settings"), None);
    check_ours(&world, "~/.claude/settings.local.json", None, None);
    world.link("jackline.yaml", "ws/alias");
    check_ours(&world, "alias", Some("definition"), None);
}

#[test]
fn directories_say_what_they_hold() {
    let world = World::new();
    check_ours(&world, ".", None, Some("definition"));
    check_ours(&world, "/", None, Some("definition"));
    check_ours(&world, "~", None, Some("settings"));
    check_ours(&world, "~/.claude", None, Some("settings"));
    check_ours(&world, "src", None, None);
    fs::remove_dir(world.at("home/.claude")).unwrap();
    // A directory put here brings settings with it.
    check_ours(&world, "~/.claude", None, Some("settings"));
    check_ours(&world, "~/.claude/settings.json", Some("settings"), None);
}

#[test]
fn our_files_are_known_by_inode() {
    let world = World::new();
    fs::hard_link(world.at("ws/jackline.yaml"), world.at("out/copy")).unwrap();
    fs::hard_link(world.at("ws/.jackline/policies/p.md"), world.at("out/policy")).unwrap();
    fs::hard_link(world.at("out/x"), world.at("out/y")).unwrap();
    check_ours(&world, "../out/copy", Some("definition"), None);
    check_ours(&world, "../out/policy", Some("policies"), None);
    check_ours(&world, "../out/y", None, None);
}

#[test]
fn links_on_the_way_to_our_files_count() {
    let world = World::new();
    // Settings kept elsewhere: the link, its directory and the target are all theirs.
    world.link("../../out/inner/claude.json", "home/.claude/settings.json");
    check_ours(&world, "~/.claude/settings.json", Some("settings"), None);
    check_ours(&world, "../out/inner/claude.json", Some("settings"), None);
    check_ours(&world, "../out/inner", None, Some("settings"));
    check_ours(&world, "~/.claude", None, Some("settings"));
    // A link within our directory: what it names is not ours, removing it is.
    world.link("../../../src/a.rs", "ws/.jackline/policies/link.md");
    check_ours(&world, ".jackline/policies/link.md", Some("policies"), None);
    check_ours(&world, "src/a.rs", None, None);
    // An own path that cannot be walked still counts by its name.
    fs::remove_file(world.at("ws/jackline.yaml")).unwrap();
    world.link("jackline.yaml", "ws/jackline.yaml");
    check_ours(&world, ".", None, Some("definition"));
}

#[test]
fn too_many_own_entries_are_not_searched() {
    let mut left = 1;
    let world = World::new();
    let id = FileId { device: 0, inode: 0 };
    assert!(matches!(lists(&world.at("ws"), id, &mut left), Err(Unclear::Entries)));
    let mut left = 100;
    assert!(matches!(lists(&world.at("ws"), id, &mut left), Ok(false)));
}

#[test]
fn case_is_ignored_where_the_disk_ignores_it() {
    let world = World::new();
    fs::remove_file(world.at("ws/jackline.yaml")).unwrap();
    let ours = |folds| match answer(&world.ground(), folds, "", "Jackline.YAML") {
        Fact::Identity(identity) => identity.ours,
        fact => panic!("{fact:?}"),
    };
    assert_eq!(ours(true).as_deref(), Some("definition"));
    if !fold::folds(&world.at("ws")) {
        assert_eq!(ours(false), None);
    }
}

#[test]
fn a_pipe_is_something_else() {
    let world = World::new();
    assert!(Command::new("mkfifo").arg(world.at("ws/pipe")).status().unwrap().success());
    world.check("pipe", "ws/pipe", There::Other);
    world.check("pipe/x", "ws/pipe/x", There::Nothing);
}

#[test]
fn nothing_is_remembered() {
    let world = World::new();
    world.check("turn", "ws/turn", There::Nothing);
    world.link("../out/x", "ws/turn");
    world.check("turn", "out/x", There::File);
}
