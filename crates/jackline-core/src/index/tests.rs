//! An index leaves out nothing: rules found by their cues decide just as all rules do.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::call::View;
use crate::decide::decide;
use crate::decision::{Decision, Step};
use crate::definition::model::{ArgMatcher, CommandMatcher, Computed, Guard, Matcher, Rule, Shell};
use crate::definition::{self, Model};
use crate::event::{Body, Call, Event};
use crate::matcher::{Purpose, Subject};
use crate::packs::{self, Compiled, Content, PACKS, compile};
use crate::probe::{Fact, Facts, Identity, Probe, There};
use crate::session::Session;
use crate::sha::Digest;
use crate::stack::{Layer, Origin, Stack};
use crate::time::Timestamp;
use crate::{glob, path, tools};

const ROOT: &str = "/home/me/work";
const HOME: &str = "/home/me";

/// All packs, enforced as they are and otherwise, and once as they were read, once as they are compiled.
static STACKS: LazyLock<Vec<(Stack, Stack)>> = LazyLock::new(|| {
    let otherwise = "jackline: 1\nuse:\n  - {pack: git, enforce: {git/force-push: off, git/discard: warn}}\n  \
                     - {pack: secrets, enforce: {secrets/logins: ask}}\n  - destructive\n  - supply-chain\n";
    let alike = "jackline: 1\nuse: [git, secrets, destructive, supply-chain]\n";
    [alike, otherwise]
        .into_iter()
        .map(|text| (stack(text, &|pack| bare(pack.model()).into()), stack(text, &compiled)))
        .collect()
});

/// A model of whose rules nothing is known, so that each of them is looked at.
fn bare(mut model: Model) -> Model {
    for policy in &mut model.policies {
        let Guard::Rule(rule) = &policy.guard else { panic!("{policy:?}") };
        policy.guard = Guard::Rule(Rule::clone(rule).into());
    }
    model
}

fn compiled(pack: &'static packs::Pack) -> Content {
    let bytes = Box::leak(compile(pack).unwrap().into_boxed_slice());
    Content::Compiled(Compiled::open(pack, bytes).unwrap())
}

