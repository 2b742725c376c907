//! What an agent is shown of outstanding policies: grouped by policy, pair by pair, bounded, what is left out counted.

use std::fmt::Write as _;

use super::queue::ActionResult;
use super::seen::{Acted, Failure, Firing};
use crate::audit::head;
use crate::completion::park;

/// Bytes of the whole text. Hosts put longer ones aside and show their beginning only.
pub const TEXT_BYTES_MAX: usize = 7 * 1024;
/// Bytes that one policy may take of it, so that several are seen.
const SECTION_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a policy's instructions that are sure to be shown: its name and a few files stand in front of them.
pub const INSTRUCTIONS_BYTES_MAX: usize = SECTION_BYTES_MAX - 512;
/// Bytes below which a part of a policy's section tells nobody what to do: it is named instead.
const SECTION_BYTES_MIN: usize = 320;
/// Pairs of one policy that are shown; more are counted.
const ARROWS_MAX: usize = 20;
/// Bytes of them: the instructions stand behind.
const ARROWS_BYTES_MAX: usize = 2048;
/// Files that stand in place of `{trigger_files}` and `{expected_files}`.
const LISTED_MAX: usize = 20;
/// Bytes of such a list: with long names it would leave no room for what is asked.
const LISTED_BYTES_MAX: usize = 1024;
/// Bytes of the names of policies that are left out.
const LEFT_OUT_BYTES_MAX: usize = 400;
/// Bytes of each stream of a failed command.
const STREAM_BYTES_MAX: usize = 1024;
/// Bytes of a failed command: enough to tell which one it was.
const COMMAND_BYTES_MAX: usize = 400;
/// How the sentence about promises begins and ends.
const LOOKED: &str = "Where you have looked and nothing needs to change,";
const SEEN: &str = ": it is recorded as your word, and the owner sees it";
/// How the text begins.
pub const BEGINNING: &str = "The following policies require attention:";

/// A policy that is outstanding, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub policy: String,
    pub name: String,
    pub text: String,
    /// Where its instructions can be read.
    pub file: String,
    /// Nothing is asked of the agent but time.
    pub waits: bool,
}

/// Everything that is outstanding; `individual` shows the first alone. Where so few more stops are held (`stops`) that some
/// would never be shown, several are, each in its share of the text.
#[must_use]
pub fn whole(sections: &[Section], individual: bool, stops: Option<u32>) -> String {
    let stops = stops.map_or(usize::MAX, |stops| usize::try_from(stops).unwrap_or(usize::MAX)).max(1);
    let due = sections.len().div_ceil(stops).max(1);
    let shown = if individual { sections.get(..due).unwrap_or(sections) } else { sections };
    let mut text = format!("{BEGINNING}\n");
    let end = ending(sections);
    let mut left_out: Vec<&str> = Vec::new();
    for (at, section) in shown.iter().enumerate() {
        let room = TEXT_BYTES_MAX.saturating_sub(text.len() + end.len());
        let part = match due.saturating_sub(at) {
            0 => Some(section.text.clone()).filter(|text| text.len() <= room),
            due => cut(&section.text, &section.file, room / due),
        };
        match part.filter(|_| left_out.is_empty()) {
            Some(part) => drop(write!(text, "\n{part}\n")),
            None => left_out.push(&section.name),
        }
    }
    left_out.extend(sections.iter().skip(shown.len()).map(|section| section.name.as_str()));
    if !left_out.is_empty() {
        let names = listed_within(left_out.iter().copied(), LEFT_OUT_BYTES_MAX);
        let _ = writeln!(text, "\n{} more: {names}", left_out.len());
    }
    format!("{text}\n{end}")
}

/// How an agent settles a policy without doing anything: by its word; or leaves it, and says why.
fn ending(sections: &[Section]) -> String {
    let asking: Vec<&Section> = sections.iter().filter(|section| !section.waits).collect();
    if asking.is_empty() && !sections.is_empty() {
        return "Nothing is asked of you: stop again.".to_owned();
    }
    let sections = asking;
    let name = sections.first().map_or("name", |section| section.name.as_str());
    let each = if sections.len() > 1 { " (each policy by its own name)" } else { "" };
    format!("Do what they ask. {LOOKED} write `<promise>{name}</promise>` in a message{each}{SEEN}; {}.", park::EXIT)
}

/// The same text for an agent whose host tells nobody what it says: its word would go unheard.
#[must_use]
pub fn unspoken(text: &str) -> String {
    let Some((before, rest)) = text.split_once(LOOKED) else { return text.to_owned() };
    let Some((_, after)) = rest.split_once(SEEN) else { return text.to_owned() };
    format!("{before}{LOOKED} tell the owner, who can let it pass with `jackline allow`{after}")
}

