//! Another work tree of the repository: the client reads a person's settings of the first one there, too.

use std::fs;
use std::process::Command;

use crate::terminal::ran_by_a_person;
use crate::{LOCAL, Ran, World, is_there, ran};

/// A wired project with another work tree.
fn world() -> World {
    with_another(World::wired())
}

fn with_another(world: World) -> World {
    for words in
        [&["init", "-q"][..], &["add", "jackline.yaml"], &["commit", "-qm", "x"], &["worktree", "add", "../wt"]]
    {
        let mut git = world.tree(Command::new("git"), "ws");
        git.args(["-c", "user.name=dev", "-c", "user.email=dev@example.com"]).args(words);
        assert!(git.output().expect("git runs").status.success(), "{words:?}");
    }
    world
}

impl World {
    fn tree(&self, mut command: Command, dir: &str) -> Command {
        command.current_dir(self.path(dir)).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        command
    }

    /// Runs a command of ours in the other work tree.
    fn run_there(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.current_dir(self.path("wt"));
        ran(command, "")
    }
}

#[test]
fn what_is_wired_in_one_work_tree_is_wired_in_all() {
    let world = world();
    world.run_there(&["doctor"]).check(0, &["asked about 12 events", "3 policies, trusted", "all is fine"]);
    let before = world.read(LOCAL);
    world
        .run_there(&["init"])
        .check(0, &["ws/.claude/settings.local.json (local), for all of the repository", "nothing to do"]);
    world.run_there(&["init", "--scope", "user"]).check(2, &["claude is wired already in", "(local)"]);
    assert!(!is_there(&world.path("wt/.claude")) && world.read(LOCAL) == before);
    let mut uninit = world.command(&["uninit", "claude", "--yes"]);
    uninit.current_dir(world.path("wt"));
    ran_by_a_person(uninit, "").check(0, &["ws/.claude/settings.local.json"]);
    assert!(!is_there(&world.path(LOCAL)));
    world.run_there(&["doctor"]).check(1, &["no settings hold our hooks"]);
}

/// Sessions there are at home in the first one: what a person lets pass in either counts for them.
#[test]
fn exceptions_and_status_are_those_of_the_work_tree_where_sessions_are_at_home() {
    let world = world();
    let mut allow = world.command(&["allow", "no-force-push", "--for", "10m", "--reason", "a rebase"]);
    allow.current_dir(world.path("wt"));
    ran_by_a_person(allow, "y\n").check(0, &["exception"]);
    let there = world.run_there(&["status"]);
    there.check(0, &["/wt", "/ws/jackline.yaml", "no-force-push", "a rebase"]);
    world.run(&["status"]).check(0, &["no-force-push", "a rebase"]);
    let mut on = world.command(&["on"]);
    on.current_dir(world.path("wt"));
    ran_by_a_person(on, "").check(0, &["ended exception"]);
    world.run(&["status"]).check(0, &["exceptions  none"]);
    let mut trust = world.command(&["trust", "--yes"]);
    trust.current_dir(world.path("wt"));
    ran_by_a_person(trust, "").check(0, &["trusted"]);
}

/// The client reads a person's settings of the top in every directory of the repository.
#[test]
fn a_package_with_a_definition_of_its_own_is_at_home_where_the_top_is_wired() {
    let world = world();
    world.write(
        "ws/pkg/jackline.yaml",
        "jackline: 1\npolicies: [{ name: no-curl, rule: { tool: '@shell', command: 'curl*' } }]\n",
    );
    let there = |mut command: Command| {
        command.current_dir(world.path("ws/pkg"));
        command
    };
    let run = |words: &[&str]| ran(there(world.command(words)), "");
    run(&["doctor"])
        .check(0, &["asked about 12 events", "is not used: sessions that begin here are judged by", "2 warnings"]);
    run(&["init"]).check(0, &["ws/.claude/settings.local.json (local), for all of the repository", "nothing to do"]);
    run(&["status"]).check(0, &["/ws/jackline.yaml", "Claude Code (local settings)"]);
    ran_by_a_person(there(world.command(&["trust", "--yes"])), "")
        .check(0, &["are judged by what is declared in", "trusted"]);
    let allow = ["allow", "no-force-push", "--once", "--reason", "a rebase", "--yes"];
    ran_by_a_person(there(world.command(&allow)), "").check(0, &["exception"]);
    world.run(&["status"]).check(0, &["no-force-push", "a rebase"]);
}

/// What is wired in another work tree than the first counts at its top alone.
#[test]
fn another_work_tree_that_is_wired_by_itself_is_red_below_its_top() {
    let world = World::new();
    world.write("ws/jackline.yaml", "jackline: 1\n");
    let world = with_another(world);
    fs::create_dir_all(world.path("wt/pkg")).expect("made");
    world.run_there(&["init"]).check(0, &["wrote .claude/settings.local.json"]);
    world.run_there(&["doctor"]).check(0, &["does not read it where it is started in a directory below"]);
    let mut doctor = world.command(&["doctor"]);
    doctor.current_dir(world.path("wt/pkg"));
    ran(doctor, "").check(1, &["does not read it where it is started in this directory, and asks nobody"]);
}

#[test]
fn a_project_that_was_copied_with_its_wiring_is_red() {
    let world = World::wired();
    fs::create_dir_all(world.path("copy/.claude")).expect("made");
    for name in [".claude/settings.local.json", "jackline.yaml"] {
        fs::copy(world.path("ws").join(name), world.path("copy").join(name)).expect("copied");
    }
    let mut doctor = world.command(&["doctor"]);
    doctor.current_dir(world.path("copy"));
    ran(doctor, "").check(1, &["wired for another project", "judged by its definition", "jackline init"]);
    let mut init = world.command(&["init"]);
    init.current_dir(world.path("copy"));
    ran(init, "").check(0, &["wrote .claude/settings.local.json"]);
    let settings = world.read("copy/.claude/settings.local.json");
    assert!(settings.contains(&world.path("copy").display().to_string()), "{settings}");
}
