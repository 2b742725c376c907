//! The documentation is true: generated pages are what the code generates, links lead somewhere, examples parse.
//!
//! `JACKLINE_UPDATE=1 cargo test -p jackline --test reference` writes the generated pages anew.

#![expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]
#![expect(clippy::indexing_slicing, reason = "what was measured is JSON: a missing member is null")]

mod tree;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use jackline_core::code::{self, Documented};
use jackline_core::definition;
use jackline_core::definition::model::Guard;
use jackline_core::path::fold;
use jackline_core::tools::{self, Tool};
use jackline_runtime::adapters;
use serde_json::Value;

const UPDATE: &str = "JACKLINE_UPDATE=1 cargo test -p jackline --test reference";

/// What a generated page says of itself.
const GENERATED: &str =
    "<!-- Generated from the code and compared with it by a test: change the code, not this page. -->\n";

#[track_caller]
fn check(name: &str, want: &str) {
    let path = tree::root().join("docs/reference").join(name);
    if std::env::var_os("JACKLINE_UPDATE").is_some() {
        fs::write(&path, want).expect("written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(want.lines()).position(|(found, want)| found != want);
    let line = differs.unwrap_or_else(|| found.lines().count().min(want.lines().count())) + 1;
    assert!(found == want, "docs/reference/{name} differs from line {line} on; to write it anew: {UPDATE}");
}

#[test]
fn the_page_of_the_definition() {
    check("definition.md", &format!("{GENERATED}{}", definition::reference_markdown()));
}

#[test]
fn the_page_of_file_policies() {
    check("file-policies.md", &format!("{GENERATED}{}", definition::file_policy_markdown()));
}

#[test]
fn the_schema_of_the_definition() {
    let schema = serde_json::to_string_pretty(&definition::json_schema()).expect("plain data");
    check("jackline.schema.json", &format!("{schema}\n"));
    assert_eq!(help(&["schema"]).trim_end(), schema, "`jackline schema` prints another one");
}

#[test]
fn the_page_of_workflow_rules() {
    check("workflow-rules.md", &format!("{GENERATED}{}", jackline_workflow::report::reference_markdown()));
}

#[test]
fn the_page_of_settings_without_effect() {
    check("workflow-settings.md", &format!("{GENERATED}{}", jackline_workflow::effect::reference_markdown()));
}

#[test]
fn the_schemas_of_workflows() {
    let schemas = [("workflow", jackline_workflow::workflow_schema()), ("agent", jackline_workflow::agent_schema())];
    for (file, schema) in schemas {
        let schema = serde_json::to_string_pretty(&schema).expect("plain data");
        check(&format!("{file}.awp.schema.json"), &format!("{schema}\n"));
        assert_eq!(
            help(&["workflow", "schema", file]).trim_end(),
            schema,
            "`jackline workflow schema` prints another one"
        );
    }
}

#[test]
fn the_page_of_codes() {
    let mut page = format!("{GENERATED}# Codes\n\n");
    page.push_str(
        "Each finding carries a code `guard/what`. Codes are for machines: they are added, never reworded or reused.\n\
         A code `fault/…` says that Jackline could not decide; such a denial is never the agent's violation.\n",
    );
    codes(&mut page, "All codes", code::ALL);
    codes(&mut page, "Families", code::FAMILIES);
    check("codes.md", &page);
}

fn codes(page: &mut String, title: &str, codes: &[Documented]) {
    let _ = write!(page, "\n## {title}\n\n| code | what happened | what to do |\n|---|---|---|\n");
    for entry in codes {
        let _ = writeln!(page, "| `{}` | {} | {} |", entry.code, entry.means, entry.remedy);
    }
}

#[test]
fn the_page_of_hosts() {
    let mut page = format!("{GENERATED}# What hosts obey\n\n");
    page.push_str(
        "Measured by the conformance kit (`cargo xtask ack --keep`) on the real programs, each driven by a scripted model\n\
         with Jackline as its guard. A scenario is *obeyed* when the disk, what the model was shown and the record are all\n\
         as they must be. Where a guard broke, the table says whether the call was *blocked* or *passed*; `jackline doctor`\n\
         says the same in advance. The scenarios stand in `conformance/ack/`.\n\n",
    );
    let hosts = measured();
    let titles = hosts.iter().map(|host| format!(" {} {} |", text(host, "title"), text(host, "version")));
    let _ = writeln!(page, "| scenario |{}", titles.collect::<String>());
    let _ = writeln!(page, "|---|{}", "---|".repeat(hosts.len()));
    for (name, about) in scenarios() {
        let words = hosts.iter().map(|host| host["outcomes"][&name].as_str().unwrap_or("not played"));
        let _ = writeln!(page, "| `{name}`: {about} |{}", words.map(|word| format!(" {word} |")).collect::<String>());
    }
    for host in &hosts {
        for (name, why) in host["cannot"].as_object().into_iter().flatten() {
            let why = why.as_str().unwrap_or_default();
            let _ = write!(page, "\n{} does not obey `{name}`: {why}.\n", text(host, "title"));
        }
    }
    let documented = adapters::HOSTS.iter().filter(|name| !hosts.iter().any(|host| host["host"] == **name));
    let documented: Vec<String> = documented.map(|name| format!("`{name}`")).collect();
    let _ = write!(page, "\nKnown from documentation alone, and never measured: {}.\n", documented.join(", "));
    check("hosts.md", &page);
}

/// What the conformance kit kept, host by host.
fn measured() -> Vec<Value> {
    let kept = tree::files(&[".json"]).into_iter().filter(|(path, _)| path.starts_with("conformance/ack/measured/"));
    kept.map(|(_, text)| serde_json::from_str(&text).expect("JSON")).collect()
}

/// Every scenario with what it is about.
fn scenarios() -> Vec<(String, String)> {
    let files = tree::files(&[".yaml"]).into_iter().filter(|(path, _)| path.starts_with("conformance/ack/"));
    let all = files.flat_map(|(_, text)| {
        let file: Value = serde_saphyr::from_str(&text).expect("YAML");
        file["scenarios"].as_array().cloned().expect("a list")
    });
    all.map(|scenario| (text(&scenario, "name"), text(&scenario, "about"))).collect()
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().expect("a text").to_owned()
}

#[test]
fn the_page_of_packs() {
    let mut page = format!("{GENERATED}# Packs\n\n");
    page.push_str(
        "What each pack looks for. `jackline pack show NAME` prints a pack as the definition that it is; how to use one:\n\
         [the guide](../guides/packs.md).\n",
    );
    for pack in jackline_core::packs::PACKS {
        let about = pack.about().split_once(": ").map_or("", |(_, about)| about);
        let _ = write!(
            page,
            "\n## `{}`\n\n{}.\n\n| policy | verdict | reason |\n|---|---|---|\n",
            pack.name,
            capital(about)
        );
        for policy in pack.model().policies {
            let Guard::Rule(rule) = policy.guard else { continue };
            let _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                policy.name,
                rule.verdict.map_or("override", |verdict| verdict.name()),
                rule.reason
            );
        }
    }
    check("packs.md", &page);
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[test]
fn the_page_of_tools() {
    let mut page = format!("{GENERATED}# Tools\n\n");
    page.push_str(
        "The tools that hosts bring along: what kind each is (`@kind` in a definition) and which arguments hold paths or a\n\
         shell text. A definition's `tools.declare` goes before this table; a program without rows of its own may use any.\n\
         What `gone:` stands before is not there afterwards, with all below it; what `patch:` stands before is a patch.\n\
         A command runs where the argument under \"runs in\" says; other arguments move nothing, because the host does not\n\
         heed them.\n",
    );
    let hosts: BTreeSet<&str> = tools::TOOLS.iter().map(|tool| tool.host).collect();
    for host in hosts {
        let title = if host.is_empty() { "Any program" } else { host };
        let _ = write!(page, "\n## {title}\n\n| tool | kind | paths | shell text | runs in |\n|---|---|---|---|---|\n");
        tools::TOOLS.iter().filter(|tool| tool.host == host).for_each(|tool| page.push_str(&row(tool)));
    }
    let _ = write!(page, "\n## Where nothing is said\n\nA read or write tool that does not say where its paths are: ");
    let _ = writeln!(
        page,
        "{}.\nA shell tool that does not say where its text is: {}.",
        ticked(tools::PATH_ARGUMENTS),
        ticked(tools::COMMAND_ARGUMENTS)
    );
    check("tools.md", &page);
}

fn row(tool: &Tool) -> String {
    let command: Vec<&str> = tool.command.into_iter().collect();
    let directory: Vec<&str> = tool.directory.into_iter().collect();
    let (paths, command, directory) = (ticked(tool.paths), ticked(&command), ticked(&directory));
    format!("| `{}` | `@{}` | {paths} | {command} | {directory} |\n", tool.name, tool.kind.name())
}

fn ticked(names: &[&str]) -> String {
    if names.is_empty() {
        "–".to_owned()
    } else {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

#[test]
fn the_page_of_commands() {
    let mut page = format!("{GENERATED}# Commands\n\n");
    page.push_str(
        "Exit codes: 0 fine, 1 the checked thing is not fine, 2 usage or unreadable input, 3 a fault of ours or of the machine.\n\n\
         Environment: `JACKLINE_HOME` is the state directory where `--store` names none (else `$XDG_STATE_HOME/jackline`, else\n\
         `~/.local/state/jackline`); `JACKLINE_DEFINITION` names a definition where none is named; `NO_COLOR` and `TERM=dumb`\n\
         switch colours off.\n",
    );
    commands(&mut page, &[]);
    check("commands.md", &page);
}

/// The help of a command and of all commands below it.
fn commands(page: &mut String, path: &[&str]) {
    let text = help(&[path, &["--help"]].concat());
    let title = [&["jackline"], path].concat().join(" ");
    let _ = write!(page, "\n## `{title}`\n\n```text\n{}\n```\n", text.trim_end());
    for name in listed(&text) {
        commands(page, &[path, &[name]].concat());
    }
}

/// The names below `Commands:`, without `help` itself.
fn listed(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

fn help(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_jackline")).args(arguments).env_clear().output().expect("started");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn links_lead_somewhere() {
    let mut complaints = Vec::new();
    for (page, text) in tree::files(&[".md"]) {
        for link in links(&text) {
            if let Some(why) = broken(&page, &text, link) {
                complaints.push(format!("{page}: `{link}` {why}"));
            }
        }
    }
    tree::no_complaints(&complaints);
}

/// The targets of all links of a page, code blocks left out.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next()).collect()
}

fn broken(page: &str, text: &str, link: &str) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let dir = Path::new(page).parent().unwrap_or(Path::new(""));
    let target = tree::root().join(fold(&dir.join(file).display().to_string()));
    if !file.is_empty() && !target.exists() {
        return Some("leads nowhere".to_owned());
    }
    let there = if file.is_empty() { text.to_owned() } else { fs::read_to_string(&target).unwrap_or_default() };
    let known =
        anchor.is_empty() || there.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor);
    (!known).then(|| "names no heading there".to_owned())
}

/// A heading as links name it.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn examples_parse() {
    let mut complaints = Vec::new();
    let mut count = 0;
    for (page, text) in tree::files(&[".md"]) {
        for (fence, source) in fences(&text).into_iter().filter(|(_, source)| source.starts_with("jackline: 1")) {
            count += 1;
            let faults = definition::parse(source, &tools::names()).err();
            match (fence, faults) {
                ("yaml", None) | ("yaml bad", Some(_)) => {}
                ("yaml", Some(faults)) => complaints.push(definition::render(&faults, source, &page)),
                ("yaml bad", None) => complaints.push(format!("{page}: an example marked as bad is fine:\n{source}")),
                (other, _) => complaints.push(format!("{page}: a definition is fenced as `{other}`")),
            }
        }
    }
    tree::no_complaints(&complaints);
    assert!(count >= 10, "only {count} examples were found");
}

/// Every fenced block: what stands behind the fence, and the text in it.
fn fences(text: &str) -> Vec<(&str, &str)> {
    let blocks = text.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.split_once('\n')).collect()
}

/// SECURITY.md links each attack to the test that tries it: the test must be there.
#[test]
fn tests_that_are_named_exist() {
    let text = fs::read_to_string(tree::root().join("SECURITY.md")).expect("it is there");
    let mut complaints = Vec::new();
    let mut count = 0;
    for part in text.split("[`").skip(1) {
        let Some((name, target)) =
            part.split_once("`](").and_then(|(name, rest)| Some((name, rest.split(')').next()?)))
        else {
            continue;
        };
        let there = fs::read_to_string(tree::root().join(target)).unwrap_or_default();
        let wanted = if target.ends_with(".rs") { format!("fn {name}(") } else { format!("note: \"{name}\"") };
        count += 1;
        if !there.contains(&wanted) {
            complaints.push(format!("`{name}` is not in {target}"));
        }
    }
    tree::no_complaints(&complaints);
    assert!(count >= 30, "only {count} tests are named");
}
