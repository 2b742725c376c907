//! What a successful call counts as, and whether something has been done.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::model::{CommandMatcher, Guard, Matcher, Step};
use crate::glob;
use crate::guards::Context;
use crate::matcher::{Purpose, STEP_DEPTH_MAX, Subject};
use crate::probe::{Fact, Facts, Probe};
use crate::session::{Done, Session};
use crate::sha::{Digest, Key};
use crate::stack::Layer;

/// What to do when files changed after something was done.
pub(crate) const RUN_AGAIN: &str = "run it again: files changed since";

/// The name a step is remembered by: another matcher under the same name is another step, and so is one that rests on
/// a step which means something else.
pub(crate) fn step_name(layer: &Layer, step: &Step) -> String {
    let mut below = BTreeMap::new();
    rests_on(layer, &step.matcher, STEP_DEPTH_MAX, &mut below);
    if below.is_empty() {
        return format!("step:{}:{}", step.name, step.key);
    }
    let keys: Vec<String> = std::iter::once(&step.key).chain(below.values()).map(ToString::to_string).collect();
    format!("step:{}:{}", step.name, Digest::of_parts(keys.iter().map(String::as_bytes)).short())
}

/// The steps that a matcher names, and those that they name, by what each is remembered by.
fn rests_on<'a>(layer: &'a Layer, matcher: &'a Matcher, depth: u32, found: &mut BTreeMap<&'a str, Key>) {
    let done = matcher.session.iter().flat_map(|session| session.done.iter().chain(&session.not_done));
    for step in matcher.tool.iter().chain(done).filter_map(|name| layer.step(name)) {
        if depth > 0 && found.insert(&step.name, step.key).is_none() {
            rests_on(layer, &step.matcher, depth - 1, found);
        }
    }
    let inner = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
    inner.for_each(|inner| rests_on(layer, inner, depth, found));
}

/// What a successful call counts as: its tool, its kind, and every step it proves.
#[must_use]
pub fn names(subject: &Subject<'_>) -> Vec<String> {
    let steps = subject.layer.model.steps.iter().filter(|step| subject.is_named(&step.name, Purpose::Prove));
    let tools = subject.view.names().map(|tool| format!("tool:{tool}"));
    let kind = format!("@{}", subject.view.kind.name());
    tools.chain([kind]).chain(steps.map(|step| step_name(subject.layer, step))).collect()
}

/// What a successful call counts as, to all layers together. Where they see it in different ways, what only some of
/// them count is remembered as theirs.
#[must_use]
pub(crate) fn all_names(context: &Context<'_>) -> BTreeSet<String> {
    let layers = context.stack.layers.iter();
    let counted = layers.map(|layer| (layer, names(&context.subject(layer))));
    if context.views.agree() {
        return counted.flat_map(|(_, names)| names).collect();
    }
    let counted: Vec<(&Layer, Vec<String>)> = counted.collect();
    let mut all = BTreeSet::new();
    for (layer, names) in &counted {
        for name in names {
            let disputed = counted.iter().any(|(other, theirs)| knows(other, name) && !theirs.contains(name));
            all.insert(if disputed { of_one(layer, name) } else { name.clone() });
        }
    }
    all
}

/// Whether a remembered name means something to a layer.
fn knows(layer: &Layer, remembered: &str) -> bool {
    let is = |step: &Step| step_name(layer, step) == remembered;
    match remembered.starts_with("step:") {
        true => layer.model.steps.iter().any(is),
        false => !layer.is_pack(),
    }
}

/// Whether a remembered name is that of a step.
pub(crate) fn is_step(remembered: &str) -> bool {
    let of_one = || remembered.strip_prefix(OF_ONE)?.split_once(':').map(|(_, name)| name);
    of_one().unwrap_or(remembered).starts_with("step:")
}

/// Before what counts for one definition only: its digest, and what is remembered.
const OF_ONE: &str = "of:";

fn of_one(layer: &Layer, name: &str) -> String {
    format!("{OF_ONE}{}:{name}", layer.digest.short())
}

/// What a remembered name is to a layer; nothing where it counts for another one only.
fn to_layer<'r>(layer: &Layer, remembered: &'r str) -> Option<&'r str> {
    let Some(theirs) = remembered.strip_prefix(OF_ONE) else { return Some(remembered) };
    let (digest, name) = theirs.split_once(':')?;
    (digest == layer.digest.short().to_string()).then_some(name)
}

/// When something of this name (a tool or glob, a step, `@kind`) last succeeded.
#[must_use]
pub fn find<'a>(session: &'a Session, layer: &Layer, name: &str) -> Option<&'a Done> {
    let mut newest_first = session.memory.done.iter().rev();
    match layer.step(name).map(|step| step_name(layer, step)) {
        Some(wanted) => newest_first.find(|done| to_layer(layer, &done.name) == Some(wanted.as_str())),
        None => newest_first.find(|done| is_named(layer, name, &done.name)),
    }
}

