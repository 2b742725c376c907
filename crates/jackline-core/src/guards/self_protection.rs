//! The guard's own safety: an agent may not edit what guards it, nor run the commands that are for people, nor have its host
//! run no hooks.
//!
//! Which files are ours is a probe's answer (canonical path, device and inode); here is what follows from it.

pub(crate) mod operator;
mod switches;

use serde_json::Value;

use super::Context;
use super::meeting::{Meeting, Met};
use super::shell_text;
use crate::call::{Only, TOUCHES_MAX, Touch};
use crate::code;
use crate::decision::Finding;
use crate::definition::Kind;
use crate::glob;
use crate::hosts::{self, Away, Stray, When};
use crate::instructions;
use crate::overlap::{self, Expanded};
use crate::own_files::{DIRECTORIES, EXPANDED, MENTIONS, MENTIONS_APART, PARTS, ends_in_directory, label};
use crate::path::Role;
use crate::probe::{Fact, Identity, Probe, There};
use crate::shell::{self, Command, How, Reading, ShellText};
use crate::stack::Layer;
use crate::tools::{self, Tool};

const GUARD: &str = "self";

/// What the call changes, and what it may change if nothing is known of its tool.
fn changed<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a Touch> {
    let view = context.view;
    view.touches.iter().chain(&view.suspected).filter(|touch| touch.role.changes())
}

pub(crate) fn needs(context: &Context<'_>) -> Vec<Probe> {
    let touches = changed(context).filter(|touch| !touch.dynamic).flat_map(Touch::each);
    let questions = touches.flat_map(|touch| match &touch.only {
        Some(Only::Present(probe)) => vec![touch.probe(), probe.clone()],
        Some(Only::Copied(_) | Only::Searched(_)) => Vec::new(),
        Some(Only::Unentered(_)) | None => std::iter::once(touch.probe()).chain(met_below(context, &touch)).collect(),
    });
    questions.filter(|probe| context.facts.get(probe).is_none()).collect()
}

/// The question what a pattern meets, once it is known where it is expanded.
fn met_below(context: &Context<'_>, touch: &Touch) -> Option<Probe> {
    let identity = context.facts.get(&touch.probe()).and_then(Fact::identity)?;
    touched(touch, identity)?;
    match meeting(touch, identity)?.come_to(context.view, context.facts) {
        Met::Open(probe) => Some(probe),
        Met::Nothing | Met::File(_) | Met::Untold => None,
    }
}

/// What a pattern may meet of ours below a directory of the workspace.
fn meeting<'a>(touch: &'a Touch, dir: &'a Identity) -> Option<Meeting<'a>> {
    let (_, pattern) = touch.split();
    let expanded = touch.glob && !pattern.is_empty() && dir.ours.is_none();
    let inside = dir.inside.as_deref().filter(|_| expanded)?;
    Some(Meeting { touch, dir, inside, pattern, patterns: None })
}

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = changed(context).filter_map(|touch| judge_readings(context, touch)).collect();
    findings.extend(changed(context).filter(|touch| touch.dynamic && touch.glob).filter_map(judge_unplaced));
    findings.extend(context.view.crowded.then(crowded));
    findings.extend(judge_shell(context));
    findings.extend(judge_suspected(context));
    findings.extend(judge_straying(context));
    findings.extend(judge_instructions(context));
    findings
}

/// Agents and skills may be written, but bring no hooks along: those would run beside ours, and rewrite what was judged.
fn judge_instructions(context: &Context<'_>) -> Option<Finding> {
    let written = changed(context).filter(|touch| touch.role == Role::Write);
    let seen = |touch: &Touch| {
        let identity = context.facts.get(&touch.probe()).and_then(Fact::identity);
        let path = identity.map_or_else(|| touch.path.clone(), |identity| identity.path.clone());
        let is_one = identity.is_some_and(|identity| identity.instructs) || instructions::is_one(&path);
        is_one.then_some(path)
    };
    let path = written.filter_map(seen).next()?;
    let is_json = path.ends_with(".json");
    let key = match context.view.shell_text() {
        Some(text) => {
            instructions::mentions(&text).or_else(|| instructions::mentions_in_json(&text).filter(|_| is_json))
        }
        None => brought(&context.view.call.args, is_json),
    }?;
    let file = path.rsplit('/').next().unwrap_or_default();
    let place = if is_json { "in" } else { "in the front matter of" };
    let reason = format!("`{key}` {place} '{file}' has the host run something beside this session's guard.");
    Some(Finding::deny(GUARD, code::SELF_PROTECTED, reason).suggest("leave it out, or ask the person to add it"))
}