/// One policy that waits for the agent.
#[must_use]
pub fn prompt(firing: &Firing) -> Section {
    section(firing, &arrows(firing), &firing.instructions)
}

/// One policy whose command did not pass.
#[must_use]
pub fn command(firing: &Firing, acted: &Acted) -> Section {
    let mut told = String::new();
    for failure in &acted.failures {
        let Failure { command, told: ended, stdout, stderr, .. } = failure;
        let _ = writeln!(told, "{}", failed(command, ended, (stdout, stderr)));
    }
    let more = acted.failed.saturating_sub(acted.failures.len());
    if more > 0 {
        let _ = writeln!(told, "and {more} more runs that did not go well");
    }
    if !acted.unsteady.is_empty() {
        let files = listed(acted.unsteady.iter().map(String::as_str));
        let command = firing.command.as_deref().filter(|_| acted.failures.is_empty());
        let _ = command.map_or(Ok(()), |command| writeln!(told, "Command: {}", short(command)));
        let _ = writeln!(told, "Running it again changed files once more, and it must not: {files}");
    }
    section(firing, told.trim_end(), &firing.instructions)
}

/// One policy whose command failed before, for the same content.
#[must_use]
pub fn command_again(firing: &Firing) -> Section {
    let command = firing.command.as_deref().unwrap_or_default();
    let printed = kept_in(firing).map(|file| format!(" What it printed is in `{file}`.")).unwrap_or_default();
    let ended = match &firing.failed {
        Some(ActionResult { command: ran, output, stdout, stderr, .. }) => {
            let said = |text: &Option<String>| text.clone().unwrap_or_default();
            let ran = ran.as_deref().unwrap_or(command);
            format!("{}\nNothing", failed(ran, &said(output), (&said(stdout), &said(stderr))))
        }
        None => format!("Command: {}\nIt did not pass, and nothing", short(command)),
    };
    let told = format!(
        "{ended} it is about has changed since.{printed} It runs anew when a file it is about changes; if \
         something else was the reason, the owner has it run anew with `jackline policy clear`."
    );
    section(firing, &told, &firing.instructions)
}

/// Where the queue keeps what came of a command that failed: beside the folder of its policy.
fn kept_in(firing: &Firing) -> Option<String> {
    let (folder, _) = firing.file.rsplit_once('/')?;
    let beside = folder.rsplit_once('/').map(|(beside, _)| format!("{beside}/")).unwrap_or_default();
    Some(format!("{}tmp/policy/queue/{}.failed.json", one_line(&beside), firing.hash))
}

/// One policy whose command was not run, and why.
#[must_use]
pub fn command_unrun(firing: &Firing, why: &str) -> Section {
    let command = firing.command.as_deref().unwrap_or_default();
    section(firing, &format!("Command: {}\nIt was not run: {why}", short(command)), &firing.instructions)
}

/// One policy whose command waits for another session's.
#[must_use]
pub fn command_waits(firing: &Firing) -> Section {
    let why = "another session runs the policies' commands. Stop again in a moment.";
    Section { waits: true, ..command_unrun(firing, why) }
}

/// One policy that fired, and whose file is not there any more, or cannot be used.
#[must_use]
pub fn lost(firing: &Firing) -> Section {
    let told = format!(
        "It fired, and then its file `{}` went or became unreadable; what it asked for is still outstanding. Put the \
         file back as it was, or tell the owner, who can forget it with `jackline policy clear`.",
        one_line(&firing.file)
    );
    section(firing, &told, "")
}

/// The same for an agent that gave its word too early.
#[must_use]
pub fn unheard(section: Section) -> Section {
    let told = "Your promise was made before it fired for this content, and does not count: look, and promise it anew.";
    Section { text: format!("{}\n\n{told}", section.text), ..section }
}

/// The same for an agent that only quoted a promise.
#[must_use]
pub fn only_quoted(section: Section) -> Section {
    let told = "A promise that is quoted, or stands in a code block, does not count: write it as your own words.";
    Section { text: format!("{}\n\n{told}", section.text), ..section }
}

/// The same for a policy that may be about another work tree than the one that the session is in.
#[must_use]
pub fn elsewhere(section: Section, tree: Option<&str>) -> Section {
    let Some(tree) = tree else { return section };
    let told = format!("In the work tree `{}`, where this session was before:", one_line(tree));
    let text = match section.text.split_once('\n') {
        Some((name, rest)) => format!("{name}\n{told}\n{rest}"),
        None => format!("{}\n{told}", section.text),
    };
    Section { text, ..section }
}