fn stack(text: &str, load: &dyn Fn(&'static packs::Pack) -> Content) -> Stack {
    let model = definition::parse(text, &tools::names()).unwrap().model;
    let layer = Layer::new(model, Digest::of(text.as_bytes()), Origin::Project, true);
    let packs = packs::layers(&layer, load);
    let layers = std::iter::once(layer).chain(packs).collect();
    let mut stack = Stack { root: ROOT.to_owned(), layers, ..Stack::default() };
    stack.put_home(HOME);
    stack
}

/// What is on a disk where everything is there, but for what is called unknown.
fn fact(probe: &Probe) -> Fact {
    let Probe::Identity { path, dir } = probe else { return Fact::Unknown("nobody looked".to_owned()) };
    if path.contains("unknown") {
        return Fact::Unknown("nobody looked".to_owned());
    }
    let path = match path.strip_prefix('~') {
        Some(rest) => path::fold(&format!("{HOME}/{rest}")),
        None => path::join(&path::join(ROOT, dir), path),
    };
    let inside = path.strip_prefix(ROOT).map(|rest| rest.trim_start_matches('/').to_owned());
    Fact::Identity(Identity {
        path,
        inside,
        there: There::File,
        ours: None,
        holds: None,
        leads: Vec::new(),
        began: None,
        instructs: false,
    })
}

/// Decides, and says what was asked on the way.
fn decided(stack: &Stack, event: &Event) -> (Vec<Vec<Probe>>, Decision, Facts) {
    let (mut facts, mut asked) = (Facts::default(), Vec::new());
    loop {
        match decide(stack, &Session::default(), event, &facts) {
            Step::Done(decision) => return (asked, *decision, facts),
            Step::Need(probes) => {
                probes.iter().for_each(|probe| facts.keep(probe.clone(), fact(probe)));
                asked.push(probes);
            }
        }
    }
}

fn event(tool: &str, args: Value) -> Event {
    let event = Event::new("s", Timestamp(0), Body::CallRequested(Call::new(tool, args)));
    Event { host: Some("claude".to_owned()), ..event }
}

fn shell(text: &str) -> Event {
    event("Bash", json!({ "command": text }))
}

/// Everything is the same, and each rule that matches is found, however strictly it is looked at.
#[track_caller]
fn check(event: &Event) {
    let [(read, _), ..] = STACKS.as_slice() else { panic!("no stack") };
    let facts = STACKS.iter().map(|(read, compiled)| check_stacks(read, compiled, event)).next_back().unwrap();
    read.layers.iter().filter(|layer| layer.is_pack()).for_each(|layer| check_layer(layer, event, &facts));
}

#[track_caller]
fn check_stacks(read: &Stack, compiled: &Stack, event: &Event) -> Facts {
    let (asked, want, facts) = decided(read, event);
    let (asked_too, found, _) = decided(compiled, event);
    assert_eq!((asked, want), (asked_too, found), "{event:?}");
    facts
}

#[track_caller]
fn check_layer(layer: &Layer, event: &Event, facts: &Facts) {
    let Body::CallRequested(call) = &event.body else { panic!("{event:?}") };
    let view = View::new(call, event.host.as_deref(), ROOT, None);
    let (session, carried) = (Session::default(), Carried::by(&view, facts));
    let subject = Subject { layer, session: &session, event, view: &view, facts };
    for (_, policy) in layer.policies() {
        let Guard::Rule(rule) = &policy.guard else { panic!("{policy:?}") };
        let matches =
            [Purpose::Restrict, Purpose::Known].iter().any(|purpose| subject.matches(&rule.matcher, *purpose));
        assert!(!matches || meets(&carried, &rule.matcher), "{} is missed: {event:?}", policy.name);
    }
}

fn meets(carried: &Carried, matcher: &Matcher) -> bool {
    let cues = demanded(matcher, &[]);
    let rows = |cue: Cue| cues.contains(&cue).then_some(0).into_iter();
    carried.find(rows).is_none_or(|rows| !rows.is_empty())
}

/// Every text of the packs' own cases.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cases = [
        include_str!("../../../../conformance/cases/packs_git.yaml"),
        include_str!("../../../../conformance/cases/packs_secrets.yaml"),
        include_str!("../../../../conformance/cases/packs_destructive.yaml"),
        include_str!("../../../../conformance/cases/packs_supply_chain.yaml"),
    ];
    let mut found = Vec::new();
    cases.iter().for_each(|case| strings(&serde_saphyr::from_str(case).unwrap(), &mut found));
    assert!(found.len() > 500, "{} texts", found.len());
    found
});

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn the_packs_own_cases_are_decided_alike() {
    let [(read, compiled), ..] = STACKS.as_slice() else { panic!("no stack") };
    for text in TEXTS.iter() {
        check_stacks(read, compiled, &shell(text));
        // What has no space in it is a path in one of the cases.
        for tool in ["Read", "Write"].iter().filter(|_| !text.contains(' ')) {
            check_stacks(read, compiled, &event(tool, json!({ "file_path": text, "content": "" })));
        }
    }
}

#[test]
fn what_has_more_cues_than_are_looked_up_is_held_against_all() {
    let many: String = (0..3_000).map(|number| format!(" w{number}")).collect();
    check(&shell(&format!("git push{many} --force")));
    check(&shell(&format!("true{} ; git push --force", "; echo a b c d".repeat(400))));
}

/// The words that the packs are about, with what stands for a wildcard in its place.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut words: Vec<String> = ["ls", "-la", "x", "$X", "*", "--", "a=b", "-", "unknown"].map(str::to_owned).to_vec();
    for policy in PACKS.iter().flat_map(|pack| pack.model().policies) {
        let Guard::Rule(rule) = &policy.guard else { panic!("no rule") };
        patterns(&rule.matcher, &mut words);
    }
    let mut words: Vec<String> = words.iter().flat_map(|word| word.split_whitespace()).flat_map(written).collect();
    words.sort();
    words.dedup();
    words
});

fn written(pattern: &str) -> Vec<String> {
    let written = if glob::is_pattern(pattern) { glob::alternatives(pattern) } else { vec![pattern.to_owned()] };
    let plain = |word: String| word.replace("**", "d/e").replace(['*', '?'], "z").replace(['$', '(', ')', '…'], "");
    written.into_iter().take(4).map(plain).filter(|word| !word.is_empty()).collect()
}

fn patterns(matcher: &Matcher, found: &mut Vec<String>) {
    found.extend(matcher.path.iter().cloned());
    match &matcher.command {
        Some(CommandMatcher::Glob(globs)) => found.extend(globs.iter().cloned()),
        Some(CommandMatcher::Parts(parts)) => {
            let lists =
                [&parts.program, &parts.args, &parts.flags, &parts.subcommand, &parts.redirects_to, &parts.without];
            found.extend(lists.into_iter().flatten().cloned());
            found.extend(parts.env.iter().map(|name| format!("{name}=1")));
        }
        None => {}
    }
    matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref()).for_each(|part| patterns(part, found));
}