/// What the texts among a call's arguments bring along: whole files, or parts of them.
fn brought(args: &Value, is_json: bool) -> Option<&'static str> {
    match args {
        Value::String(text) if is_json => instructions::mentions_in_json(text),
        Value::String(text) if text.trim_start().starts_with("---") => instructions::brings(text),
        Value::String(text) => instructions::mentions(text).or_else(|| patched(text)),
        Value::Array(items) => items.iter().find_map(|item| brought(item, is_json)),
        Value::Object(fields) => {
            let mut written = fields.iter().filter(|(name, _)| !WAS.contains(&name.as_str()));
            written.find_map(|(_, value)| brought(value, is_json))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Arguments that hold what is replaced.
const WAS: &[&str] = &["old_string", "old_str", "oldString", "old_text"];

/// What the lines bring along that a patch adds.
fn patched(text: &str) -> Option<&'static str> {
    let added: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('+')).collect();
    instructions::mentions(&added.join("\n"))
}

/// What an agent does in a directory of which the host tells nobody would be judged as if it were done elsewhere; what one
/// does on another machine is not judged at all.
fn judge_straying(context: &Context<'_>) -> Option<Finding> {
    let call = context.view.call;
    let strays = |stray: &&Stray| call.args.get(stray.argument).is_some_and(|value| counts(value, stray.when));
    let Stray { tool, argument, when, away } = hosts::strays(context.event.host.as_deref(), &call.tool).find(strays)?;
    let (reason, remedy) = match (away, when) {
        (Away::Machine, _) => (
            format!(
                "`{tool}` with this `{argument}` has an agent work on another machine, where no hook of ours is asked."
            ),
            "have it done here, or ask the person to start it",
        ),
        (Away::Directory, When::Any) => told_nobody(&format!("`{argument}`")),
        (Away::Directory, When::Is(texts) | When::Has(texts)) => {
            told_nobody(&format!("`{}` in `{argument}`", texts.join("` or `")))
        }
    };
    Some(Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason).suggest(remedy))
}

fn told_nobody(by: &str) -> (String, &'static str) {
    let reason = format!(
        "With {by} a sub-agent works in a directory that its host tells no hook: none of its paths could be judged."
    );
    (reason, "start it without, and have it name whole paths; or start a session of its own in that work tree")
}

/// Whether a value says what counts; what is no text may.
fn counts(value: &Value, when: When) -> bool {
    match (value, when) {
        (Value::Null | Value::Bool(false), _) => false,
        (Value::String(text), When::Any) => !text.trim().is_empty(),
        (Value::String(text), When::Is(values)) => values.contains(&text.trim()),
        (Value::String(text), When::Has(parts)) => parts.iter().any(|part| text.contains(part)),
        _ => true,
    }
}

/// A tool of which nothing is known may run what it is told: neither our commands nor a program that names what guards us.
fn judge_suspected(context: &Context<'_>) -> Vec<Finding> {
    let run = context.view.suspected_text.iter().flat_map(|(text, reading)| {
        let undone = switches::undone(reading).iter().map(|reason| protected(reason)).collect::<Vec<_>>();
        let settings = reading.commands.iter().flat_map(shell::git_settings).map(|key| git_setting(&key));
        our_commands(reading, text).into_iter().chain(settings).chain(undone)
    });
    let programs = || context.view.suspected_programs.iter();
    let ours = programs().any(|program| operator::names_one(program) || operator::names_one(&plainly(program)));
    let told = ours.then(|| operators("This call has a program run a command of `jackline` that is for people."));
    run.chain(programs().flat_map(|program| judge_unread("call", program, false, false))).chain(told).collect()
}

/// A pattern of which it is not known where, or how, it is matched: it may not begin as one of our names does.
fn judge_unplaced(touch: &Touch) -> Option<Finding> {
    let tails = std::iter::successors(Some(touch.path.as_str()), |tail| tail.split_once('/').map(|(_, rest)| rest));
    let begun = tails.filter(|tail| literal(tail).len() >= LITERAL_BYTES_MIN);
    let ours = |tail: &str| EXPANDED.iter().chain(DIRECTORIES).any(|own| overlap::overlaps_from_root(own, tail));
    let reason = format!("Pattern '{}' may match what guards this session, wherever it is matched.", touch.path);
    begun.into_iter().any(ours).then(|| protected(&reason).about(&touch.path))
}