/// Everything that is done, as a definition would name it: tools, steps and `@kind`s, sorted.
#[must_use]
pub fn told(session: &Session, layer: &Layer) -> Vec<String> {
    let steps: BTreeMap<String, &str> =
        layer.model.steps.iter().map(|step| (step_name(layer, step), step.name.as_str())).collect();
    let name = |done: &Done| {
        let remembered = to_layer(layer, &done.name)?;
        match remembered.strip_prefix("tool:") {
            Some(tool) => Some(tool.to_owned()),
            None if remembered.starts_with('@') => Some(remembered.to_owned()),
            // A step of another definition, or of an earlier state of this one, is none of its own.
            None => steps.get(remembered).map(|name| (*name).to_owned()),
        }
    };
    let names: BTreeSet<String> = session.memory.done.iter().filter_map(name).collect();
    names.into_iter().collect()
}

/// Whether a remembered name is what `name` (a tool or glob, a step, `@kind`) asks for.
#[must_use]
pub fn is_named(layer: &Layer, name: &str, remembered: &str) -> bool {
    let Some(remembered) = to_layer(layer, remembered) else { return false };
    match (layer.step(name), remembered.strip_prefix("tool:")) {
        (Some(step), _) => remembered == step_name(layer, step),
        (None, Some(tool)) => !name.starts_with('@') && glob::text_matches(name, tool),
        (None, None) => remembered == name,
    }
}

/// The tools and steps of a layer that count only if nothing was written since.
pub(crate) fn fresh_names(layer: &Layer) -> impl Iterator<Item = &str> {
    let sequences = layer.declared().filter_map(|(_, policy)| match &policy.guard {
        Guard::Sequence(sequence) if sequence.fresh => Some(sequence),
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rule(_) | Guard::Rego(_) => None,
    });
    let needed = sequences.flat_map(|sequence| &sequence.requires).flat_map(|(_, needs)| needs).map(String::as_str);
    needed.chain(layer.model.completion.iter().flat_map(|completion| completion.check.done()))
}

/// Whether the work tree must be looked at to tell if nothing was written since.
pub(crate) fn wants_tree(done: &Done, session: &Session, facts: &Facts) -> bool {
    done.tree.is_some() && done.writes == session.writes && facts.get(&Probe::WorkTree).is_none()
}

/// Whether nothing was written since: no recorded write, and the work tree as it was where it is known.
pub(crate) fn is_fresh(done: &Done, session: &Session, facts: &Facts) -> bool {
    if done.writes != session.writes {
        return false;
    }
    let Some(then) = done.tree else { return true };
    match facts.get(&Probe::WorkTree) {
        Some(Fact::Content(Some(now))) => *now == then,
        // The repository is gone: the tree cannot be what it was.
        Some(_) | None => false,
    }
}

/// How a step is done, where its matcher says it in plain words.
pub(crate) fn how_to(layer: &Layer, name: &str) -> Option<String> {
    let step = layer.step(name)?;
    let commands = match step.matcher.command.as_ref()? {
        CommandMatcher::Glob(globs) => globs.iter().map(|glob| to_type(glob)).collect::<Vec<_>>().join("` or `"),
        CommandMatcher::Parts(parts) => {
            // Of alternatives the first: one way is enough.
            let one = [&parts.program, &parts.subcommand].into_iter().filter_map(|several| several.first());
            let words = one.chain(&parts.args).chain(parts.flags.first());
            words.map(|word| to_type(word)).collect::<Vec<_>>().join(" ")
        }
    };
    (!commands.is_empty()).then(|| format!("{name}: run `{commands}`, as a command of its own"))
}

/// What an agent may type for a pattern: without a star at its end, where the pattern holds without anything in its place. Any
/// other is shown as its owner wrote it.
fn to_type(glob: &str) -> &str {
    let open = |character: char| "*?[{".contains(character);
    let bare = glob.strip_suffix('*').filter(|bare| !bare.contains(open) && bare.ends_with(char::is_alphanumeric));
    bare.filter(|bare| !bare.is_empty()).unwrap_or(glob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_that_stands_for_nothing_is_not_to_be_typed() {
        for (glob, shown) in [
            ("cargo test*", "cargo test"),
            ("make test", "make test"),
            ("git commit *", "git commit *"),
            ("npm run test:*", "npm run test:*"),
            ("./check[12]*", "./check[12]*"),
            ("*test*", "*test*"),
            ("*", "*"),
        ] {
            assert_eq!(to_type(glob), shown, "{glob}");
        }
    }

    #[test]
    fn a_command_by_its_parts_is_told_with_its_first_alternatives() {
        for (matcher, shown) in [
            ("{ program: cargo, subcommand: test }", "cargo test"),
            ("{ program: [cargo, cross], subcommand: [test, nextest run] }", "cargo test"),
            ("{ program: git, subcommand: push, flags: [--dry-run] }", "git push --dry-run"),
            ("{ program: cargo, args: [\"test*\"] }", "cargo test"),
        ] {
            let text = format!("jackline: 1\nsteps: {{ done: {{ tool: '@shell', command: {matcher} }} }}\n");
            let model = crate::definition::parse(&text, &crate::tools::names()).unwrap().model;
            let stack = crate::stack::Stack::of("/w", model, crate::sha::Digest::ZERO);
            let told = how_to(&stack.layers[0], "done");
            assert_eq!(told.as_deref(), Some(format!("done: run `{shown}`, as a command of its own").as_str()));
        }
    }
}
