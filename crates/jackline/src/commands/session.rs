//! `jackline session`: what a person does to a session: keep, go back, start anew, grant more, lift a halt.

mod show;

use jackline_core::event::{Body, TOOL_NAME_BYTES_MAX};
use jackline_core::extension::{EXTENSION_COUNT_MAX, EXTENSION_MS_MAX, EXTENSION_USD_MAX, Extension};
use jackline_core::meters;
use jackline_core::session::Session as State;
use jackline_core::time::parse_duration_ms;
use jackline_runtime::clock;
use jackline_runtime::definitions::Definitions as _;

use super::{log, status};
use crate::error::CommandError;
use crate::place::Where;
use crate::{exceptions, person, screen, timeline};

/// Show a session; keep, restore and reset what guards remember, extend budgets, resume a halted run
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Session {
    /// Keep what guards remember under a name
    Snapshot(Named),
    /// Go back to what guards remembered under a name
    Restore(Named),
    /// Forget what guards remember, halts included; all limits start anew, and the log keeps everything
    Reset(Plain),
    Extend(Extend),
    /// Lift a halt
    Resume(Plain),
    Show(show::Show),
}

impl Session {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        match self {
            Self::Snapshot(named) => {
                named.usable()?;
                let question = |id: &str| format!("Keep what guards remember of session {id} as `{}`?", named.shown());
                named.at.act(question, Body::Snapshot { name: named.name.clone() }).map(drop)
            }
            Self::Restore(named) => named.restore(),
            Self::Reset(at) => {
                at.at.act(|id| format!("Forget what guards remember of session {id}?"), Body::Reset).map(drop)
            }
            Self::Extend(extend) => extend.run(),
            Self::Resume(at) => at.resume(),
            Self::Show(show) => show.run(),
        }
    }
}

/// Which session, and whether to ask.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The session (default: the workspace's most recent one)
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: Where,
}

impl Which {
    fn id(&self) -> Result<String, CommandError> {
        log::chosen(&self.at.files()?, &self.at, self.session.as_deref())
    }

    fn state(&self) -> Result<State, CommandError> {
        Ok(person::runtime(&self.at)?.session(&self.id()?)?)
    }