fn word() -> impl Strategy<Value = String> {
    (any::<prop::sample::Index>(), 0..10_u8).prop_map(|(index, how)| {
        let word = index.get(&WORDS).as_str();
        match how {
            0 => word.chars().take(word.chars().count().saturating_sub(1).max(1)).collect(),
            1 => format!("{word}=z"),
            2 => format!("> {word}"),
            3 => format!("{word}$X"),
            _ => word.to_owned(),
        }
    })
}

/// Words so few that a random condition often holds.
fn few() -> impl Strategy<Value = String> {
    let words = [
        "git",
        "gi*",
        "/usr/bin/git",
        "push",
        "{push,pull}",
        "-f",
        "-uf",
        "--force",
        "--fo",
        "--force=x",
        "-x=y",
        "--a-b",
    ];
    let paths =
        [".ssh/id", "a/b.key", "*.key", "/etc/**", "**/.ssh/{id,x}", "~/z", "outside", "unknown", "> b.key", "$X"];
    prop::sample::select([words.as_slice(), &paths].concat()).prop_map(str::to_owned)
}

/// A matcher that leaves the kinds of condition which are not looked at to chance.
fn matcher() -> impl Strategy<Value = Matcher> {
    // Mostly none: only a condition that stands alone shows whether its cues are the right ones.
    let some = || prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(few(), 1..3)];
    let parts =
        (some(), some(), some(), some(), some()).prop_map(|(program, args, flags, subcommand, redirects_to)| {
            let parts = definition::model::CommandParts {
                program,
                args,
                flags,
                subcommand,
                redirects_to,
                ..Default::default()
            };
            CommandMatcher::Parts(parts)
        });
    let globs = prop::collection::vec(few(), 1..3).prop_map(CommandMatcher::Glob);
    let tool = prop::sample::subsequence(vec!["@shell", "@write", "Bash", "B*", "Read"], 0..2);
    let leaf =
        (tool, prop::option::of(prop_oneof![3 => parts, 1 => globs]), some(), prop::bool::weighted(0.1), any::<bool>())
            .prop_map(|(tool, command, path, opaque, args)| Matcher {
                tool: tool.into_iter().map(str::to_owned).collect(),
                command,
                path,
                opaque,
                args: args.then(|| ("nothing".to_owned(), ArgMatcher::Absent)).into_iter().collect(),
                ..Matcher::default()
            });
    leaf.prop_recursive(2, 8, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 0..3);
        (inner.clone(), several(), several(), prop::option::of(inner.clone()))
            .prop_map(|(own, all, any, not)| Matcher { all, any, not: not.map(Box::new), ..own })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_texts_are_decided_alike(
        base in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), word in word(), how in 0..4_u8,
    ) {
        let mut words: Vec<&str> = base.get(&TEXTS).split(' ').collect();
        let at = at.index(words.len());
        match how {
            0 => words[at] = &word,
            1 => words.insert(at, &word),
            2 => words.push(&word),
            _ => drop(words.remove(at)),
        }
        check(&shell(&words.join(" ")));
    }

    #[test]
    fn random_paths_are_decided_alike(path in prop::collection::vec(word(), 1..5), tool in 0..3_usize) {
        let tool = ["Read", "Write", "Grep"][tool];
        let path = path.join("/");
        check(&event(tool, json!({ "file_path": path, "path": path, "content": "" })));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_rule_that_matches_is_missed(
        matcher in matcher(),
        commands in prop::collection::vec(prop::collection::vec(few(), 1..5), 1..3),
        computed in prop::sample::select(vec![Computed::Match, Computed::Pass]),
    ) {
        let text = commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join(" && ");
        let shell_only = Model { shell: Shell { computed, ..Shell::default() }, ..Model::default() };
        let layer = Layer::new(shell_only, Digest::ZERO, Origin::Project, true);
        let event = shell(&text);
        let Body::CallRequested(call) = &event.body else { panic!("{event:?}") };
        let view = View::new(call, Some("claude"), ROOT, None);
        let mut facts = Facts::default();
        view.touches.iter().for_each(|touch| facts.keep(touch.probe(), fact(&touch.probe())));
        let subject = Subject { layer: &layer, session: &Session::default(), event: &event, view: &view, facts: &facts };
        let matches = subject.matches(&matcher, subject.restricting());
        prop_assert!(!matches || meets(&Carried::by(&view, &facts), &matcher), "{} is missed by {:?}", text, matcher);
    }
}
