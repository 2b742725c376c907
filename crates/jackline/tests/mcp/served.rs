//! Our own server over standard input and output: what it offers, what each tool does, and what is on record.

use std::fs;

use serde_json::{Value, json};

use super::World;
use super::client::{Client, code, text};

impl World {
    /// Our own server, greeted.
    pub(crate) fn served(&self, options: &[&str]) -> Client {
        let mut client = self.ungreeted_server(options);
        client.greet();
        client
    }

    pub(crate) fn ungreeted_server(&self, options: &[&str]) -> Client {
        Client::start(self.command(&[&["mcp", "serve"], options].concat()))
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("ws/{name}"))).expect("there")
    }
}

fn value(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]
}

fn failed(answer: &Value) -> bool {
    answer["result"]["isError"] == json!(true)
}

#[test]
fn every_tool_has_closed_schemas_and_says_what_it_does() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "calls_list",
            "edit_file",
            "fact_list",
            "fact_record",
            "fact_retract",
            "fact_summarise",
            "guard_status",
            "list_dir",
            "park",
            "read_file",
            "search",
            "todo_claim",
            "todo_create",
            "todo_list",
            "todo_start",
            "todo_verify",
            "write_file"
        ]
    );
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false), "{tool}");
        assert!(tool["description"].as_str().is_some_and(|about| about.len() > 20), "{tool}");
        assert!(tool["outputSchema"]["oneOf"].is_array(), "{tool}");
    }
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn the_version_without_a_greeting_is_spoken_too() {
    let world = World::new("jackline: 1\n");
    let mut client = world.ungreeted_server(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({"_meta": meta}));
    assert!(
        found["result"]["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))),
        "{found}"
    );
    let listed = client.request("tools/list", json!({"_meta": meta}));
    assert_eq!(listed["result"]["resultType"], "complete", "{listed}");
    let made = client.request("tools/call", json!({"name": "todo_list", "arguments": {}, "_meta": meta}));
    assert_eq!(value(&made)["todos"], json!([]), "{made}");
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn todos_go_their_way_and_refusals_have_codes() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let made = client.call("todo_create", json!({"content": "notes", "checks": [{"file_exists": "notes.md"}]}));
    let id = value(&made)["id"].as_str().expect("an id").to_owned();
    let early = client.call("todo_claim", json!({"id": id, "explanation": "it is all done and proven"}));
    assert!(failed(&early));
    assert_eq!((code(&early), &value(&early)["code"]), ("todo/invalid-transition", &json!("todo/invalid-transition")));
    assert!(text(&early).contains("it must be in_progress"), "{early}");
    client.call("todo_start", json!({"id": id}));
    client.call("write_file", json!({"path": "notes.md", "content": "a\n"}));
    assert_eq!(
        value(&client.call(
            "todo_claim",
            json!({"id": id, "explanation": "the notes are written down", "evidence": [{"file": "notes.md"}]})
        ))["status"],
        "claimed"
    );
    let verified = client.call("todo_verify", json!({"id": id}));
    assert_eq!(
        (&value(&verified)["status"], &value(&verified)["results"][0]["passed"]),
        (&json!("verified"), &json!(true))
    );
    let calls = client.call("calls_list", json!({"tool": "write_file"}));
    let call = value(&calls)["calls"][0]["id"].as_str().expect("an id").to_owned();
    let fact = client.call("fact_record", json!({"text": "the notes are there", "sources": [call]}));
    let fact = value(&fact)["id"].as_str().expect("an id").to_owned();
    assert_eq!(code(&client.call("fact_record", json!({"text": "x", "sources": ["none"]}))), "fact/sources");
    let whole = client.call("fact_summarise", json!({"ids": [fact], "text": "notes"}));
    let whole = value(&whole)["id"].as_str().expect("an id").to_owned();
    assert_eq!(value(&client.call("fact_list", json!({})))["facts"].as_array().map(Vec::len), Some(1));
    assert!(!failed(&client.call("fact_retract", json!({"id": whole, "reason": "they went away"}))));
    assert_eq!(value(&client.call("park", json!({"reason": "no key"}))), &json!({"parked": true}));
    let status = client.call("guard_status", json!({}));
    assert_eq!(value(&status)["todos"], json!({"total": 1, "open": 0}));
    client.leave();
    let actors: Vec<Value> = world.records_of("todo.created").iter().map(|record| record["actor"].clone()).collect();
    assert_eq!(actors, [json!("agent")], "whatever the arguments say");
    assert_eq!(world.records_of("park").len(), 1);
    let (asked, ended) = (world.records_of("call.requested").len(), world.records_of("call.finished").len());
    assert_eq!(asked, ended, "every call that was let through finished");
}

#[test]
fn the_third_time_that_checks_fail_a_person_is_needed() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let made = client.call("todo_create", json!({"content": "notes", "checks": [{"file_exists": "notes.md"}]}));
    let id = value(&made)["id"].as_str().expect("an id").to_owned();
    client.call("todo_start", json!({"id": id}));
    client.call("todo_claim", json!({"id": id, "explanation": "the notes are written down"}));
    for status in ["claimed", "claimed", "needs_human"] {
        let verified = client.call("todo_verify", json!({"id": id}));
        let told = value(&verified);
        assert_eq!((&told["code"], &told["id"], &told["status"]), (&json!("todo/checks"), &json!(id), &json!(status)));
        assert_eq!(told["results"][0]["passed"], json!(false), "{told}");
    }
    client.leave();
}

