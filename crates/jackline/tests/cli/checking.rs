//! `check`, `schema` and `trust`: a definition, its faults, and who accepts it.

use crate::{DEFINITION, World};

#[test]
fn check_of_a_fine_definition() {
    let world = World::defined(DEFINITION);
    world.check(&["check"], 0, "jackline.yaml: fine\n", "");
    world.check(
        &["check", "--format", "json"],
        0,
        r#"{"faults":[],"file":"TOP/ws/jackline.yaml","valid":true}
"#,
        "",
    );
    world.check(&["check", "jackline.yaml"], 0, "jackline.yaml: fine\n", "");
    world.check(&["check", "--definition", "jackline.yaml"], 0, "jackline.yaml: fine\n", "");
}

#[test]
fn check_shows_all_faults_at_once() {
    let world = World::defined(
        r#"jackline: 1
polices: []
mode: obsrve
limits: { steps: 0 }
file_policies: { output: some }
policies:
  - name: order
    sequence: { requires: { commit: [tset] }, fersh: true }
"#,
    );
    world.check(
        &["check"],
        1,
        r#"error: unknown key `polices`
  --> jackline.yaml:2:1
   |
 2 | polices: []
   | ^^^^^^^
   = help: did you mean `policies`?

error: `mode` must be `enforce` or `observe`, found `obsrve`
  --> jackline.yaml:3:7
   |
 3 | mode: obsrve
   |       ^^^^^^
   = help: did you mean `observe`?

error: `steps` must be at least 1, found 0
  --> jackline.yaml:4:18
   |
 4 | limits: { steps: 0 }
   |                  ^

error: `output` must be `batched` or `individual`, found `some`
  --> jackline.yaml:5:26
   |
 5 | file_policies: { output: some }
   |                          ^^^^

warning: policy "order": no host, step or declaration knows `commit`
  --> jackline.yaml:8:29
   |
 8 |     sequence: { requires: { commit: [tset] }, fersh: true }
   |                             ^^^^^^
   = help: declare it under `tools.declare`, or make it a step

warning: policy "order": no host, step or declaration knows `tset`
  --> jackline.yaml:8:38
   |
 8 |     sequence: { requires: { commit: [tset] }, fersh: true }
   |                                      ^^^^
   = help: declare it under `tools.declare`, or make it a step

error: unknown key `fersh`
  --> jackline.yaml:8:47
   |
 8 |     sequence: { requires: { commit: [tset] }, fersh: true }
   |                                               ^^^^^
   = help: did you mean `fresh`?

5 errors, 2 warnings
"#,
        "",
    );
}

