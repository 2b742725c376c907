//! The part of the table that is about MCP servers.

use crate::definition::form::{Form, Shape, key, shape};
use crate::definition::model::ChangedTools;

pub(super) static MCP: Shape = shape(
    "mcp",
    "How MCP servers behind the proxy are judged.",
    &[key(
        "changed_tools",
        Form::Choice(ChangedTools::NAMES),
        "What becomes of tools that their server changes or adds while a session runs: told, or refused too.",
    )
    .default(r#""report""#)],
);