#[test]
fn files_are_read_by_pages_with_their_numbers() {
    let world = World::new("jackline: 1\nreads: { lines_max: 3 }\n");
    let lines: String = (1..=7).map(|n| format!("line {n}\n")).collect();
    fs::write(world.path("ws/a.txt"), &lines).expect("written");
    let mut client = world.served(&[]);
    let first = client.call("read_file", json!({"path": "a.txt", "limit": 100}));
    let want = json!({
        "path": "a.txt", "content": "line 1\nline 2\nline 3\n", "start_line": 1, "lines_shown": 3,
        "lines_remaining": 4, "has_more": true, "next_offset": 3, "total_lines": 7, "line_cut": false, "next_byte": null,
    });
    assert_eq!(value(&first), &want);
    assert!(
        text(&first).ends_with("\n[lines_shown: 3, lines_remaining: 4, has_more: true, next_offset: 3]"),
        "{first}"
    );
    let last = client.call("read_file", json!({"path": world.path("ws/a.txt"), "offset": 6}));
    assert_eq!((&value(&last)["content"], &value(&last)["next_offset"]), (&json!("line 7\n"), &Value::Null));
    assert_eq!(text(&last), "line 7\n");
    // What no page can be.
    assert_eq!(code(&client.call("read_file", json!({"path": "a.txt", "offset": -1}))), "schema/invalid");
    assert_eq!(code(&client.call("read_file", json!({"path": "b.txt"}))), "workspace/missing");
    assert_eq!(code(&client.call("read_file", json!({"path": "."}))), "workspace/unfit");
    fs::write(world.path("ws/bin"), [0_u8; 64]).expect("written");
    assert_eq!(code(&client.call("read_file", json!({"path": "bin"}))), "workspace/unfit");
}

#[test]
fn reads_are_bounded_where_nothing_is_declared() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("ws/a.txt"), "x\n".repeat(2000)).expect("written");
    let mut client = world.served(&[]);
    let page = client.call("read_file", json!({"path": "a.txt", "limit": 2000}));
    assert_eq!((&value(&page)["lines_shown"], &value(&page)["lines_remaining"]), (&json!(500), &json!(1500)));
}

