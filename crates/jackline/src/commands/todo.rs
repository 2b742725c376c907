//! `jackline todo`: a session's todos as people see them, and what only people may do with them.

mod acting;
mod shown;

use jackline_core::todos::Todo as Item;

use super::listing::Listing;
use super::{Format, log, sessions};
use crate::error::CommandError;
use crate::place::Where;
use crate::{paint::Paint, person, screen, timeline};

/// Sessions of the workspace, newest first, that a todo is looked for in.
const SESSIONS_MAX: usize = 50;
/// Characters of an id that name a todo, if no other begins or ends so.
const ID_CHARS_MIN: usize = 4;

/// Show todos; add, approve, reject and waive them
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Todo {
    List(List),
    Show(Show),
    Add(acting::Add),
    /// Take a claimed todo as done
    Approve(acting::Act),
    /// Send a claimed todo back to work
    Reject(acting::Act),
    /// Do without a todo
    Waive(acting::Act),
}

impl Todo {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        match self {
            Self::List(list) => list.run(),
            Self::Show(show) => show.run(),
            Self::Add(add) => add.run(),
            Self::Approve(act) => act.run(acting::Kind::Approve),
            Self::Reject(act) => act.run(acting::Kind::Reject),
            Self::Waive(act) => act.run(acting::Kind::Waive),
        }
    }
}

/// List the todos of a session
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    #[command(flatten)]
    of: Listing,
}

impl List {
    fn run(&self) -> Result<(), CommandError> {
        let (name, session) = self.of.session()?;
        let todos = session.todos;
        if self.of.is_told("todos", &name, todos.is_empty(), || todos.to_value())? {
            return Ok(());
        }
        let paint = Paint::for_stdout();
        for todo in todos.iter() {
            screen::line(&shown::row(todo, paint))?;
        }
        let open = todos.open().count();
        Ok(screen::line(&format!("{} todos, {open} open", todos.len()))?)
    }
}

/// Show a todo: its checks, evidence and history
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    which: Which,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Show {
    fn run(&self) -> Result<(), CommandError> {
        let (session, todo) = self.which.find()?;
        let history = shown::history(&self.which.at.files()?, &session, &todo)?;
        let text = match self.format {
            Format::Json => format!("{}\n", shown::as_json(&session, &todo, &history)),
            Format::Human => shown::page(&session, &todo, &history, Paint::for_stdout()),
        };
        Ok(screen::show(&text)?)
    }
}

/// Which todo.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// Its id, or the beginning or end of it
    #[arg(value_name = "ID")]
    id: String,
    /// The session (default: the one of this workspace that has it)
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    #[command(flatten)]
    at: Where,
}

impl Which {
    /// The one todo that is meant, and its session.
    fn find(&self) -> Result<(String, Item), CommandError> {
        let mut found = Vec::new();
        if self.id.len() >= ID_CHARS_MIN {
            let runtime = person::runtime(&self.at)?;
            for session in self.sessions()? {
                let todos = runtime.session(&session)?.todos;
                let meant =
                    |todo: &&Item| todo.id.as_str().starts_with(&self.id) || todo.id.as_str().ends_with(&self.id);
                found.extend(todos.iter().filter(meant).map(|todo| (session.clone(), todo.clone())));
            }
        }
        let shown = timeline::shown(&self.id);
        match found.len() {
            1 => found.pop().ok_or_else(|| CommandError::internal("the todo is gone")),
            0 => {
                Err(CommandError::input(format!("there is no todo `{shown}`")).hint("`jackline todo list` shows them"))
            }
            several => {
                let why = format!("`{shown}` may be any of {several} todos");
                let ids: Vec<String> = found.iter().map(|(_, todo)| format!("`{}`", todo.id)).collect();
                Err(CommandError::input(why).hint(format!("name one: {}", ids.join(", "))))
            }
        }
    }

    fn sessions(&self) -> Result<Vec<String>, CommandError> {
        let store = self.at.files()?;
        match &self.session {
            Some(named) => Ok(vec![log::chosen(&store, &self.at, Some(named))?]),
            None => {
                let listed = sessions::list(&store, &self.at, false)?;
                Ok(listed.into_iter().take(SESSIONS_MAX).map(|session| session.entry.id).collect())
            }
        }
    }
}
