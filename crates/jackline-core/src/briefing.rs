//! What an agent is told when it begins: what is enforced, and which exits are honest. A few lines, no more.

use crate::audit;
use crate::completion::park;
use crate::definition::model::{
    Check, Completion, Deadline, Enforce, Guard, Limits, Outside, Paths, Policy, Rule, Sequence, Todos,
};
use crate::files::seen::Noted;
use crate::hosts::tells_last_words;
use crate::overrides::Demand;
use crate::stack::{Layer, Stack};

/// Lines about policies and limits; a longer list is skimmed, and every denial explains itself anyway.
const LINES_MAX: usize = 16;
/// Bytes of one such line; a rule's reason is the owner's text and may be long.
const LINE_BYTES_MAX: usize = 240;

/// The file policies of a workspace, as far as an agent is told of them when it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watching {
    /// Names, the first of them.
    pub names: Vec<String>,
    pub total: usize,
    /// Which they are, and what they say, where they are not too many.
    pub noted: Vec<Noted>,
}

/// The text for the definitions in force and the file policies, for an agent of this host; `None` where nothing is
/// enforced.
#[must_use]
pub fn briefing(stack: &Stack, watching: &Watching, host: Option<&str>) -> Option<String> {
    let mut lines: Vec<String> = files_line(watching, host).into_iter().collect();
    for line in stack.layers.iter().filter(|layer| !layer.observes()).flat_map(|layer| layer_lines(layer, host)) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return None;
    }
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    lines.extend((left_out > 0).then(|| format!("- and {left_out} more")));
    Some(format!(
        "Jackline guards this session: every tool call is held against what its owner declared.\n{}\n\
         A denial says what to do next. The honest exits: do what is asked, or end your turn and say what is in the \
         way. Only a person can make an exception; the files and commands of the guard itself are off limits.",
        lines.join("\n")
    ))
}

fn layer_lines(layer: &Layer, host: Option<&str>) -> Vec<String> {
    // A pack in one line: its rules would crowd out what the owner wrote.
    if let Some(pack) = layer.pack() {
        return vec![clipped(&format!("- {}", pack.about()))];
    }
    let enforced = layer.policies().filter(|(_, policy)| matches!(policy.enforce, Enforce::Deny | Enforce::Ask));
    let mut lines: Vec<String> = enforced
        .flat_map(|(section, policy)| {
            let place = section.map(|section| format!(" (for {})", section.tools.join(", "))).unwrap_or_default();
            policy_lines(policy).into_iter().map(move |line| clipped(&format!("- {line}{place}")))
        })
        .collect();
    lines.extend(todos_line(&layer.model.todos));
    lines.extend(layer.model.completion.as_ref().map(|completion| completion_line(completion, host)));
    lines.extend(limits_line(&layer.model.limits));
    lines.extend(layer.model.reads.map(|reads| {
        format!(
            "- a read shows at most {} lines at once; its last line says where the next page begins",
            reads.lines_max
        )
    }));
    lines
}

/// What must change together, and the honest exits from it.
fn files_line(watching: &Watching, host: Option<&str>) -> Option<String> {
    if watching.total == 0 {
        return None;
    }
    let more = watching.total.saturating_sub(watching.names.len());
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let told = clipped(&format!(
        "- before you stop, file policies look at what you changed: {}{more}",
        watching.names.join("; ")
    ));
    let promise = "where nothing needs to change, say `<promise>the policy's name</promise>` once it fired, and the \
                   owner is told; ";
    let promise = if tells_last_words(host) { promise } else { "" };
    Some(format!("{told}. Do what they ask; {promise}or {}", park::exit_in_short(host)))
}

/// What the owner requires to be done.
fn todos_line(todos: &Todos) -> Option<String> {
    let wanted: Vec<&str> = todos.require.iter().map(|required| required.content.as_str()).collect();
    (!wanted.is_empty()).then(|| clipped(&format!("- required todos, verified by their checks: {}", wanted.join("; "))))
}

/// What must hold before a stop; the honest exit from it is named with it.
fn completion_line(completion: &Completion, host: Option<&str>) -> String {
    let wanted = clipped(&format!("- before you stop: {}", told(&completion.check)));
    format!("{wanted}; or {}: parking is honest, and the owner is told", park::exit_in_short(host))
}

/// A check in a few words. Recursion is bounded by the depth of checks.
fn told(check: &Check) -> String {
    let several = |checks: &[Check], between: &str| checks.iter().map(told).collect::<Vec<_>>().join(between);
    match check {
        Check::All(checks) => several(checks, ", and "),
        Check::Any(checks) => format!("one of ({})", several(checks, " | ")),
        Check::Files(files) => format!("{} must exist", files.join(", ")),
        Check::Done(name) => format!("{name} must be done after the last change to a file"),
        Check::Todos => "every todo must be verified".to_owned(),
        Check::FilePolicies => "no file policy may be outstanding".to_owned(),
        Check::Command(command) => format!("`{}` must exit with 0", command.run.join(" ")),
    }
}

fn policy_lines(policy: &Policy) -> Vec<String> {
    match &policy.guard {
        Guard::Sequence(sequence) => sequence_lines(sequence),
        Guard::ReadBeforeWrite(_) => vec!["an existing file must be read before it is overwritten".to_owned()],
        Guard::Paths(paths) => paths_lines(paths),
        Guard::Rule(rule) => rule_lines(&policy.name, rule),
        Guard::Rego(rego) => vec![rego_line(&policy.name, &rego.tool)],
    }
}