#[test]
fn writes_and_edits_are_judged_and_put_in_place_whole() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new("jackline: 1\npolicies:\n  - read_before_write: {}\n  - paths: { protect: [\"*.lock\"] }\n");
    fs::write(world.path("ws/run.sh"), "echo a\necho a\n").expect("written");
    fs::set_permissions(world.path("ws/run.sh"), fs::Permissions::from_mode(0o750)).expect("set");
    let mut client = world.served(&[]);
    let edit =
        |old: &str, all: bool| json!({"path": "run.sh", "old_text": old, "new_text": "echo b", "replace_all": all});
    assert_eq!(code(&client.call("edit_file", edit("echo a", true))), "read-before-write/unread");
    client.call("read_file", json!({"path": "run.sh"}));
    assert_eq!(code(&client.call("edit_file", edit("echo a", false))), "workspace/no-match");
    assert_eq!(code(&client.call("edit_file", edit("echo z", false))), "workspace/no-match");
    assert_eq!(world.file("run.sh"), "echo a\necho a\n");
    let edited = client.call("edit_file", edit("echo a", true));
    assert_eq!(value(&edited)["replaced"], json!(2));
    assert_eq!(world.file("run.sh"), "echo b\necho b\n");
    let mode = fs::metadata(world.path("ws/run.sh")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o750, "its rights are as they were");
    fs::set_permissions(world.path("ws/run.sh"), fs::Permissions::from_mode(0o440)).expect("set");
    let locked = json!({"path": "run.sh", "old_text": "echo b", "new_text": "echo c", "replace_all": true});
    assert_eq!(code(&client.call("edit_file", locked)), "workspace/unfit", "its rights are heeded");
    let made = client.call("write_file", json!({"path": "deep/er/new.txt", "content": "x"}));
    assert_eq!(value(&made), &json!({"path": "deep/er/new.txt", "bytes": 1, "created": true}));
    assert_eq!(code(&client.call("write_file", json!({"path": "x.lock", "content": ""}))), "paths/protected");
    assert_eq!(code(&client.call("write_file", json!({"path": "jackline.yaml", "content": ""}))), "self/protected");
    let left: Vec<_> =
        fs::read_dir(world.path("ws")).expect("listed").filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 3, "nothing is left beside: {left:?}");
}

#[test]
fn no_tool_leaves_the_workspace() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("secret"), "s3cret\n").expect("written");
    std::os::unix::fs::symlink(world.path("secret"), world.path("ws/link")).expect("linked");
    std::os::unix::fs::symlink(world.path(""), world.path("ws/up")).expect("linked");
    let mut client = world.served(&[]);
    for path in ["../secret", "link", "up/secret", "up/ws/../secret", "/etc/passwd"] {
        for (tool, args) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "gone"})),
            ("edit_file", json!({"path": path, "old_text": "s3cret", "new_text": "gone"})),
            ("search", json!({"path": path, "pattern": "s3cret"})),
        ] {
            let refused = client.call(tool, args);
            assert_eq!(code(&refused), "paths/outside", "{tool} {path}: {refused}");
        }
    }
    let told = client.call("read_file", json!({"path": "/etc/passwd"}));
    assert!(text(&told).contains("a person can look with `jackline explain last`"), "{told}");
    let explained = world.jackline(&["explain", "last"]);
    let explained = String::from_utf8(explained.stdout).expect("text");
    assert!(
        explained.contains("our own server did not do it\n  paths/outside: Path '/etc/passwd' leads"),
        "{explained}"
    );
    assert_eq!(fs::read_to_string(world.path("secret")).expect("there"), "s3cret\n");
    let found = client.call("search", json!({"pattern": "s3cret"}));
    assert_eq!(value(&found)["matches"], json!([]), "links are not followed");
}

#[test]
fn directories_are_listed_and_searched() {
    let world = World::new("jackline: 1\noutputs: { lines_max: 2 }\n");
    for (name, content) in
        [("b.rs", "fn b() {}\n"), ("a.rs", "fn a() {}\nFN\n"), ("ignored.log", "fn\n"), (".gitignore", "*.log\n")]
    {
        fs::write(world.path(&format!("ws/{name}")), content).expect("written");
    }
    fs::create_dir(world.path("ws/dir")).expect("made");
    let mut client = world.served(&[]);
    let listed = client.call("list_dir", json!({"limit": 2, "offset": 1}));
    let names: Vec<&str> =
        value(&listed)["entries"].as_array().expect("some").iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names, ["a.rs", "b.rs"]);
    assert_eq!(value(&listed)["next_offset"], json!(3));
    let found = client.call("search", json!({"pattern": "^fn", "glob": "*.rs"}));
    assert_eq!(
        value(&found)["matches"],
        json!([
            {"path": "a.rs", "line": 1, "text": "fn a() {}"}, {"path": "b.rs", "line": 1, "text": "fn b() {}"},
        ])
    );
    assert_eq!(
        value(&client.call("search", json!({"pattern": "fn", "path": "ignored.log"})))["matches"][0]["line"],
        json!(1)
    );
    let more = client.call("search", json!({"pattern": "fn", "ignore_case": true}));
    assert_eq!(value(&more)["matches"].as_array().map(Vec::len), Some(2), "as the owner bounds outputs: {more}");
    assert!(text(&more).contains("lines_remaining: 1"), "{more}");
    let none = client.call("search", json!({"pattern": "a(b", "literal": true}));
    assert!(
        none["result"]["content"][1]["text"].as_str().is_some_and(|advice| advice.contains("broaden the filters")),
        "{none}"
    );
    assert_eq!(code(&client.call("search", json!({"pattern": "a(b"}))), "workspace/pattern");
}

