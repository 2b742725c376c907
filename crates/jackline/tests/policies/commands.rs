//! The commands that people write and look at policies with.

use serde_json::{Value, json};

use super::{PAIRING, World};

#[test]
fn a_new_policy_is_written_with_comments_and_tried() {
    let world = World::new();
    world.write("src/a.py", "1\n");
    let ran = world.run(&["policy", "new", "Source tests", "--set", "src/{path}.py", "--set", "tests/{path}_test.py"]);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Some(0), "wrote .jackline/policies/source-tests.md\nas things are it fires for src/a.py\ncommit it\n",),
        "{ran:?}"
    );
    let text = world.read(".jackline/policies/source-tests.md");
    assert!(text.contains("set: [\"src/{path}.py\",\"tests/{path}_test.py\"]\n") && text.contains("\n# "), "{text}");
    assert_eq!(world.outstanding(), ["source-tests"]);
    let again = world.run(&["policy", "new", "Source tests", "--trigger", "x"]);
    assert_eq!(again.exit, Some(2));
    assert!(again.stderr.contains("is there already"), "{again:?}");
}

#[test]
fn a_new_policy_that_would_be_bad_is_not_written() {
    let world = World::new();
    let ran = world.run(&["policy", "new", "Bad", "--trigger", "src/{path"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("has an unclosed brace"), "{ran:?}");
    assert!(!world.repo(".jackline").exists());
    let ran = world.run(&["policy", "new"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("no terminal is attached"), "{ran:?}");
}

#[test]
fn the_older_file_is_converted() {
    let world = World::new();
    world.write(".deepwork.policy.yml", "- name: \"README Accuracy\"\n  trigger: \"src/**/*\"\n  safety: \"README.md\"\n  instructions: |\n    Please verify README.md is accurate.\n");
    let ran = world.run(&["policy", "import"]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("wrote .jackline/policies/readme-accuracy.md\n"), "{ran:?}");
    world.commit("converted");
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["readme-accuracy"]);
    let again = world.run(&["policy", "import"]);
    assert_eq!(again.exit, Some(2));
    assert!(again.stderr.contains("is there already, and nothing was written"), "{again:?}");
}

#[test]
fn a_list_shows_every_policy_on_a_line() {
    let world = World::with("source-tests", PAIRING);
    world.policy("fmt", "---\ntrigger: '**/*.py'\ncompare_to: prompt\naction: {command: 'ruff format {file}'}\n---\n");
    let ran = world.run(&["policy", "list"]);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (
            Some(0),
            "fmt: trigger **/*.py; since prompt; runs `ruff format {file}`\nsource-tests (Source/Test Pairing): set \
         src/{path}.py, tests/{path}_test.py; since base; asks the agent\n",
        )
    );
}

#[test]
fn a_list_tells_what_keeps_a_policy_quiet_from_what_it_fires_by() {
    let world = World::with("readme", "---\ntrigger: src/**\nsafety: [docs/**, README.md]\n---\nLook.\n");
    world.policy("tests", "---\npair: {trigger: 'src/{path}.py', expects: 'tests/{path}_test.py'}\n---\nWrite it.\n");
    let ran = world.run(&["policy", "list"]);
    assert_eq!(
        ran.stdout,
        "readme: trigger src/**, unless docs/**, README.md; since base; asks the agent\ntests: pair src/{path}.py, expects \
         tests/{path}_test.py; since base; asks the agent\n"
    );
    let listed: Value = serde_json::from_str(&world.run(&["policy", "list", "--format", "json"]).stdout).expect("JSON");
    let sides = |at: usize| ["patterns", "safety", "expects"].map(|key| listed["policies"][at][key].clone());
    assert_eq!(sides(0), [json!(["src/**"]), json!(["docs/**", "README.md"]), json!([])]);
    assert_eq!(sides(1), [json!(["src/{path}.py"]), json!([]), json!(["tests/{path}_test.py"])]);
}

#[test]
fn checking_a_definition_covers_its_policies() {
    let world = World::with("bad", "---\ntriger: a\n---\nx\n");
    world.write("jackline.yaml", "jackline: 1\n");
    let ran = world.run(&["check"]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(
        ran.stdout.contains(
            "error: unknown key `triger`\n  --> .jackline/policies/bad.md:2:1\n   |\n 2 | triger: a\n   | ^^^^^^\n"
        ),
        "{ran:?}"
    );
    world.write("jackline.yaml", "jackline: 1\nfile_policies: { dir: nowhere }\n");
    let ran = world.run(&["check"]);
    assert!(ran.exit == Some(1) && ran.stdout.contains("error: nowhere:1: there is no such folder"), "{ran:?}");
    world.write("jackline.yaml", "jackline: 1\nfile_policies: { enabled: false }\n");
    assert_eq!(world.run(&["check"]).exit, Some(0));
}

#[test]
fn who_names_the_usual_folder_says_no_more_than_who_is_silent() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\nfile_policies: { dir: .jackline/policies }\n");
    for words in [["check"].as_slice(), ["policy", "check"].as_slice(), ["policy", "list"].as_slice()] {
        let ran = world.run(words);
        assert_eq!(ran.exit, Some(0), "{ran:?}");
        assert!(!ran.stdout.contains("no such folder"), "{ran:?}");
    }
}

