//! Repositories inside the one that is looked at: what lies in them is seen, whatever git makes of them.

use std::fs;

use serde_json::json;

use super::World;
use super::hidden::{fires_for, world};

/// The same with a submodule `src/sm` that holds `old.py`.
fn with_submodule() -> World {
    let (world, library) = (world(), "library");
    fs::create_dir(world.path(library)).expect("made");
    fs::write(world.path(library).join("old.py"), "1\n").expect("written");
    world.git_in(&world.path(library), &["init", "-q"]);
    world.git_in(&world.path(library), &["add", "-A"]);
    world.git_in(&world.path(library), &["commit", "-qm", "begin"]);
    world.git(&["submodule", "add", "-q", &world.path(library).display().to_string(), "src/sm"]);
    world.commit("submodule");
    assert_eq!(world.outstanding(), [""; 0]);
    world
}

/// Has the index take a directory for a repository that is kept by this commit.
fn link(world: &World, repository: &str, name: &str) {
    let commit = world.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{commit},{name}");
    world.git_in(&world.repo(repository), &["update-index", "--add", "--cacheinfo", &entry]);
}

#[test]
fn a_repository_that_git_does_not_know_is_looked_into() {
    let world = world();
    world.git(&["init", "-q", "src/new"]);
    world.write("src/new/a.py", "1\n");
    fires_for(&world, &["src/new", "src/new/a.py"]);
    // One that git cannot list any more is walked through.
    fs::write(world.repo("src/new/.git/config"), "[core\n").expect("written");
    fires_for(&world, &["src/new", "src/new/a.py"]);
}

#[test]
fn a_submodule_is_looked_into() {
    let world = with_submodule();
    world.write("src/sm/new.py", "1\n");
    world.write("src/sm/old.py", "2\n");
    fires_for(&world, &["src/sm/new.py", "src/sm/old.py"]);
    world.git_in(&world.repo("src/sm"), &["add", "-A"]);
    world.git_in(&world.repo("src/sm"), &["commit", "-qm", "more"]);
    fires_for(&world, &["src/sm", "src/sm/new.py", "src/sm/old.py"]);
}

#[test]
fn what_git_takes_for_another_repository_is_looked_into() {
    let world = world();
    link(&world, "", "src/deep");
    world.write("src/deep/n.py", "1\n");
    fires_for(&world, &["src/deep", "src/deep/n.py"]);
    world.commit("the agent commits");
    world.write("src/deep/n.py", "2\n");
    fires_for(&world, &["src/deep", "src/deep/n.py"]);
}

#[test]
fn a_submodule_that_is_no_repository_any_more_counts_as_a_whole() {
    let world = with_submodule();
    fs::remove_file(world.repo("src/sm/.git")).expect("removed");
    world.write("src/sm/old.py", "2\n");
    fires_for(&world, &["src/sm", "src/sm/old.py"]);
    // So does one that another repository has taken the place of.
    let sm = world.repo("src/sm");
    world.git_in(&sm, &["init", "-q"]);
    world.git_in(&sm, &["add", "-A"]);
    world.git_in(&sm, &["commit", "-qm", "all of it"]);
    fires_for(&world, &["src/sm", "src/sm/old.py"]);
}

#[test]
fn a_submodule_that_was_never_fetched_asks_for_nothing() {
    let world = with_submodule();
    world.git(&["submodule", "deinit", "-q", "-f", "src/sm"]);
    assert_eq!(world.outstanding(), [""; 0]);
    world.write("src/sm/old.py", "2\n");
    fires_for(&world, &["src/sm", "src/sm/old.py"]);
}

#[test]
fn what_an_unknown_repository_takes_for_another_is_looked_into() {
    for known in [true, false] {
        let world = world();
        world.git(&["init", "-q", "src/new"]);
        fs::create_dir_all(world.repo("src/new/deep")).expect("made");
        if known {
            world.git_in(&world.repo("src/new"), &["init", "-q", "deep"]);
        }
        link(&world, "src/new", "deep");
        world.write("src/new/deep/a.py", "1\n");
        fires_for(&world, &["src/new", "src/new/deep", "src/new/deep/a.py"]);
    }
}

#[test]
fn a_repository_that_says_its_work_tree_is_elsewhere_is_looked_into() {
    let world = world();
    let (elsewhere, empty) = (world.path("elsewhere"), world.path("empty"));
    fs::create_dir_all(&empty).expect("made");
    world.git_in(&world.path("home"), &["init", "-q", &elsewhere.display().to_string()]);
    let config = format!("[core]\n\trepositoryformatversion = 0\n\tworktree = {}\n", empty.display());
    fs::write(elsewhere.join(".git/config"), config).expect("written");
    world.write("src/new/.git", &format!("gitdir: {}\n", elsewhere.join(".git").display()));
    world.write("src/new/a.py", "1\n");
    fires_for(&world, &["src/new", "src/new/a.py"]);
}

#[test]
fn another_work_tree_of_the_repository_counts_for_what_differs_in_it() {
    let world = world();
    world.git(&["worktree", "add", "-q", "--detach", "src/wt"]);
    assert_eq!(world.outstanding(), [""; 0], "it is as it was checked out");
    world.write("src/wt/src/t.py", "2\n");
    fires_for(&world, &["src/wt/src/t.py"]);
    world.write("src/wt/new.py", "1\n");
    world.git_in(&world.repo("src/wt"), &["add", "-A"]);
    world.git_in(&world.repo("src/wt"), &["commit", "-qm", "on its own"]);
    fires_for(&world, &["src/wt/new.py", "src/wt/src/t.py"]);
}

#[test]
fn a_command_is_given_files_and_no_directory() {
    let world = World::with("cat", "---\nname: Cat\ntrigger: src/**\naction: {command: 'cat {file}'}\n---\n");
    world.git(&["init", "-q", "src/new"]);
    world.write("src/new/a.py", "1\n");
    let seen = world.check(&["--trust"]);
    assert_eq!((&seen["outstanding"], &seen["settled"][0]["settled_by"]), (&json!([]), &json!("command")), "{seen}");
}

#[test]
fn a_submodule_that_is_taken_out_or_replaced_is_asked_about() {
    let rid = |world: &World| fs::remove_dir_all(world.repo("src/sm")).expect("removed");
    for way in ["removed", "taken out of the index", "replaced by a link"] {
        let world = with_submodule();
        world.policy("inside", "---\ntrigger: src/sm/*.py\n---\nLook.\n");
        world.policy("elsewhere", "---\ntrigger: docs/**\n---\nLook.\n");
        world.commit("policies");
        match way {
            "removed" => rid(&world),
            "taken out of the index" => drop(world.git(&["rm", "-qf", "src/sm"])),
            _ => {
                rid(&world);
                std::os::unix::fs::symlink(world.path("library"), world.repo("src/sm")).expect("linked");
            }
        }
        assert_eq!(world.outstanding(), ["inside", "rule"], "{way}");
    }
}