#[test]
fn unknown_tools_and_wrong_arguments_are_refused_with_what_is_near() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let unknown = client.call("read_fil", json!({"path": "a"}));
    assert_eq!(code(&unknown), "tools/unknown");
    assert!(text(&unknown).contains("`read_file`"), "{unknown}");
    let wrong = client.call("todo_create", json!({"content": "x", "checks": [{"vibes": "good"}]}));
    assert_eq!(code(&wrong), "schema/invalid");
    assert!(value(&client.call("todo_list", json!({})))["todos"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn rules_name_our_tools_either_way_and_what_would_be_asked_is_refused() {
    let world = World::new(
        "jackline: 1\npolicies:\n  - { name: quiet, rule: { tool: mcp__jackline__park } }\n  - { name: sure, rule: { tool: todo_create, verdict: ask } }\n",
    );
    let mut client = world.served(&[]);
    assert_eq!(code(&client.call("park", json!({"reason": "x"}))), "rule/quiet");
    let asked = client.call("todo_create", json!({"content": "x"}));
    assert_eq!(code(&asked), "rule/sure");
    assert!(text(&asked).contains("nobody can be asked"), "{asked}");
    let hook = |tool: &str| json!({"event": "call.requested", "session": "s", "host": "claude", "call": {"tool": tool, "args": {}}});
    let codes: Vec<Value> = world
        .eval(&[hook("mcp__jackline__park"), hook("mcp__jackline__todo_create")])
        .iter()
        .map(|answer| answer["code"].clone())
        .collect();
    assert_eq!(codes, [json!("rule/quiet"), json!("rule/sure")]);
}

#[test]
fn without_a_definition_every_tool_says_so() {
    let world = World::new("");
    let mut client = world.served(&[]);
    let refused = client.call("todo_list", json!({}));
    assert_eq!(code(&refused), "fault/definition", "{refused}");
}

#[test]
fn a_search_shows_no_line_of_a_file_that_may_not_be_read() {
    let definition = "jackline: 1\npolicies:\n  - paths: {protect: ['keys/**'], protect_reads: true}\n  - {name: pem, rule: {tool: '@read', path: '*.pem', verdict: ask, reason: sure}}\n";
    let world = World::new(definition);
    for (name, content) in [("keys/a.txt", "secret a\n"), ("b.pem", "secret b\n"), ("c.txt", "no secret\n")] {
        let path = world.path(&format!("ws/{name}"));
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }
    let mut client = world.served(&[]);
    let found = client.call("search", json!({"pattern": "secret"}));
    assert_eq!(value(&found)["matches"], json!([{"path": "c.txt", "line": 1, "text": "no secret"}]), "{found}");
    assert_eq!(text(&found), "c.txt:1:no secret");
    // Nothing tells whether such a file matches: it could be read letter by letter.
    for limit in [1, 200] {
        let of = |pattern: &str| json!({"pattern": pattern, "limit": limit, "glob": "keys/*"});
        let (hit, miss) = (client.call("search", of("^secr[a-z]")), client.call("search", of("^secr[f-z]")));
        assert_eq!(value(&hit), value(&miss), "{limit}");
        assert_eq!(text(&hit), text(&miss), "{limit}");
    }
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn a_search_is_told_by_what_may_be_read_and_not_by_what_may_be_called() {
    let world = World::new("jackline: 1\nlimits: { steps: 5 }\n");
    fs::write(world.path("ws/a.txt"), "needle\n").expect("written");
    let mut client = world.served(&[]);
    // A fourth read would be a loop, and there is no sixth call.
    (0..3).for_each(|_| drop(client.call("read_file", json!({"path": "a.txt"}))));
    for call in 4..=5 {
        let found = client.call("search", json!({"pattern": "needle", "limit": call}));
        assert_eq!(text(&found), "a.txt:1:needle", "{call}: {found}");
    }
    assert_eq!(code(&client.call("search", json!({"pattern": "needle"}))), "budget/steps");
}

#[test]
fn what_a_tool_answers_fits_what_it_says_of_that() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("ws/a.txt"), "one\ntwo\n").expect("written");
    let mut client = world.served(&[]);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools").clone();
    let mut answers: Vec<(&str, Value)> = Vec::new();
    let mut called = |tool: &'static str, args: Value| {
        let answer = client.call(tool, args);
        let said = value(&answer).clone();
        answers.push((tool, said.clone()));
        said
    };
    let read = called("read_file", json!({"path": "a.txt"}));
    assert_eq!(read["content"], "one\ntwo\n");
    called("read_file", json!({"path": "b.txt"}));
    called("write_file", json!({"path": "b.txt", "content": "x"}));
    called("edit_file", json!({"path": "b.txt", "old_text": "x", "new_text": "y"}));
    called("list_dir", json!({}));
    called("search", json!({"pattern": "one"}));
    called("guard_status", json!({}));
    let calls = called("calls_list", json!({"tool": "write_file"}));
    let call = calls["calls"][0]["id"].clone();
    let one = called("fact_record", json!({"text": "b is there", "sources": [call]}))["id"].clone();
    let two = called("fact_record", json!({"text": "b holds y", "sources": [call]}))["id"].clone();
    let both = called("fact_summarise", json!({"ids": [one, two], "text": "b is as it should be"}));
    assert_eq!(both["sources"], json!([call]));
    called("fact_list", json!({}));
    called("fact_retract", json!({"id": both["id"], "reason": "no longer"}));
    let todo = called("todo_create", json!({"content": "x", "checks": [{"file_exists": "never"}]}))["id"].clone();
    called("todo_start", json!({"id": todo}));
    called("todo_claim", json!({"id": todo, "explanation": "it is all done, believe me now"}));
    called("todo_verify", json!({"id": todo}));
    called("todo_list", json!({}));
    called("park", json!({"reason": "no key"}));
    for tool in &tools {
        let schema = jackline_runtime::Schema::new(&tool["outputSchema"]).expect("a schema");
        let said: Vec<&Value> =
            answers.iter().filter(|(name, _)| tool["name"] == *name).map(|(_, said)| said).collect();
        assert!(!said.is_empty(), "{} was not called", tool["name"]);
        for said in said {
            assert_eq!(schema.errors(said), Ok(Vec::new()), "{}: {said}", tool["name"]);
        }
    }
}