fn rego_line(name: &str, tools: &[String]) -> String {
    let of = if tools.is_empty() { "every call".to_owned() } else { tools.join(", ") };
    format!("{name}: a policy of the owner's judges {of}")
}

fn rule_lines(name: &str, rule: &Rule) -> Vec<String> {
    let said = rule.verdict.map(|_| format!("{name}: {}", rule.reason));
    let put = rule.overriding.as_ref().map(|given| match &given.demand {
        Demand::ToolBudget { tool, max_calls } => {
            format!("{name}: there are times when {tool} may be called at most {max_calls} times")
        }
        Demand::ForceAction { tool } => format!("{name}: there are times when nothing but {tool} is allowed"),
        Demand::WidenRetrieval { factor } => {
            format!("{name}: there are times when reads show {factor} times as much")
        }
    });
    said.into_iter().chain(put).collect()
}

fn sequence_lines(sequence: &Sequence) -> Vec<String> {
    let again = if sequence.fresh { ", again after every change to a file" } else { "" };
    let line = |(name, needs): &(String, Vec<String>)| format!("{name} requires: {}{again}", needs.join(", "));
    sequence.requires.iter().map(line).collect()
}

fn paths_lines(paths: &Paths) -> Vec<String> {
    let mut lines = Vec::new();
    if paths.outside == Outside::Deny {
        let allowed =
            if paths.allow.is_empty() { String::new() } else { format!(", except {}", paths.allow.join(", ")) };
        lines.push(format!("nothing outside the workspace{allowed}"));
    }
    if !paths.protect.is_empty() {
        let acts = if paths.protect_reads { "read or written" } else { "written" };
        lines.push(format!("may not be {acts}: {}", paths.protect.join(", ")));
    }
    lines
}

fn limits_line(limits: &Limits) -> Option<String> {
    let parts: Vec<String> = [
        limits.steps.map(|steps| format!("{} calls", steps.max)),
        limits.deadline.map(|deadline| match deadline {
            Deadline::After(milliseconds) => format!("{} seconds", milliseconds / 1000),
            Deadline::At(at) => format!("until {at}"),
        }),
        limits.tokens.map(|tokens| format!("{tokens} tokens")),
        limits.cost_usd.map(|cost| format!("{cost} USD")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("- limits: {}", parts.join(", ")))
}

fn clipped(line: &str) -> String {
    let head = audit::head(line, LINE_BYTES_MAX);
    let kept = head.replace('\n', " ");
    if head.len() < line.len() { format!("{kept}…") } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha::Digest;

    fn told(text: &str) -> Option<String> {
        let model = crate::definition::parse(text, &crate::tools::names()).expect("fine").model;
        briefing(&Stack::of("/w", model, Digest::of(text.as_bytes())), &Watching::default(), None)
    }

    #[test]
    fn file_policies_are_told_with_their_exits() {
        let model = crate::definition::parse("jackline: 1\n", &[]).expect("fine").model;
        let watching = Watching { names: vec!["Tests".to_owned(), "Docs".to_owned()], total: 3, noted: Vec::new() };
        let stack = Stack::of("/w", model, Digest::ZERO);
        let text = briefing(&stack, &watching, None).expect("something is enforced");
        let told = briefing(&stack, &watching, Some("copilot")).expect("something is enforced");
        assert!(told.contains("the tool `park`") && !told.contains("<p"), "{told}");
        assert!(text.contains("look at what you changed: Tests; Docs, and 1 more."), "{text}");
        assert!(text.contains("<promise>") && text.contains("<park>"), "{text}");
    }

    #[test]
    fn what_is_enforced_is_told_and_what_only_warns_is_not() {
        let text = told(
            "jackline: 1\nsteps: { test: { tool: Bash, command: \"cargo test*\" }, commit: { tool: Bash, command: \"git commit*\" } }\n\
             policies:\n  - sequence: { requires: { commit: [test] }, fresh: true }\n  - { enforce: warn, read_before_write: {} }\n\
             limits: { steps: 9 }\nreads: { lines_max: 50 }\n",
        )
        .expect("something is enforced");
        assert!(text.contains("- commit requires: test, again after every change to a file\n"), "{text}");
        assert!(text.contains("- limits: 9 calls\n"), "{text}");
        assert!(text.contains("- a read shows at most 50 lines at once;"), "{text}");
        assert!(!text.contains("overwritten"), "{text}");
    }

    #[test]
    fn a_pack_is_one_line() {
        let text = told("jackline: 1\nuse: [git]\npolicies: [ { read_before_write: {} } ]\n").expect("two things are");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
        let [own, pack] = lines.as_slice() else { panic!("{text}") };
        assert!(own.contains("read before") && pack.starts_with("- git: "), "{text}");
        assert_eq!(told("jackline: 1\nmode: observe\nuse: [git]\n"), None);
    }

    #[test]
    fn nothing_is_said_where_nothing_is_enforced() {
        assert_eq!(told("jackline: 1\n"), None);
        assert_eq!(told("jackline: 1\nmode: observe\npolicies: [ { read_before_write: {} } ]\n"), None);
    }

    #[test]
    fn many_policies_are_counted_rather_than_listed() {
        let rules: String = (0..30)
            .map(|n| format!("  - {{ name: r{n}, rule: {{ tool: Bash, reason: \"{}\" }} }}\n", "long ".repeat(99)))
            .collect();
        let text = told(&format!("jackline: 1\npolicies:\n{rules}")).expect("something is enforced");
        assert!(text.contains("- and 14 more\n"), "{text}");
        assert!(text.len() < 6000, "{}", text.len());
    }
}