/// Bytes with which a pattern must begin to be taken for a name of ours: `*` may be anything.
const LITERAL_BYTES_MIN: usize = 2;

/// What a pattern begins with, where one letter in brackets is that letter.
fn literal(pattern: &str) -> String {
    let plain = pattern.replace(['[', ']'], "");
    plain.split(['*', '?', '{', '(', '/']).next().unwrap_or_default().to_owned()
}

/// What is not looked at may be what guards us.
fn crowded() -> Finding {
    let reason = format!("This call changes more than {TOUCHES_MAX} paths, which is more than are looked at.");
    Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason).suggest("change fewer files in one call")
}

/// The last word, where no policy had one: a tool that writes or runs a text, and whose arguments do not say where or
/// what, may do it to what guards us. One that only its owner or its name calls so may have nothing to say.
pub(crate) fn judge_unsaid(context: &Context<'_>) -> Option<Finding> {
    let view = context.view;
    view.row?;
    if view.kind == Kind::Shell && view.shell_text().is_none() {
        let reason = "The call runs something, but what cannot be told from its arguments.";
        return Some(Finding::deny(GUARD, code::SHELL_UNPARSABLE, reason).suggest("give the command as a text"));
    }
    let reason = "The call writes, but where cannot be told from its arguments.";
    let finding = || Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason).suggest("name every file plainly");
    view.pathless.then(finding)
}

/// Whether what a touch copies is there to be copied.
fn is_present(context: &Context<'_>, touch: &Touch) -> bool {
    match &touch.only {
        Some(Only::Present(probe)) => {
            let seen = context.facts.get(probe).and_then(Fact::identity);
            seen.is_none_or(|identity| identity.there != There::Nothing)
        }
        // What guards us in it has touches of its own, and may be read.
        Some(Only::Copied(_) | Only::Searched(_)) => false,
        // That a directory cannot be entered is easily brought about: what guards us is judged either way.
        Some(Only::Unentered(_)) | None => true,
    }
}

/// Whichever way the path is meant, it may not lead to what guards us.
fn judge_readings(context: &Context<'_>, touch: &Touch) -> Option<Finding> {
    touch.each().find_map(|touch| judge_touch(context, &touch))
}

fn judge_touch(context: &Context<'_>, touch: &Touch) -> Option<Finding> {
    // A path that depends on a value is not asked for; the shell text gets a last look instead.
    let seen = context.facts.get(&touch.probe())?;
    let Some(identity) = seen.identity() else { return Some(untold(touch)) };
    let seeks = |row: &Tool| row.seeks && tools::is_native(context.event.host.as_deref(), row);
    if identity.there == There::Nothing && context.view.row.is_some_and(seeks) && !touch.path.starts_with('/') {
        return Some(sought(touch));
    }
    let label = touched(touch, identity).filter(|_| is_present(context, touch))?;
    if allowed(context, identity) {
        return None;
    }
    let met = meeting(touch, identity).map(|meeting| meeting.come_to(context.view, context.facts));
    let shown = match met {
        Some(Met::Nothing) => return None,
        Some(Met::File(seen)) => return Some(meets(touch, seen)),
        Some(Met::Open(_) | Met::Untold) | None => identity.inside.as_deref().filter(|path| !path.is_empty()),
    };
    let shown = shown.unwrap_or(&touch.path);
    let reason = format!("Path '{shown}' is part of what guards this session ({label}).");
    // A set of files that only the program knows (`git clean -fd`): less of it may do.
    let is_whole = touch.glob && touch.role == Role::Delete && touch.split().1.is_empty();
    let narrower = "name the directories that are meant (`git stash push -u -- src`, `git clean -fd src`)";
    let finding = if is_whole {
        Finding::deny(GUARD, code::SELF_PROTECTED, reason).suggest(narrower)
    } else {
        protected(&reason)
    };
    Some(finding.about(&touch.path))
}

/// A pattern that meets one of our files, as it is there.
fn meets(touch: &Touch, seen: &str) -> Finding {
    let reason = format!("Pattern '{}' meets '{seen}', which is part of what guards this session.", touch.path);
    let remedy = "match fewer files, or name the directory that is meant";
    Finding::deny(GUARD, code::SELF_PROTECTED, reason).suggest(remedy).about(&touch.path)
}

