//! Whether what must hold before a stop can hold, and stays within its bounds.

use super::super::model::{COMMAND_TIMEOUT_MS_MAX, Check as Condition, Command, Completion};
use super::super::place::At;
use super::{Check, MATCHER_DEPTH_MAX, Place};
use crate::completion::CHECKS_MAX;

/// Commands of one completion: they run one after another while the host waits.
const COMMANDS_MAX: usize = 8;
/// Minutes all of them may take together: no host waits longer than an hour.
const COMMANDS_MINUTES_MAX: u64 = 55;
/// Files of one check: each is looked at.
const FILES_MAX: usize = 256;
/// Stops in a row that Claude Code lets a hook block.
const HOST_BLOCKS_MAX: u32 = 8;
/// Stops blocked in a row: no host blocks so many.
const BLOCKS_BOUND_MAX: u32 = 1000;

impl Check<'_> {
    pub(super) fn completion(&mut self, completion: &Completion, at: &At<'_>) {
        self.condition(&completion.check, at, 0);
        let leaves = completion.check.leaves().len();
        if leaves > CHECKS_MAX {
            self.error(format!("`completion` has {leaves} checks, more than {CHECKS_MAX}"), None, at);
        }
        let commands = completion.check.commands().count();
        if commands > COMMANDS_MAX {
            let help = "put them into one script, and name that";
            self.error(format!("`completion` has {commands} commands, more than {COMMANDS_MAX}"), Some(help), at);
        }
        let minutes = completion.check.commands().map(|command| command.timeout_ms).sum::<u64>() / 60_000;
        if minutes > COMMANDS_MINUTES_MAX {
            let help = "give them shorter times; ten minutes is the default";
            let message = format!("its commands may take {minutes}m together, more than {COMMANDS_MINUTES_MAX}m");
            self.error(format!("`completion`: {message}"), Some(help), at);
        }
        if !(1..=BLOCKS_BOUND_MAX).contains(&completion.blocks_max) {
            let message = format!("`completion.blocks_max` is not between 1 and {BLOCKS_BOUND_MAX}");
            self.echo(message, None, &at.key("blocks_max"));
        } else if completion.blocks_max > HOST_BLOCKS_MAX {
            let message = format!("hosts let a stop through by themselves after {HOST_BLOCKS_MAX} blocks in a row");
            let help = "with fewer, it is on record as incomplete".to_owned();
            self.warn(message, Some(help), &at.key("blocks_max"));
        }
    }

    fn condition(&mut self, check: &Condition, at: &At<'_>, depth: usize) {
        if depth >= MATCHER_DEPTH_MAX {
            return self.error(format!("checks are nested deeper than {MATCHER_DEPTH_MAX}"), None, at);
        }
        match check {
            Condition::All(checks) => self.conditions(checks, &at.key("all"), depth),
            Condition::Any(checks) => self.conditions(checks, &at.key("any"), depth),
            Condition::Files(files) => self.required_files(files, &at.key("files")),
            Condition::Done(name) => self.tool(name, Place::Exact, &at.key("done")),
            Condition::Command(command) => self.check_command(command, &at.key("command")),
            Condition::Todos | Condition::FilePolicies => {}
        }
    }

    fn conditions(&mut self, checks: &[Condition], at: &At<'_>, depth: usize) {
        for (index, check) in checks.iter().enumerate() {
            self.condition(check, &at.item(index), depth + 1);
        }
    }

    fn required_files(&mut self, files: &[String], at: &At<'_>) {
        if files.len() > FILES_MAX {
            self.error(format!("{} files are required, more than {FILES_MAX}", files.len()), None, at);
        }
        for (index, file) in files.iter().enumerate() {
            self.inside(file, &at.item(index));
        }
    }

    fn check_command(&mut self, command: &Command, at: &At<'_>) {
        if command.run.first().is_none_or(|program| program.trim().is_empty()) {
            self.echo("the command names no program".to_owned(), None, &at.key("run"));
        }
        if !(1..=COMMAND_TIMEOUT_MS_MAX).contains(&command.timeout_ms) {
            let help = "give it at most `10m`";
            self.echo("no command is given more than ten minutes".to_owned(), Some(help), &at.key("timeout"));
        }
    }
}