/// One policy that fired, while it cannot be told whether it still does.
#[must_use]
pub fn untold(firing: &Firing, why: &str) -> Section {
    let files = listed(firing.trigger_files.iter().map(String::as_str));
    let about = if files.is_empty() { String::new() } else { format!(", for {files}") };
    let told = format!(
        "It fired{about}, and whether it still does cannot be told: {}. It stays outstanding until that can be told again.",
        one_line(why)
    );
    section(firing, &told, "")
}

fn section(firing: &Firing, before: &str, body: &str) -> Section {
    let between = if before.is_empty() || body.is_empty() { "" } else { "\n\n" };
    let text = format!("## {}\n{before}{between}{body}", firing.name);
    let text = cut(&text, &firing.file, SECTION_BYTES_MAX).unwrap_or_default();
    let (policy, name, file) = (firing.policy.clone(), firing.name.clone(), firing.file.clone());
    Section { policy, name, text, file, waits: false }
}

/// As much of a section as there is room for, with where to read on; nothing where that is too little.
fn cut(text: &str, file: &str, bytes_max: usize) -> Option<String> {
    if text.len() <= bytes_max {
        return Some(text.to_owned());
    }
    let on = format!("… (read on in `{}`)", one_line(file));
    let kept = (bytes_max >= SECTION_BYTES_MIN).then(|| head(text, bytes_max.saturating_sub(on.len())))?;
    Some(format!("{kept}{on}"))
}

fn arrows(firing: &Firing) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut bytes = 0;
    for pair in firing.pairs.iter().take(ARROWS_MAX) {
        let line = format!("{} → {}", one_line(&pair.from), one_line(&pair.to));
        bytes += line.len();
        if bytes > ARROWS_BYTES_MAX && !lines.is_empty() {
            break;
        }
        lines.push(line);
    }
    let more = firing.pairs.len().saturating_sub(lines.len()) + firing.pairs_left_out;
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines.join("\n")
}

fn failed(command: &str, told: &str, (stdout, stderr): (&str, &str)) -> String {
    let stream = |name: &str, text: &str| {
        let text = tail(text.trim_end());
        if text.is_empty() { String::new() } else { format!("\n{name}:\n{text}") }
    };
    let printed = format!("{}{}", stream("Stdout", stdout), stream("Stderr", stderr));
    let printed = if printed.is_empty() { "\n(no output)".to_owned() } else { printed };
    format!("Command: {}\nIt did not pass: {told}{printed}\n", short(command))
}

/// A command as it is shown: with many files it would leave no room for what came of it.
fn short(command: &str) -> String {
    let kept = head(command, COMMAND_BYTES_MAX);
    match command.len() - kept.len() {
        0 => one_line(kept),
        more => format!("{}… ({more} more bytes)", one_line(kept)),
    }
}

/// The end of what was printed: it says why.
fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(STREAM_BYTES_MAX);
    (from..=text.len()).find_map(|at| text.get(at..)).unwrap_or_default()
}

/// A policy's instructions with files in the places that name them.
#[must_use]
pub fn filled(body: &str, trigger: &[String], expected: &[String]) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let known = [
            ("{trigger_files}", listed(trigger.iter().map(String::as_str))),
            ("{trigger_file}", trigger.first().map(|file| one_line(file)).unwrap_or_default()),
            ("{expected_files}", listed(expected.iter().map(String::as_str))),
        ];
        match known.iter().find_map(|(place, value)| Some((from.strip_prefix(place)?, value))) {
            Some((after, value)) => {
                text.push_str(value);
                rest = after;
            }
            None => {
                text.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    text + rest
}

/// Names in one line, as many as there is room for; one that is longer than that by itself is cut, and says so.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    listed_within(names, LISTED_BYTES_MAX)
}

fn listed_within<'a>(names: impl Iterator<Item = &'a str>, bytes_max: usize) -> String {
    let names: Vec<String> = names.map(one_line).collect();
    let mut shown = String::new();
    let mut count = 0;
    for name in names.iter().take(LISTED_MAX) {
        if shown.len() + name.len() > bytes_max && count > 0 {
            break;
        }
        let kept = head(name, bytes_max);
        let _ = write!(shown, "{}{kept}", if count > 0 { ", " } else { "" });
        shown.push_str(if kept.len() < name.len() { "…" } else { "" });
        count += 1;
    }
    match names.len() - count {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A file's name cannot begin a line of its own.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests;