/// A path that leads nobody knows where may lead to what guards us.
fn untold(touch: &Touch) -> Finding {
    let reason = format!("Where path '{}' leads cannot be told, and it would be written.", touch.path);
    Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason).suggest(touch.remedy())
}

/// A name for which a host looks everywhere may be that of what guards us, or of whatever a policy is about.
fn sought(touch: &Touch) -> Finding {
    let reason = format!("Nothing is at '{}', and the host would take any file of that name instead.", touch.path);
    Finding::deny(GUARD, code::PATHS_UNRESOLVABLE, reason).suggest("write the whole path from `/`")
}

/// What of ours a touch reaches: the file itself, or, when a directory goes or a pattern may match, what is below.
fn touched<'a>(touch: &Touch, identity: &'a Identity) -> Option<&'a str> {
    if let Some(label) = identity.ours.as_deref().filter(|_| !touch.glob) {
        return Some(label);
    }
    let label = identity.holds.as_deref().or(identity.ours.as_deref()).or_else(|| spelled_ours(touch, identity))?;
    let (_, rest) = touch.split();
    match (touch.glob, touch.role) {
        (false, _) if matches!(touch.how, How::Linked | How::Locked) => Some(label),
        (false, Role::Delete) => Some(label),
        (false, _) if touch.how == How::Named => None,
        // What the repository keeps of a directory is the owner's, but for one that is a host's alone.
        (false, Role::Write) if touch.how == How::Restored && !ends_in_directory(&identity.path) => None,
        // Something put where our directory would be brings its own settings along; an empty directory does not.
        (false, Role::Write) if identity.there == There::Nothing && touch.how != How::Metadata => Some(label),
        (false, Role::Read | Role::Write) => None,
        (true, Role::Delete) if rest.is_empty() => Some(label),
        // Which files hold a text, or are in a commit, is no matter of their names: only deleting is judged.
        (true, Role::Write) if touch.chosen => None,
        // To set modes and times right of many files is done all day.
        (true, Role::Write) if touch.how == How::Metadata => None,
        (true, _) => may_match_ours(touch, identity).then_some(label),
    }
}

/// Letters that a pattern spells out before it stands for one of our files in any directory: what matches more or less
/// everything is expanded in directories all day.
const SPELLED_CHARS_MIN: usize = 3;

/// What of ours a pattern of the shell's spells out below directories where nothing is known to be.
fn spelled_ours(touch: &Touch, identity: &Identity) -> Option<&'static str> {
    let (_, rest) = touch.split();
    identity.inside.as_ref().filter(|_| touch.glob)?;
    let ends = std::iter::once(0).chain(rest.match_indices('/').map(|(at, _)| at + 1));
    let spells = |end: &&str| end.find(['*', '?', '[', '{', '/']).unwrap_or(end.len()) >= SPELLED_CHARS_MIN;
    let mut ends = ends.filter_map(|at| rest.get(at..)).filter(spells);
    let from = |pattern| Expanded { pattern, dots: touch.dots };
    ends.any(|end| EXPANDED.iter().any(|ours| overlap::overlaps_from_root(ours, from(end)))).then_some(label::HOST)
}

/// Whether a pattern of the shell's may match one of our files in the workspace.
fn may_match_ours(touch: &Touch, identity: &Identity) -> bool {
    if identity.ours.is_some() {
        return true;
    }
    let Some(inside) = &identity.inside else { return may_lead_to_ours(touch, identity) };
    let pattern = format!("{inside}/{}", touch.split().1);
    let matches = |pattern: &str| {
        let expanded = Expanded { pattern: pattern.trim_start_matches('/'), dots: touch.dots };
        EXPANDED.iter().any(|ours| overlap::overlaps_from_root(ours, expanded))
    };
    matches(&pattern) || starts(&pattern, inside).any(matches) || spelled_ours(touch, identity).is_some()
}

