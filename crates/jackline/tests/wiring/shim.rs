//! The plugin in OpenCode, run by node: whatever answers in our program's place, nothing but an object lets a call pass.

use std::process::Command;

use jackline_rehearsal::install;

use crate::others::world;
use crate::{World, ran};

/// Asks the plugin about a call, as OpenCode does; what it throws is printed.
const ASK: &str = r#"
const { Jackline } = await import(process.argv[2]);
const client = { session: { get: async () => ({ data: {} }) } };
const hooks = await Jackline({ client, directory: process.argv[3], worktree: process.argv[3] });
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command: "true" } });
  console.log("passed");
} catch (fault) {
  console.log("refused: " + fault.message);
}
"#;

/// What becomes of a call when this answers in our place.
#[track_caller]
fn check(world: &World, program: &str, want: &str) {
    if !program.is_empty() {
        world.script("bin/jackline", program);
    }
    let plugin = world.path("home/.config/opencode/plugin/jackline.js");
    let module = world.path("home/.config/opencode/plugin/jackline.mjs");
    std::fs::copy(plugin, &module).expect("copied");
    world.write("ask.mjs", ASK);
    let mut node = Command::new(install::NODE.path().expect("installed"));
    node.arg(world.path("ask.mjs")).arg(&module).arg(world.path("ws")).env("HOME", world.path("home"));
    let told = ran(node, "");
    assert!(told.out.starts_with(want), "{program}: {}{}", told.out, told.err);
}

#[test]
fn only_an_object_lets_a_call_pass() {
    let world = world("opencode", "1.18.33");
    world.run(&["init", "opencode"]).check(0, &[]);
    check(&world, "", "passed");
    check(&world, "cat >/dev/null; echo '{}'", "passed");
    check(&world, "exit 0", "refused: Jackline's answer cannot be read");
    check(&world, "cat >/dev/null; echo '[]'", "refused: Jackline's answer cannot be read: it is no object");
    check(&world, "cat >/dev/null; echo null", "refused: Jackline's answer cannot be read");
    check(&world, "exit 3", "refused: Jackline ended with 3");
}