#[test]
fn a_prompt_is_told_in_the_form_of_every_look() {
    let world = World::with("bad", "---\ntriger: a\n---\nx\n");
    let ran = world.run(&["policy", "check", "--event", "prompt", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&told["outstanding"], &told["settled"], &told["text"]), (&json!([]), &json!([]), &json!("")));
    assert!(told["recorded"].is_u64(), "{told}");
    let fault = &told["faults"][0];
    assert_eq!((&fault["line"], &fault["level"]), (&json!(2), &json!("error")), "{told}");
    let stop = world.run(&["policy", "check", "--format", "json"]);
    let stop: serde_json::Value = serde_json::from_str(&stop.stdout).expect("JSON");
    assert_eq!(stop["faults"], told["faults"]);
}

#[test]
fn where_there_are_none_it_says_so() {
    let world = World::new();
    for command in ["check", "list", "status"] {
        let ran = world.run(&["policy", command]);
        assert_eq!(
            (ran.exit, ran.stdout.as_str()),
            (Some(0), "there are no file policies here; `jackline policy new` writes one\n",),
            "{command}"
        );
    }
}

#[test]
fn two_policies_of_one_name_are_warned_of() {
    let world = World::with("a", "---\nname: Same\ntrigger: x\n---\nA.\n");
    world.policy("b", "---\nname: same\ntrigger: y\n---\nB.\n");
    let ran = world.run(&["policy", "list"]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("warning: .jackline/policies/b.md:1: the name `same` is that of `a.md` too"),
        "{ran:?}"
    );
}

#[test]
fn a_promise_that_would_settle_two_is_warned_of() {
    let world = World::with("a", "---\nname: First\ntrigger: x\n---\nA.\n");
    world.policy("b", "---\nname: A\ntrigger: y\n---\nB.\n");
    let ran = world.run(&["policy", "list"]);
    assert!(ran.stdout.contains("warning: .jackline/policies/b.md:1: the name `A` is that of `a.md` too"), "{ran:?}");
}

#[test]
fn what_a_policy_says_in_vain_is_warned_of_with_its_place() {
    let world = World::with("a", "---\ntrigger: x\naction: {command: ls | wc}\n---\n");
    for words in [["policy", "list"].as_slice(), ["policy", "check"].as_slice()] {
        let ran = world.run(words);
        assert_eq!(ran.exit, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("the command has `|`, and no shell reads it"), "{ran:?}");
    }
    assert!(world.run(&["policy", "list"]).stdout.contains(" 3 | action: {command: ls | wc}\n"));
}

#[test]
fn an_option_that_says_nothing_is_refused() {
    let ran = World::new().run(&["policy", "new", "x", "--trigger", "a", "--expects", "b"]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--expects"), "{ran:?}");
}

#[test]
fn policies_that_hold_nobody_are_told() {
    let world = World::with("pairing", super::PAIRING);
    let listed = world.run(&["policy", "list"]);
    assert_eq!(listed.exit, Some(0));
    assert!(listed.stderr.contains("no agent is held to policies where there is no definition"), "{listed:?}");
    world.write("jackline.yaml", "jackline: 1\n");
    assert_eq!(world.run(&["policy", "list"]).stderr, "");
}

#[test]
fn patterns_of_the_older_layout_that_mean_something_else_here_are_told() {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    world.write(".deepwork/rules/py.md", "---\ntrigger: '*.py'\n---\nLook.\n");
    let told = "pattern `*.py` matches files of the top directory only";
    let listed = world.run(&["policy", "list"]);
    assert!(listed.stdout.contains(told) && listed.stdout.contains("`**/*.py`"), "{listed:?}");
    world.write(".deepwork.policy.yml", "- name: Python\n  trigger: '*.py'\n  instructions: Look.\n");
    let imported = world.run(&["policy", "import", "--dry-run"]);
    assert!(imported.stderr.contains(told), "{imported:?}");
    world.write(".deepwork/rules/py.md", "---\ntrigger: 'src/*.py'\n---\nLook.\n");
    world.write(".deepwork.policy.yml", "- name: Python\n  trigger: 'src/*.py'\n  instructions: Look.\n");
    let told = "pattern `src/*.py` matches no deeper than it says";
    for words in [["policy", "list"].as_slice(), &["policy", "check"], &["policy", "import", "--dry-run"]] {
        let ran = world.run(words);
        assert!([ran.stdout, ran.stderr].concat().contains(told), "{words:?}");
    }
    world.write(".deepwork/rules/py.md", "---\ntrigger: 'src/**/*.py'\n---\nLook.\n");
    assert!(!world.run(&["policy", "list"]).stdout.contains("warning"));
}

#[test]
fn the_usual_first_mistakes_are_told_with_their_remedy() {
    let world = World::new();
    for (front, help) in [
        ("trigger: *.py", "quote a value that begins with `*`"),
        ("set: [src/{path}.py, tests/{path}_test.py]", "quote values that have braces"),
    ] {
        world.policy("first", &format!("---\n{front}\n---\nLook.\n"));
        let listed = world.run(&["policy", "list"]);
        assert!(listed.stdout.contains(help), "{front}: {listed:?}");
    }
}