/// The same outside the workspace, where a name in the directory leads to them; or one is called like them, there or
/// behind a link.
fn may_lead_to_ours(touch: &Touch, identity: &Identity) -> bool {
    let (_, pattern) = touch.split();
    // That all of a directory goes along says nothing of its own name.
    let mut parts = pattern.strip_suffix("/**").unwrap_or(pattern).split('/');
    let first = Expanded { pattern: pattern.split('/').next().unwrap_or_default(), dots: touch.dots };
    let leads = |name: &String| overlap::overlaps_from_root(name, first);
    let ours = |part: &str| PARTS.iter().any(|own| overlap::overlaps_from_root(own, part));
    let passes_by = !identity.leads.is_empty() && !identity.leads.iter().any(leads) && !parts.any(ours);
    !passes_by && (touch.role != Role::Write || !is_of_a_kind(touch))
}

/// Whether a pattern stands for files of one kind in a directory, of which none is ours: `../*.md`.
fn is_of_a_kind(touch: &Touch) -> bool {
    let (_, pattern) = touch.split();
    let ends = pattern.rsplit_once('.').is_some_and(|(_, end)| end.chars().all(|c| c.is_ascii_alphanumeric()));
    let ours = || PARTS.iter().any(|own| overlap::overlaps_from_root(own, pattern));
    ends && !touch.dots && !pattern.contains('/') && !ours()
}

/// The pattern as seen from each directory on the way to it, hidden ones apart: a host that was started there has its
/// settings there.
fn starts<'a>(pattern: &'a str, inside: &'a str) -> impl Iterator<Item = &'a str> {
    let mut end = 0;
    let parts = inside.split('/').take_while(|part| !part.is_empty() && !part.starts_with('.'));
    parts.filter_map(move |part| {
        end += part.len() + 1;
        pattern.get(end..)
    })
}

/// Letters by which a shell makes other names of those that are written.
const EXPANDING: [char; 7] = ['*', '?', '[', '{', '$', '`', '\\'];

fn allowed(context: &Context<'_>, identity: &Identity) -> bool {
    let Some(inside) = &identity.inside else { return false };
    let layers = &context.stack.layers;
    // It is the owner's to allow: a clone that nobody trusted may say what it likes.
    let allows = |layer: &Layer| layer.trusted && layer.model.own.allow.iter().any(|glob| glob::matches(glob, inside));
    !layers.is_empty() && layers.iter().all(allows)
}

fn judge_shell(context: &Context<'_>) -> Vec<Finding> {
    let text = || context.view.shell_text().unwrap_or_default();
    match &context.view.shell {
        None => Vec::new(),
        Some(ShellText::Unparsable(why)) => {
            let text = text();
            let mut findings = judge_unread("shell text", &text, true, true);
            // Whether a policy looks inside commands or not: a shell runs what it can read, and may make our names of it.
            let may_make = text.contains(EXPANDING) || context.view.row.is_some_and(|row| row.language.is_some());
            findings.extend(may_make.then(|| shell_text::unparsable(GUARD, why, context.view.row)));
            findings
        }
        Some(ShellText::Reading(reading)) => {
            let mut findings = our_commands(reading, &text());
            findings.extend(reading.commands.iter().flat_map(shell::git_settings).map(|key| git_setting(&key)));
            findings.extend(switches::undone(reading).iter().map(|reason| protected(reason)));
            if hides_writes(context, reading) {
                let opaque = reading.opaque.is_some();
                findings.extend(judge_unread("shell text", &text(), opaque, opaque || takes_hidden(context, reading)));
            }
            findings
        }
    }
}

/// The commands for people that a text runs, or has another program run.
fn our_commands(reading: &Reading, text: &str) -> Vec<Finding> {
    let commands = reading.commands.iter().filter(|command| operator::is_one(command));
    let mut findings: Vec<Finding> = commands.map(operator_command).collect();
    if findings.is_empty() && operator::is_handed_on(reading, text) {
        findings.push(operators("This shell text has another program run a command of `jackline` that is for people."));
    }
    findings
}

/// Whether the text may write somewhere that cannot be told.
fn hides_writes(context: &Context<'_>, reading: &Reading) -> bool {
    let hidden = |touch: &Touch| (touch.dynamic || touch.chosen) && touch.role.changes();
    let dynamic = context.view.touches.iter().any(hidden);
    dynamic || reading.foreign || reading.opaque.is_some()
}

