//! What our own server offers: each tool with its name, what is said of it, and what goes in and comes out.

use std::sync::Arc;

use jackline_core::catalogue::Catalogue;
use jackline_core::operation::Operation;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::schemas;

/// A tool of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offered {
    Asks(Operation),
    Park,
    GuardStatus,
    ReadFile,
    WriteFile,
    EditFile,
    ListDir,
    Search,
}

/// A schema, made when it is asked for.
type Schema = fn() -> Value;

/// One row of what is offered.
struct Row {
    tool: Offered,
    name: &'static str,
    about: &'static str,
    /// It changes nothing.
    reads: bool,
    input: Schema,
    output: Schema,
}

/// What stands before our tools' names where a host writes them.
const OWN_FRONT: &str = "mcp__jackline__";

/// The tool that reads; what it may not read, no other tool shows.
pub(super) const READ_FILE: &str = "read_file";

const fn asks(operation: Operation, name: &'static str, about: &'static str, (input, output): (Schema, Schema)) -> Row {
    Row { tool: Offered::Asks(operation), name, about, reads: operation.lists(), input, output }
}

const fn row(
    (tool, name): (Offered, &'static str),
    about: &'static str,
    reads: bool,
    (input, output): (Schema, Schema),
) -> Row {
    Row { tool, name, about, reads, input, output }
}

/// Every tool, in the order in which they are listed.
const ROWS: &[Row] = &[
    asks(
        Operation::TodoCreate,
        "todo_create",
        "Adds a todo. Give it checks that prove it done: they are frozen now and evaluated by the runtime later.",
        (schemas::todo_create, schemas::todo_answer),
    ),
    asks(
        Operation::TodoList,
        "todo_list",
        "Lists all todos of the session, those that the owner requires included, with their states and checks.",
        (schemas::nothing, schemas::todos),
    ),
    asks(
        Operation::TodoStart,
        "todo_start",
        "Begins work on a pending todo. Only what is done from now on counts as evidence for it.",
        (schemas::todo_named, schemas::todo_answer),
    ),
    asks(
        Operation::TodoClaim,
        "todo_claim",
        "Claims that a todo in progress is done. Evidence is looked up in the session's record, never believed.",
        (schemas::todo_claim, schemas::todo_answer),
    ),
    asks(
        Operation::TodoVerify,
        "todo_verify",
        "Asks the runtime to verify a claimed todo: it evaluates every check, and says what came of each.",
        (schemas::todo_named, schemas::todo_answer),
    ),
    asks(
        Operation::FactRecord,
        "fact_record",
        "Records something found out, with the ids of the calls it rests on (calls_list shows them).",
        (schemas::fact_record, schemas::fact_kept),
    ),
    asks(
        Operation::FactList,
        "fact_list",
        "Lists the facts that stand, with their sources.",
        (schemas::nothing, schemas::facts),
    ),
    asks(
        Operation::FactSummarise,
        "fact_summarise",
        "Puts one fact in the place of several; it keeps the sources of all of them.",
        (schemas::fact_summarise, schemas::fact_kept),
    ),
    asks(
        Operation::FactRetract,
        "fact_retract",
        "Takes a fact back that does not hold any more.",
        (schemas::fact_retract, schemas::fact_gone),
    ),
    asks(
        Operation::CallsList,
        "calls_list",
        "Shows recent calls of this session with their ids and what became of them: for evidence and sources.",
        (schemas::calls_list, schemas::calls),
    ),
    row(
        (Offered::Park, "park"),
        "Says honestly that the work cannot be finished now, and why. Then you may stop; the owner is told.",
        false,
        (schemas::park, schemas::parked),
    ),
    row(
        (Offered::GuardStatus, "guard_status"),
        "Tells what is enforced in this session, what of its limits is used, and what restrains you.",
        true,
        (schemas::nothing, schemas::status),
    ),
    row(
        (Offered::ReadFile, READ_FILE),
        "Reads a page of a text file in the workspace. `next_offset` is where the next page begins.",
        true,
        (schemas::read_file, schemas::page),
    ),
    row(
        (Offered::WriteFile, "write_file"),
        "Writes a whole text file in the workspace, with the directories that lead to it.",
        false,
        (schemas::write_file, schemas::written),
    ),
    row(
        (Offered::EditFile, "edit_file"),
        "Replaces an exact text in a file of the workspace. It must stand there once, unless `replace_all` is set.",
        false,
        (schemas::edit_file, schemas::edited),
    ),
    row(
        (Offered::ListDir, "list_dir"),
        "Lists a directory of the workspace by name, with what each entry is.",
        true,
        (schemas::list_dir, schemas::listed),
    ),
    row(
        (Offered::Search, "search"),
        "Searches the text files of the workspace for a regular expression, line by line. Honours .gitignore. Lines of files \
         that you may not read are left out without a word.",
        true,
        (schemas::search, schemas::found),
    ),
];

impl Offered {
    /// The tool of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.tool)
    }
}

/// The name that a tool has here, whichever way it is written: some clients write it as their host would. One call has one
/// name, so that it is not seen twice.
pub(super) fn own_name(name: &str) -> &str {
    let own = name.strip_prefix(OWN_FRONT).filter(|own| Offered::named(own).is_some());
    own.unwrap_or(name)
}

/// All tools as clients list them.
pub(super) fn tools() -> Vec<Tool> {
    ROWS.iter().map(Row::tool).collect()
}

/// All tools as they are judged.
pub(super) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    ROWS.iter().for_each(|row| catalogue.add(row.name, Some((row.input)().to_string())));
    catalogue
}

impl Row {
    fn tool(&self) -> Tool {
        let hints = ToolAnnotations::new().read_only(self.reads).destructive(self.destroys()).open_world(false);
        Tool::new(self.name, self.about, object((self.input)()))
            .with_raw_output_schema(object((self.output)()))
            .with_annotations(hints)
    }

    fn destroys(&self) -> bool {
        matches!(self.tool, Offered::WriteFile | Offered::EditFile)
    }
}

fn object(schema: Value) -> Arc<Map<String, Value>> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::tools::own_rows;

    #[test]
    fn what_is_offered_is_what_is_known_of_us() {
        let mut known: Vec<&str> = own_rows().map(|tool| tool.name).collect();
        let mut offered: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        known.sort_unstable();
        offered.sort_unstable();
        assert_eq!(known, offered);
    }

    #[test]
    fn schemas_are_closed_objects() {
        for row in ROWS {
            let input = (row.input)();
            assert_eq!(
                (&input["type"], &input["additionalProperties"]),
                (&"object".into(), &false.into()),
                "{}",
                row.name
            );
            let output = (row.output)();
            assert_eq!(output["type"], "object", "{}", row.name);
        }
    }
}
