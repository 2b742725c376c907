//! What only people do with todos: asked for on a terminal, with a reason, recorded as theirs.

use jackline_core::event::{Body, Event};
use jackline_core::operation::Operation;
use jackline_runtime::clock;
use serde_json::{Value, json};

use super::Which;
use crate::commands::{Format, log};
use crate::error::CommandError;
use crate::place::Where;
use crate::{exceptions, person, screen, timeline};

/// What is done to a todo.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Approve,
    Reject,
    Waive,
}

impl Kind {
    const fn operation(self) -> Operation {
        match self {
            Self::Approve => Operation::TodoApprove,
            Self::Reject => Operation::TodoReject,
            Self::Waive => Operation::TodoWaive,
        }
    }

    fn question(self, label: &str) -> String {
        match self {
            Self::Approve => format!("Take as done: {label}?"),
            Self::Reject => format!("Send back to work: {label}?"),
            Self::Waive => format!("Do without: {label}?"),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Act {
    #[command(flatten)]
    which: Which,
    /// Why; the log keeps it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Characters of a todo's content in a question.
const LABEL_CHARS_MAX: usize = 80;

impl Act {
    pub(crate) fn run(&self, kind: Kind) -> Result<(), CommandError> {
        // Whether a person is there comes first: what an agent may not do, it need not be told about.
        person::is_there()?;
        let reason = exceptions::reason(&self.reason)?;
        let (session, todo) = self.which.find()?;
        person::agrees(&kind.question(&timeline::harmless(&todo.label(LABEL_CHARS_MAX))), self.yes)?;
        let given = json!({ "id": todo.id, "reason": reason, "by": exceptions::by() });
        tell(&self.which.at, &session, (kind.operation(), given), self.format)
    }
}

/// Add a todo to a session, with the checks that prove it
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// What is to be done
    #[arg(value_name = "CONTENT")]
    content: String,
    /// A check as JSON, such as '{"file_exists": "report.md"}'; may be given several times
    #[arg(long = "check", value_name = "JSON")]
    checks: Vec<String>,
    /// The session (default: the workspace's most recent one)
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl Add {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        person::is_there()?;
        let checks = self.checks.iter().map(|text| check(text)).collect::<Result<Vec<Value>, _>>()?;
        let session = log::chosen(&self.at.files()?, &self.at, self.session.as_deref())?;
        let (content, shown) = (timeline::shown(&self.content), timeline::shown(&session));
        person::agrees(&format!("Add to session {shown}: {content}?"), self.yes)?;
        let given = json!({ "content": self.content, "checks": checks });
        tell(&self.at, &session, (Operation::TodoAssign, given), self.format)
    }
}

fn check(text: &str) -> Result<Value, CommandError> {
    jackline_core::json::decode(text.as_bytes()).map_err(|fault| {
        CommandError::input(format!("`{}` is no JSON: {fault}", timeline::shown(text)))
            .hint("write it as in '{\"file_exists\": \"report.md\"}'")
    })
}

/// Tells the session what a person did, and says what became of it.
fn tell(at: &Where, session: &str, (operation, given): (Operation, Value), format: Format) -> Result<(), CommandError> {
    let event = Event::new(session, clock::now(), Body::Operation { operation, given });
    let answer = person::runtime(at)?.decide_for_person(&event);
    let (Some(result), Some(seq), false) = (&answer.result, answer.seq, answer.verdict.refuses()) else {
        let reason = answer.reason.unwrap_or_else(|| "it was not recorded".to_owned());
        let error = CommandError::found(timeline::harmless(reason.trim_end_matches('.')));
        let hints = answer.findings.into_iter().flat_map(|finding| finding.suggestions);
        return Err(hints.fold(error, CommandError::hint));
    };
    let (id, status) = (timeline::text(result, "id"), timeline::text(result, "status"));
    if format == Format::Json {
        let told = json!({ "id": id, "status": status, "session": session, "record": seq });
        return Ok(screen::line(&told.to_string())?);
    }
    let told = format!("todo {id} is {status}");
    Ok(screen::line(&format!("{told}; recorded in session {} #{seq}", timeline::shown(session)))?)
}