#[test]
fn check_speaks_json() {
    let world = World::defined(
        r#"jackline: 1
mode: obsrve
policies:
  - sequence: { requires: { Bash: [tset] } }
"#,
    );
    world.check(&["check", "--format", "json"], 1, r#"{"faults":[{"column":7,"help":"did you mean `observe`?","level":"error","line":2,"message":"`mode` must be `enforce` or `observe`, found `obsrve`"},{"column":36,"help":"declare it under `tools.declare`, or make it a step","level":"warning","line":4,"message":"policy \"sequence-1\": no host, step or declaration knows `tset`"}],"file":"TOP/ws/jackline.yaml","valid":false}
"#, "");
}

#[test]
fn check_warns_of_names_nobody_knows() {
    let world = World::defined(
        r#"jackline: 1
steps: { test: { tool: Bash } }
policies:
  - sequence: { requires: { Bash: [tset] } }
"#,
    );
    world.check(
        &["check"],
        0,
        r#"warning: policy "sequence-1": no host, step or declaration knows `tset`
  --> jackline.yaml:4:36
   |
 4 |   - sequence: { requires: { Bash: [tset] } }
   |                                    ^^^^
   = help: did you mean `test`?

1 warning
jackline.yaml: fine
"#,
        "",
    );
}

#[test]
fn check_warns_of_nested_definitions() {
    let world = World::defined(DEFINITION);
    world.write("ws/sub/jackline.yaml", "jackline: 1\n");
    world.check(
        &["check"],
        0,
        r#"warning: `sub/jackline.yaml` is a definition below this one and is not used
  = help: move its policies here; where this directory is not wired with `--scope local`, it counts for sessions that begin there

1 warning
jackline.yaml: fine
"#,
        "",
    );
}

#[test]
fn check_without_anything_to_read() {
    let world = World::empty();
    world.check(
        &["check"],
        2,
        "",
        r#"error: there is no jackline.yaml in `TOP/ws` or above it
  help: write one that begins with `jackline: 1`, or name one: `jackline check FILE`
"#,
    );
    world.check(
        &["check", "nowhere.yaml"],
        2,
        "",
        "error: `nowhere.yaml` cannot be read: No such file or directory (os error 2)\n",
    );
    world.check(&["check", "."], 2, "", "error: `.` cannot be read: Is a directory (os error 21)\n");
    world.check(
        &["check", "--frob"],
        2,
        "",
        r#"error: unexpected argument '--frob' found

  tip: to pass '--frob' as a value, use '-- --frob'

Usage: jackline check [OPTIONS] [FILE]

For more information, try '--help'.
"#,
    );
}

#[test]
fn trust_is_for_people() {
    let world = World::defined(DEFINITION);
    world.check(
        &["trust"],
        2,
        r#"jackline.yaml (sha256:HASH)
  the first definition seen here
"#,
        r#"error: this is for people, and no terminal is attached
  help: run it in a terminal; `--yes` answers only there
"#,
    );
    world.check(
        &["trust", "--yes"],
        2,
        r#"jackline.yaml (sha256:HASH)
  the first definition seen here
"#,
        r#"error: this is for people, and no terminal is attached
  help: run it in a terminal; `--yes` answers only there
"#,
    );
}

#[test]
fn trust_says_what_becomes_looser() {
    let world = World::played();
    world.write("ws/jackline.yaml", "jackline: 1\n");
    world.check(
        &["trust", "--yes"],
        2,
        r#"jackline.yaml (sha256:HASH)
  looser: agent changed its identity
  looser: step "test" was removed
  looser: step "commit" was removed
  looser: policy "sequence-1" was removed
  looser: policy "no-push" was removed
  looser: policy "soft" was removed
"#,
        r#"error: this is for people, and no terminal is attached
  help: run it in a terminal; `--yes` answers only there
"#,
    );
}

#[test]
fn trust_without_a_definition() {
    let world = World::empty();
    world.check(
        &["trust"],
        2,
        "",
        r#"error: there is no jackline.yaml in `TOP/ws` or above it
  help: there is nothing to trust; write one that begins with `jackline: 1`
"#,
    );
}

#[test]
fn check_looks_at_the_schemas_that_are_named() {
    let world = World::defined(
        r#"jackline: 1
tools:
  declare:
    deploy: { schema: { type: objct } }
    fetch:  { schema: { $ref: "https://example.com/fetch.json" } }
    report: { schema: schemas/report.json, output_schema: { type: string } }
"#,
    );
    world.check(
        &["check"],
        1,
        r#"error: tool `deploy`: its `schema` cannot be used: it is no schema at `/type`: there is no type "objct"
  --> jackline.yaml:4:23
   |
 4 |     deploy: { schema: { type: objct } }
   |                       ^^^^^^^^^^^^^^^
   = help: types are `array`, `boolean`, `integer`, `null`, `number`, `object` and `string`

error: tool `fetch`: its `schema` cannot be used: it refers to `https://example.com/fetch.json`, and nothing outside a schema is fetched
  --> jackline.yaml:5:23
   |
 5 |     fetch:  { schema: { $ref: "https://example.com/fetch.json" } }
   |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = help: put what it refers to under `$defs`, and refer to it as `#/$defs/name`

error: tool `report`: `schemas/report.json`, its `schema`, cannot be used: it cannot be read: No such file or directory (os error 2)
  --> jackline.yaml:6:23
   |
 6 |     report: { schema: schemas/report.json, output_schema: { type: string } }
   |                       ^^^^^^^^^^^^^^^^^^^

3 errors
"#,
        "",
    );
}
