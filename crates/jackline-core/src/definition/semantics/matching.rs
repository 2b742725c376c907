//! Whether matchers mean something: patterns that compile, names that exist, conditions that some command can meet.

use std::collections::BTreeSet;

use super::super::fault::{did_you_mean, quoted};
use super::super::model::{ArgMatcher, CommandMatcher, CommandParts, Matcher, Range, SessionMatcher};
use super::super::place::At;
use super::{Check, MATCHER_DEPTH_MAX, Place, REGEXES_MAX, compile_regex};
use crate::glob;
use crate::tools;

impl Check<'_> {
    pub(super) fn matcher(&mut self, matcher: &Matcher, at: &At<'_>, depth: usize) {
        if depth >= MATCHER_DEPTH_MAX {
            self.error(format!("matchers are nested deeper than {MATCHER_DEPTH_MAX}"), None, at);
            return;
        }
        if matcher.is_empty() {
            self.echo("it matches every call".to_owned(), Some("say so with `tool: \"*\"`"), at);
        }
        if !matcher.access.is_empty() && matcher.path.is_empty() {
            self.echo("`access` says nothing without `path`".to_owned(), Some("name the paths"), &at.key("access"));
        }
        self.tools(&matcher.tool, Place::Pattern, &at.key("tool"));
        if let Some(host) = &matcher.host {
            self.host(host, &at.key("host"));
        }
        self.matcher_paths(&matcher.path, &at.key("path"));
        if let Some(command) = &matcher.command {
            self.command(command, &at.key("command"));
        }
        for (name, argument) in &matcher.args {
            self.argument(name, argument, &at.key("args").key(name));
        }
        if let Some(session) = &matcher.session {
            self.session(session, &at.key("session"));
        }
        for (index, inner) in matcher.all.iter().enumerate() {
            self.matcher(inner, &at.key("all").item(index), depth + 1);
        }
        for (index, inner) in matcher.any.iter().enumerate() {
            self.matcher(inner, &at.key("any").item(index), depth + 1);
        }
        if let Some(inner) = &matcher.not {
            self.matcher(inner, &at.key("not"), depth + 1);
        }
    }

    fn matcher_paths(&mut self, patterns: &[String], at: &At<'_>) {
        for (index, pattern) in patterns.iter().enumerate() {
            if pattern != "outside" {
                self.glob(pattern, glob::check(pattern), &at.item(index));
            }
        }
    }

    fn command(&mut self, command: &CommandMatcher, at: &At<'_>) {
        let nothing = match command {
            CommandMatcher::Glob(globs) => globs.is_empty() || globs.iter().any(|glob| glob.trim().is_empty()),
            CommandMatcher::Parts(parts) => *parts == CommandParts::default(),
        };
        if nothing {
            self.echo("`command` names nothing".to_owned(), Some("say `command: \"*\"` for any"), at);
        }
        match command {
            CommandMatcher::Glob(globs) => {
                for (index, glob) in globs.iter().enumerate() {
                    self.words(glob.split_whitespace(), &at.item(index));
                }
            }
            CommandMatcher::Parts(parts) => {
                self.globs(&parts.redirects_to, &at.key("redirects_to"));
                for (key, words) in [("program", &parts.program), ("args", &parts.args), ("env", &parts.env)] {
                    self.words(words.iter().map(String::as_str), &at.key(key));
                }
                self.parts(parts, at);
            }
        }
    }

    /// Patterns that words of a command are held against. A program may be called `[`.
    fn words<'w>(&mut self, words: impl Iterator<Item = &'w str>, at: &At<'_>) {
        for word in words.filter(|word| !word.is_empty() && *word != "[") {
            self.glob(word, glob::check_text(word), at);
        }
    }

    /// Parts that no command can have, so that the matcher would never hold.
    fn parts(&mut self, parts: &CommandParts, at: &At<'_>) {
        let (programs, flags, variables) = (at.key("program"), at.key("flags"), at.key("env"));
        for (index, program) in parts.program.iter().enumerate() {
            let (wrong, help) = match program {
                program if program.contains(char::is_whitespace) => ("has a blank", "name the rest under `subcommand`"),
                program if program.contains('/') => ("is a path", "name it as it is called, without its directory"),
                _ => continue,
            };
            self.error(
                format!("program {} {wrong}, so no command is it", quoted(program)),
                Some(help),
                &programs.item(index),
            );
        }
        for (index, word) in parts.subcommand.iter().enumerate().filter(|(_, word)| word.starts_with('-')) {
            self.error(
                format!("subcommand {} is an option, so no command has it", quoted(word)),
                Some("name it under `flags`"),
                &at.key("subcommand").item(index),
            );
        }
        for (index, flag) in parts.flags.iter().enumerate().filter(|(_, flag)| !flag.starts_with(['-', '+'])) {
            let help = format!("write {}, or name it under `args`", quoted(&dashed(flag)));
            self.error(
                format!("flag {} has no dash, so no command has it", quoted(flag)),
                Some(&help),
                &flags.item(index),
            );
        }
        let variable = |wanted: &str| {
            let name = wanted.split('=').next().unwrap_or_default();
            !name.is_empty() && !name.contains(char::is_whitespace)
        };
        for (index, name) in parts.env.iter().enumerate().filter(|(_, name)| !variable(name)) {
            let help = "name a variable, or one and its value: `NAME=glob`";
            self.error(format!("no variable is called {}", quoted(name)), Some(help), &variables.item(index));
        }
        let plain = |words: &str| words.chars().all(|c| c.is_alphanumeric() || c == '_' || c.is_whitespace());
        let strange = |words: &String| words.trim().is_empty() || !plain(words);
        for (index, words) in parts.statement.iter().enumerate().filter(|(_, words)| strange(words)) {
            self.error(
                format!("no statement begins with {}", quoted(words)),
                Some("name its first words, without patterns"),
                &at.key("statement").item(index),
            );
        }
    }

    /// A host that we do not know: a program of the owner's own, or a slip.
    fn host(&mut self, name: &str, at: &At<'_>) {
        let known: BTreeSet<&str> = tools::TOOLS.iter().map(|tool| tool.host).filter(|host| !host.is_empty()).collect();
        if !known.contains(name) {
            let near = did_you_mean(name, known.iter().copied());
            let usual = "a program of your own gives its name in `host` of its events".to_owned();
            self.warn(format!("no host that we know is called {}", quoted(name)), Some(near.unwrap_or(usual)), at);
        }
    }

    fn argument(&mut self, name: &str, argument: &ArgMatcher, at: &At<'_>) {
        match argument {
            ArgMatcher::Glob(pattern) => self.glob(pattern, glob::check_text(pattern), &at.key("glob")),
            ArgMatcher::Regex(pattern) => self.regex(pattern, &at.key("regex")),
            ArgMatcher::Compare { gt, lt } => self.range(Range { gt: *gt, lt: *lt }, at),
            ArgMatcher::In(values) if values.is_empty() => {
                self.echo(format!("argument {} is in an empty list", quoted(name)), None, at);
            }
            ArgMatcher::Literal(_) | ArgMatcher::In(_) | ArgMatcher::Absent => {}
        }
    }

    fn regex(&mut self, pattern: &str, at: &At<'_>) {
        self.regexes += 1;
        if self.regexes > REGEXES_MAX {
            self.error(format!("there are more than {REGEXES_MAX} regular expressions"), None, at);
        } else if let Err(why) = compile_regex(pattern) {
            self.error(format!("regular expression {} does not compile: {why}", quoted(pattern)), None, at);
        }
    }

    fn session(&mut self, session: &SessionMatcher, at: &At<'_>) {
        if *session == SessionMatcher::default() {
            self.echo("`session` names nothing".to_owned(), None, at);
        }
        for (name, range) in [("calls", session.calls), ("minutes", session.minutes), ("written", session.written)] {
            if let Some(range) = range {
                self.range(range, &at.key(name));
            }
        }
        self.tools(&session.done, Place::Exact, &at.key("done"));
        self.tools(&session.not_done, Place::Exact, &at.key("not_done"));
    }

    fn range(&mut self, range: Range, at: &At<'_>) {
        match (range.gt, range.lt) {
            (None, None) => self.echo("a comparison needs `gt` or `lt`".to_owned(), None, at),
            (gt, lt) if [gt, lt].into_iter().flatten().any(|bound| !bound.is_finite()) => {
                self.echo("a comparison needs finite numbers".to_owned(), None, at);
            }
            (Some(gt), Some(lt)) if gt >= lt => {
                self.error(format!("nothing is greater than {gt} and smaller than {lt}"), None, at);
            }
            _ => {}
        }
    }
}

/// A flag as it is written most likely.
fn dashed(flag: &str) -> String {
    if flag.chars().count() == 1 { format!("-{flag}") } else { format!("--{flag}") }
}