#[test]
fn what_is_no_utf_8_is_not_shown_as_if_it_were() {
    let world = World::new("jackline: 1\npolicies: [ { read_before_write: {} } ]\n");
    let latin = [&b"plain line\n".repeat(40)[..], b"caf\xe9\n"].concat();
    fs::write(world.path("ws/latin.txt"), &latin).expect("written");
    let mut client = world.served(&[]);
    let refused = client.call("read_file", json!({"path": "latin.txt"}));
    assert_eq!(code(&refused), "workspace/unfit");
    assert!(text(&refused).contains("is no UTF-8 text: line 41 holds other bytes"), "{refused}");
    let written = client.call("write_file", json!({"path": "latin.txt", "content": "x"}));
    assert_eq!(code(&written), "read-before-write/unread", "what was not shown was not read");
    assert_eq!(fs::read(world.path("ws/latin.txt")).expect("there"), latin);
}

#[test]
fn large_files_are_searched_and_what_cannot_be_is_told() {
    let world = World::new("jackline: 1\n");
    let log = format!("{}needle {}\n", "hay\n".repeat(5 << 20), "z".repeat(1000));
    fs::write(world.path("ws/big.log"), log).expect("written");
    fs::write(world.path("ws/endless.txt"), "x".repeat(20 << 20)).expect("written");
    let mut client = world.served(&[]);
    let found = client.call("search", json!({"pattern": "needle", "path": "big.log"}));
    assert!(text(&found).starts_with("big.log:5242881:needle z"), "{found}");
    assert!(text(&found).ends_with("z…"), "a line that is cut says so: {found}");
    let endless = client.call("search", json!({"pattern": "needle", "path": "endless.txt"}));
    assert_eq!(value(&endless)["files_skipped"], 1);
    assert_eq!(text(&endless), "[files that could not be searched to their end: 1]");
}

