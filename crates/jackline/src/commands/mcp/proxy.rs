//! `jackline mcp proxy`: runs an MCP server, or reaches one by its address, and judges every call to it.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use jackline_core::event::DIRS_MAX;
use jackline_core::time::parse_duration_ms;
use jackline_mcp::proxy::{self, Options, Streams, TIMEOUT_DEFAULT, Target};

use super::judging::Judging;
use crate::error::CommandError;
use crate::place;
use crate::{arena, interrupt, screen, unload};

/// The options that name a server's address.
const ADDRESS: &str = "address";

/// Stand between an MCP client and a server, and judge every tool call
///
/// The client runs this instead of the server and speaks to it over standard input and output. Everything but tool
/// calls passes as it is. `jackline mcp wrap` writes this command into a host's settings.
#[derive(Debug, clap::Args)]
pub(crate) struct Proxy {
    /// The server's name in tools' names, `mcp__NAME__tool` (default: what the server calls itself)
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    judging: Judging,
    /// How long a call may take, such as `30s` (default: 10m)
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// A server that is reached over streamable HTTP, instead of a command
    #[arg(long, aliases = ["streamable-http", "http-url"], conflicts_with = "command", group = ADDRESS)]
    url: Option<String>,
    /// The same, where the address is in a variable, which other users cannot see in the list of processes
    #[arg(
        long,
        value_name = "VARIABLE",
        aliases = ["streamable-http-env", "http-url-env"],
        conflicts_with = "command",
        group = ADDRESS
    )]
    url_env: Option<String>,
    /// A header of every request to that server, `NAME: VALUE`
    #[arg(long, value_name = "HEADER", requires = ADDRESS)]
    header: Vec<String>,
    /// A header whose value is in a variable, which other users cannot see in the list of processes
    #[arg(long, value_name = "NAME=VARIABLE", requires = ADDRESS)]
    header_env: Vec<String>,
    /// The server: a program and its arguments, best after `--`
    #[arg(trailing_var_arg = true, value_name = "COMMAND", required_unless_present = ADDRESS)]
    command: Vec<String>,
}

impl Proxy {
    pub(crate) fn run(&self) -> Result<ExitCode, CommandError> {
        let (runtime, state) = self.judging.idling()?;
        let options = Options {
            name: self.name.clone(),
            session: self.judging.session()?,
            state: Some(state),
            timeout: self.timeout()?,
            dirs: self.dirs(),
            server: self.target()?,
            unload: unload::unload,
            settle_in: arena::take_shelf,
        };
        let streams = Streams {
            input: Box::new(io::stdin()),
            output: Box::new(io::stdout()),
            note: Box::new(screen::complain),
            is_heard: screen::is_heard,
            signals: Some(Box::new(interrupt::stream()?)),
        };
        proxy::run(runtime, options, streams).map(ExitCode::from).map_err(|why| {
            CommandError::input(why).hint("name a program that can be run, after `--`, or an address with `--url`")
        })
    }

    /// From where the server may see a relative path. One at an address sees none of ours.
    fn dirs(&self) -> Vec<String> {
        let words =
            self.command.iter().skip(1).map(|word| word.split_once('=').map_or(word.as_str(), |(_, told)| told));
        let told =
            words.filter(|word| !word.is_empty()).filter_map(|word| jackline_runtime::canonical(Path::new(word)).ok());
        let started = place::started_in().into_iter().filter(|_| !self.command.is_empty());
        let all = started.chain(told.filter(|dir| dir.is_dir())).filter_map(|dir| dir.to_str().map(str::to_owned));
        let mut dirs: Vec<String> = Vec::new();
        for dir in all {
            if dirs.len() < DIRS_MAX && !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        dirs
    }

    fn timeout(&self) -> Result<Duration, CommandError> {
        let Some(text) = &self.timeout else { return Ok(TIMEOUT_DEFAULT) };
        let ms = parse_duration_ms(text).and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms > 0);
        ms.map(Duration::from_millis).ok_or_else(|| {
            CommandError::input(format!("`{text}` is no duration")).hint("write it as in `30s`, `10m` or `1h30m`")
        })
    }

    fn address(&self) -> Result<Option<String>, CommandError> {
        let Some(variable) = &self.url_env else { return Ok(self.url.clone()) };
        let unset =
            || CommandError::input(format!("the variable `{variable}` is not set")).hint("set it, or use `--url`");
        place::named_variable(variable).map(Some).ok_or_else(unset)
    }

    fn target(&self) -> Result<Target, CommandError> {
        let Some(url) = self.address()? else {
            if !self.header.is_empty() || !self.header_env.is_empty() {
                let why = "a program is sent no headers";
                return Err(CommandError::input(why).hint("give them with `--url`, or leave them out"));
            }
            return Ok(Target::Program(self.command.clone()));
        };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            // It may hold a secret.
            return Err(CommandError::input("the server's address is none").hint("it begins with `https://`"));
        }
        let given = self.header.iter().map(|header| given_header(header));
        let headers = given.chain(self.header_env.iter().map(|header| header_in_variable(header)));
        Ok(Target::Address { url, headers: headers.collect::<Result<_, _>>()? })
    }
}

fn given_header(text: &str) -> Result<(String, String), CommandError> {
    let parts = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    let (name, value) = parts.filter(|(name, _)| is_header_name(name)).ok_or_else(|| {
        // What stands after the colon may be a secret.
        CommandError::input("a `--header` is no `NAME: VALUE`").hint("write it as in `Authorization: Bearer TOKEN`")
    })?;
    Ok((name.to_owned(), value.to_owned()))
}

fn header_in_variable(text: &str) -> Result<(String, String), CommandError> {
    let parts = text.split_once('=').filter(|(name, _)| is_header_name(name));
    let (name, variable) = parts.ok_or_else(|| {
        CommandError::input(format!("`{text}` is no `NAME=VARIABLE`")).hint("write it as in `Authorization=MY_TOKEN`")
    })?;
    let value = place::named_variable(variable).ok_or_else(|| {
        CommandError::input(format!("the variable `{variable}` is not set")).hint("set it, or use `--header`")
    })?;
    Ok((name.to_owned(), value))
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