    /// Asks, acts and says where it is recorded.
    fn act(&self, question: impl FnOnce(&str) -> String, body: Body) -> Result<(), CommandError> {
        let id = self.id()?;
        person::agrees(&question(&timeline::shown(&id)), self.yes)?;
        Ok(screen::line(&person::tell(&self.at, &id, body)?)?)
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Plain {
    #[command(flatten)]
    at: Which,
}

impl Plain {
    fn resume(&self) -> Result<(), CommandError> {
        let state = self.at.state()?;
        let halted: Vec<String> = halted(&state).map(timeline::shown).collect();
        if halted.is_empty() {
            let why = format!("no agent of session `{}` is halted", timeline::shown(&self.at.id()?));
            return Err(CommandError::input(why).hint("`jackline status` shows what holds"));
        }
        self.at.act(|id| format!("Let {} of session {id} go on?", halted.join(", ")), Body::Resumed)
    }
}

fn halted(state: &State) -> impl Iterator<Item = &str> {
    state.memory.agents.iter().filter(|(_, agent)| agent.halted.is_some()).map(|(name, _)| name.as_str())
}

#[derive(Debug, clap::Args)]
pub(crate) struct Named {
    /// The snapshot's name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    at: Which,
}

impl Named {
    fn shown(&self) -> String {
        timeline::shown(&self.name)
    }

    fn usable(&self) -> Result<(), CommandError> {
        let fits = (1..=TOOL_NAME_BYTES_MAX).contains(&self.name.len());
        let error = || CommandError::input("a snapshot's name has between 1 and 256 bytes");
        if fits { Ok(()) } else { Err(error()) }
    }

    fn restore(&self) -> Result<(), CommandError> {
        let known = self.at.state()?.snapshots;
        if !known.iter().any(|(name, _)| *name == self.name) {
            let error = CommandError::input(format!("there is no snapshot `{}` in this session", self.shown()));
            let names: Vec<String> = known.iter().map(|(name, _)| format!("`{}`", timeline::shown(name))).collect();
            let kept = format!("there are {}", names.join(", "));
            return Err(if names.is_empty() { error } else { error.hint(kept) });
        }
        let question = |id: &str| format!("Go back to `{}` in session {id}?", self.shown());
        self.at.act(question, Body::Restore { name: self.name.clone() })
    }
}

/// Grant a session more of a budget
///
/// It adds to the limits of this one session, the present prompt's included. Time is added to the deadline, or counts
/// from now if that has passed.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("more").required(true).multiple(true).args(["steps", "tokens", "cost", "lasting"])))]
pub(crate) struct Extend {
    /// So many more calls
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// So many more tokens
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,
    /// So many more dollars
    #[arg(long, value_name = "USD")]
    cost: Option<f64>,
    /// So much more time, such as `30m`
    #[arg(long = "for", id = "lasting", value_name = "DURATION")]
    lasting: Option<String>,
    /// Why; the log keeps it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    at: Which,
}

impl Extend {
    fn run(&self) -> Result<(), CommandError> {
        let extension = self.extension()?;
        self.declared(&extension)?;
        let more = words(&extension);
        self.at.act(|id| format!("Grant session {id} {more} more?"), Body::Extended(extension))?;
        for line in self.budgets()? {
            screen::line(&format!("  {line}"))?;
        }
        Ok(())
    }

    fn extension(&self) -> Result<Extension, CommandError> {
        let extension = Extension {
            steps: self.steps.unwrap_or_default(),
            tokens: self.tokens.unwrap_or_default(),
            cost_usd: self.cost.unwrap_or_default(),
            ms: self.lasting.as_deref().map_or(Ok(0), lasting)?,
            reason: exceptions::reason(&self.reason)?,
            by: exceptions::by(),
        };
        if extension.is_bounded() {
            return Ok(extension);
        }
        let most = exceptions::duration(EXTENSION_MS_MAX);
        Err(CommandError::input("that cannot be granted").hint(format!(
            "at once at most {EXTENSION_COUNT_MAX} calls or tokens, {EXTENSION_USD_MAX} dollars, {most}; and more than nothing"
        )))
    }

    /// What is not limited cannot be extended: its owner means something else.
    fn declared(&self, extension: &Extension) -> Result<(), CommandError> {
        let kinds: Vec<&str> = self.meters()?.iter().map(|meter| meter.kind).collect();
        let asked = [
            ("steps", extension.steps > 0),
            ("tokens", extension.tokens > 0),
            ("cost", extension.cost_usd > 0.0),
            ("deadline", extension.ms > 0),
        ];
        match asked.iter().find(|(kind, asked)| *asked && !kinds.contains(kind)) {
            None => Ok(()),
            Some((kind, _)) => Err(CommandError::input(format!("no definition in force has a limit on `{kind}`"))
                .hint("`jackline status` shows the budgets of a session")),
        }
    }

    fn meters(&self) -> Result<Vec<jackline_core::Meter>, CommandError> {
        let state = self.at.state()?;
        let standing = self.at.at.definitions_read_only()?.stack(state.pin.as_ref(), None)?;
        let now = state.now(clock::now());
        Ok(standing.stack.layers.iter().flat_map(|layer| meters(&layer.model.limits, &state, now)).collect())
    }

    fn budgets(&self) -> Result<Vec<String>, CommandError> {
        Ok(self.meters()?.iter().map(status::meter_words).collect())
    }
}

fn lasting(text: &str) -> Result<i64, CommandError> {
    parse_duration_ms(text).filter(|ms| *ms > 0).ok_or_else(|| {
        let why = format!("`{}` is no duration", timeline::shown(text));
        CommandError::input(why).hint("write it as in `30s`, `10m` or `1h30m`")
    })
}

/// An extension in words.
pub(crate) fn words(extension: &Extension) -> String {
    let mut parts = Vec::new();
    parts.extend((extension.steps > 0).then(|| format!("{} calls", extension.steps)));
    parts.extend((extension.tokens > 0).then(|| format!("{} tokens", extension.tokens)));
    parts.extend((extension.cost_usd > 0.0).then(|| format!("{} dollars", extension.cost_usd)));
    parts.extend((extension.ms > 0).then(|| exceptions::duration(extension.ms)));
    parts.join(", ")
}