#[test]
fn only_the_workspaces_own_rules_say_what_is_ignored() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path(".gitignore"), "*\n").expect("written");
    fs::write(world.path(".ignore"), "*\n").expect("written");
    for (name, content) in
        [("a.txt", "needle\n"), ("src/b.txt", "needle\n"), ("src/c.log", "needle\n"), (".gitignore", "*.log\n")]
    {
        let path = world.path(&format!("ws/{name}"));
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }
    let mut client = world.served(&[]);
    let found = |client: &mut Client, args: Value| text(&client.call("search", args)).to_owned();
    assert_eq!(found(&mut client, json!({"pattern": "needle"})), "a.txt:1:needle\nsrc/b.txt:1:needle");
    assert_eq!(found(&mut client, json!({"pattern": "needle", "path": "src"})), "src/b.txt:1:needle");
    assert_eq!(found(&mut client, json!({"pattern": "needle", "path": "src/c.log"})), "src/c.log:1:needle");
    let other = client.call("search", json!({"pattern": "needle", "path": "a.txt", "glob": "*.rs"}));
    assert_eq!(value(&other)["matches"], json!([]), "the glob counts for a file that is named, too");
    // Above the workspace a repository's rules count, and nothing above that.
    fs::create_dir(world.path(".git")).expect("made");
    fs::write(world.path(".ignore"), "").expect("written");
    fs::write(world.path(".gitignore"), "b.txt\n").expect("written");
    assert_eq!(found(&mut client, json!({"pattern": "needle", "ignore_case": true})), "a.txt:1:needle");
}

#[test]
fn a_list_that_the_owner_cuts_says_where_it_goes_on() {
    let world = World::new("jackline: 1\noutputs: { lines_max: 3 }\n");
    (0..8).for_each(|n| fs::write(world.path(&format!("ws/f{n}")), "").expect("written"));
    let mut client = world.served(&[]);
    let first = client.call("list_dir", json!({"offset": 1}));
    assert_eq!((&value(&first)["next_offset"], &value(&first)["has_more"]), (&json!(4), &json!(true)), "{first}");
    assert!(text(&first).ends_with("has_more: true, next_offset: 4]"), "{first}");
    let next = client.call("list_dir", json!({"offset": 4}));
    assert_eq!(value(&next)["entries"][0]["name"], "f4", "{next}");
}

#[test]
fn a_line_that_is_longer_than_a_page_can_be_read_to_its_end() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("ws/long.txt"), "x".repeat(600_000)).expect("written");
    let mut client = world.served(&[]);
    let (mut read, mut from) = (0, json!(0));
    while from.is_number() {
        let page = client.call("read_file", json!({"path": "long.txt", "from_byte": from}));
        read += value(&page)["content"].as_str().expect("text").len();
        from = value(&page)["next_byte"].clone();
        assert_eq!(value(&page)["has_more"], json!(from.is_number()), "{from}");
        assert_eq!(text(&page).contains("the rest of this line is at offset: 0, from_byte: "), from.is_number());
    }
    assert_eq!(read, 600_000);
}

#[test]
fn a_page_that_shows_nothing_is_no_read() {
    let world = World::new("jackline: 1\npolicies: [ { read_before_write: {} } ]\n");
    fs::write(world.path("ws/f.txt"), "a\nb\n").expect("written");
    let mut client = world.served(&[]);
    let beyond = client.call("read_file", json!({"path": "f.txt", "offset": 999}));
    assert_eq!(code(&beyond), "workspace/unfit", "{beyond}");
    let refused = client.call("write_file", json!({"path": "f.txt", "content": "x"}));
    assert!(code(&refused).starts_with("read-before-write/"), "{refused}");
    client.call("read_file", json!({"path": "f.txt"}));
    assert!(!failed(&client.call("write_file", json!({"path": "f.txt", "content": "x"}))));
}

#[test]
fn our_tools_answer_to_the_names_that_hosts_give_them() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let listed = client.call("mcp__jackline__list_dir", json!({}));
    assert!(!failed(&listed), "{listed}");
}

#[test]
fn names_that_cannot_be_are_refused_at_the_start() {
    let world = World::new("jackline: 1\n");
    let long = "x".repeat(5000);
    let server = super::odd_server();
    for arguments in [
        vec!["mcp", "serve", "--session", ""],
        vec!["mcp", "serve", "--session", &long],
        vec!["mcp", "serve", "--workspace", "nowhere"],
        vec!["mcp", "proxy", "--workspace", "nowhere", "--", &server],
        vec!["mcp", "proxy", "--header", "A: b", "--", &server],
    ] {
        let output = world.jackline(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("error: "), "{arguments:?}: {said}");
    }
}