/// Whether the text may take away, lock or replace a directory that cannot be told.
fn takes_hidden(context: &Context<'_>, reading: &Reading) -> bool {
    let takes = |touch: &&Touch| match (touch.role, touch.how) {
        (Role::Delete, _) | (Role::Write, How::Linked | How::Locked) => true,
        (Role::Write, How::Whole) => reading.foreign,
        (Role::Read | Role::Write, _) => false,
    };
    let hidden = |touch: &Touch| {
        let last = touch.path.trim_end_matches(['/', '.']).rsplit('/').next().unwrap_or_default();
        last.is_empty() || last.contains(['$', '…', '{', '*', '~']) || ends_in_directory(&touch.path)
    };
    let touches = context.view.touches.iter().filter(|touch| touch.dynamic && touch.only.is_none());
    touches.filter(takes).any(hidden) || reading.commands.iter().any(|command| names_in_code(command, reading))
}

/// Whether a command that runs a text of its own kind is told the name of such a directory, or may be.
fn names_in_code(command: &Command, reading: &Reading) -> bool {
    let fed = command.words.len() < 2 || command.words.iter().any(|word| word.text == "-");
    reading.foreign
        && shell::runs_text(command)
        && (fed || command.words.iter().any(|word| names_directory(&word.text)))
}

/// Whether a text names a directory of a host's itself, not something below it.
fn names_directory(text: &str) -> bool {
    named_directory(text).is_some()
}

fn named_directory(text: &str) -> Option<&'static &'static str> {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    DIRECTORIES.iter().find(|name| {
        text.match_indices(**name).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().chars().next_back();
            let after = text.get(at + name.len()..).unwrap_or_default();
            let next = after.trim_start_matches(['/', '.']).chars().next();
            !before.is_some_and(goes_on) && !next.is_some_and(|c| goes_on(c) || c == '-')
        })
    })
}

fn git_setting(key: &str) -> Finding {
    protected(&format!("Git's setting '{key}' makes git run something, or find its hooks elsewhere."))
}

/// A text without what only spells it differently: quotes, escapes, doubled slashes.
fn plainly(text: &str) -> String {
    let mut plain = without_parameters(&text.replace(['\'', '"', '\\', '\n'], ""));
    while plain.contains("//") || plain.contains("/./") {
        plain = plain.replace("//", "/").replace("/./", "/");
    }
    plain
}

/// Parameters that are usually empty stand in the middle of a name only to hide it.
fn without_parameters(text: &str) -> String {
    let mut parts = text.split('$');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.strip_prefix(['@', '*']);
        let braced = || part.strip_prefix('{').and_then(|part| part.split_once('}')).map(|(_, rest)| rest);
        plain.push_str(rest.or_else(braced).unwrap_or(part));
    }
    plain
}

/// Whether a text has this name as a part of a path of its own.
fn names_part(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().chars().next_back();
        let after = text.get(at + name.len()..).unwrap_or_default().chars().next();
        let goes_on = |c: char| c.is_alphanumeric() || "-_".contains(c);
        !before.is_some_and(goes_on) && !after.is_some_and(goes_on)
    })
}

/// `what` of the call has this text, of which nothing more is known.
fn judge_unread(what: &str, text: &str, may_run: bool, may_take: bool) -> Vec<Finding> {
    let plain = plainly(text);
    let whole = MENTIONS.iter().find(|mention| text.contains(**mention) || plain.contains(**mention));
    let apart = || MENTIONS_APART.iter().find(|(dir, file)| names_part(text, dir) && names_part(text, file));
    let taken = || named_directory(text).or_else(|| named_directory(&plain)).filter(|_| may_take);
    let mentioned = whole.or_else(|| apart().map(|(dir, _)| dir)).or_else(taken);
    let named = mentioned
        .map(|mention| protected(&format!("This {what} names `{mention}` and what it writes cannot be told.")));
    let words =
        |text: &str| text.split(|c: char| !(c.is_alphanumeric() || "-_./".contains(c))).any(operator::is_our_program);
    let runs = may_run && (words(text) || words(&plain));
    let command = runs.then(|| operators(&format!("This {what} runs `jackline` in a way that cannot be told.")));
    named.into_iter().chain(command).collect()
}

fn operator_command(command: &Command) -> Finding {
    let what = command.words.get(1).map(|word| word.text.as_str()).unwrap_or_default();
    operators(&format!("`jackline {what}` is a command for people, not for agents."))
}

fn operators(reason: &str) -> Finding {
    Finding::deny(GUARD, code::SELF_OPERATOR_COMMAND, reason).suggest("ask the person to run it")
}

fn protected(reason: &str) -> Finding {
    Finding::deny(GUARD, code::SELF_PROTECTED, reason).suggest("ask the person to make the change")
}
