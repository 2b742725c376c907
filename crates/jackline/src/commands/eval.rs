//! `jackline eval`: the line protocol. One event in, one decision out, in order, until standard input ends.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use jackline_core::decision::Finding;
use jackline_runtime::adapters::lines::{Lines, invalid};
use jackline_runtime::definitions::{DefinitionFault, Given, Kept, Standing};
use jackline_runtime::lines::{self, LINE_BYTES_MAX, Line};
use jackline_runtime::{Answer, Runtime, RuntimeBuilder};

use crate::error::CommandError;
use crate::place::{self, Where};
use crate::screen;

/// Decide about events: one JSON object per line in, one decision per line out
#[derive(Debug, clap::Args)]
pub(crate) struct Eval {
    /// Judge by exactly this definition, with no memory of what was accepted
    #[arg(long, value_name = "FILE")]
    definition: Option<PathBuf>,
    /// The workspace (default: the present directory)
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Where sessions are kept: a directory, or `none` to keep nothing
    #[arg(long, value_name = "DIR|none")]
    store: Option<PathBuf>,
}

impl Eval {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let runtime = self.runtime()?;
        let mut input = io::stdin().lock();
        let mut output = io::stdout().lock();
        let mut line = Vec::new();
        while let Some(read) = lines::next(&mut input, &mut line)? {
            let reply = match read {
                Line::Whole => runtime.handle(&Lines, &line).stdout,
                Line::TooLong { bytes, .. } => Answer::refusal(too_long(bytes)).to_json(),
            };
            writeln!(output, "{reply}")?;
            output.flush()?;
        }
        Ok(())
    }

    fn runtime(&self) -> Result<Runtime, CommandError> {
        let nothing = self.store.as_ref().is_some_and(|store| store.as_os_str() == "none");
        let at = Where { workspace: self.workspace.clone(), store: self.store.clone().filter(|_| !nothing) };
        let mut builder = RuntimeBuilder::default()
            .workspace(at.workspace()?)
            .environment(place::environment)
            .web(crate::web::Client);
        if let Some(home) = place::home() {
            builder = builder.home(home);
        }
        let state = if nothing { None } else { Some(at.state()?) };
        let kept = state.as_deref().map(Kept::below);
        if let Some(state) = state {
            builder = builder.state(state);
        }
        builder = match &self.definition {
            Some(file) => builder.definitions(given(&at, file, kept.as_ref())?),
            None => {
                let found = if nothing { at.definitions_read_only()? } else { at.definitions()? };
                let standing = jackline_runtime::definitions::Definitions::stack(&found, None, None)?;
                standing.notices.iter().for_each(|notice| screen::complain(&format!("note: {notice}")));
                builder.definitions(found)
            }
        };
        builder.build().map_err(|fault| CommandError::internal(fault.to_string()))
    }
}

/// The named definition; its checked model is kept beside the sessions, where they are kept.
pub(crate) fn given(at: &Where, file: &PathBuf, kept: Option<&Kept>) -> Result<Given, CommandError> {
    let unreadable = |why: String| DefinitionFault::Unreadable { path: file.clone(), why };
    // Looked at before it is opened: a pipe that nobody writes to would be waited for.
    if fs::metadata(file).is_ok_and(|there| !there.is_file()) {
        return Err(unreadable("it is no regular file".to_owned()).into());
    }
    let text = fs::read_to_string(file).map_err(|fault| unreadable(fault.to_string()))?;
    let root = at.workspace()?;
    let path = std::path::absolute(file).map_err(|fault| unreadable(fault.to_string()))?;
    let faulty = |faults| DefinitionFault::Faulty { path: file.clone(), source_text: text.clone(), faults };
    let dir = path.parent().unwrap_or(&root);
    let mut standing = Standing::given_from(&root, dir, &text, kept).map_err(faulty)?;
    standing.stack.path = Some(path.display().to_string());
    standing.notices.iter().for_each(|notice| screen::complain(&format!("note: {notice}")));
    Ok(Given::new(standing))
}

fn too_long(bytes: usize) -> Finding {
    invalid(&format!("the line has {bytes} bytes, more than the {LINE_BYTES_MAX} that an event may have"))
}
