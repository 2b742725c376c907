//! Operations on todos, facts and calls as methods: what an MCP server, or a loop of one's own, calls.

use jackline_core::calls::{Query, SCAN_BYTES_MAX, Scan};
use jackline_core::event::{Body, Event};
use jackline_core::operation::Operation;
use jackline_core::probe::{Fact, Told};
use jackline_core::stack::Stack;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::clock;
use crate::replay;
use crate::runtime::Runtime;
use crate::store::StoreFault;

/// Looks at a log that changes while it is looked at: its beginning is retired once in a while, not twice in a moment.
const LOOKS_MAX: u32 = 3;

impl Runtime {
    /// Carries out an operation for an agent; `given` is what its event holds. One that is a person's is refused.
    pub fn operation(&self, session: &str, operation: Operation, given: Value) -> Answer {
        if operation.is_persons_own() {
            return Answer::refusal(crate::adapters::lines::persons_own(operation.name()));
        }
        self.decide(&Event::new(session, clock::now(), Body::Operation { operation, given }))
    }

    /// Makes a todo with the checks that prove it, in their JSON form.
    pub fn todo_create(&self, session: &str, content: &str, checks: &[Value]) -> Answer {
        self.operation(session, Operation::TodoCreate, json!({ "content": content, "checks": checks }))
    }

    /// All todos of a session.
    pub fn todo_list(&self, session: &str) -> Answer {
        self.operation(session, Operation::TodoList, json!({}))
    }

    /// Begins work on a todo.
    pub fn todo_start(&self, session: &str, id: &str) -> Answer {
        self.operation(session, Operation::TodoStart, json!({ "id": id }))
    }

    /// Claims that a todo is done, with evidence in its JSON form.
    pub fn todo_claim(&self, session: &str, id: &str, explanation: &str, evidence: &[Value]) -> Answer {
        let given = json!({ "id": id, "explanation": explanation, "evidence": evidence });
        self.operation(session, Operation::TodoClaim, given)
    }

    /// Asks for the verification of a claimed todo.
    pub fn todo_verify(&self, session: &str, id: &str) -> Answer {
        self.operation(session, Operation::TodoVerify, json!({ "id": id }))
    }

    /// Records a fact with the calls it rests on.
    pub fn fact_record(&self, session: &str, text: &str, sources: &[&str]) -> Answer {
        self.operation(session, Operation::FactRecord, json!({ "text": text, "sources": sources }))
    }

    /// The facts that stand in a session.
    pub fn fact_list(&self, session: &str) -> Answer {
        self.operation(session, Operation::FactList, json!({}))
    }

    /// Puts one fact in the place of several; it has the sources of all of them.
    pub fn fact_summarise(&self, session: &str, ids: &[&str], text: &str) -> Answer {
        self.operation(session, Operation::FactSummarise, json!({ "ids": ids, "text": text }))
    }

    /// Takes a fact back.
    pub fn fact_retract(&self, session: &str, id: &str, reason: &str) -> Answer {
        self.operation(session, Operation::FactRetract, json!({ "id": id, "reason": reason }))
    }

    /// Recent calls of a session, newest last; `command` and `tool` choose among them.
    pub fn calls_list(&self, session: &str, command: Option<&str>, tool: Option<&str>, last: Option<u32>) -> Answer {
        let given = json!({ "command": command, "tool": tool, "last": last });
        self.operation(session, Operation::CallsList, given)
    }

    /// Looks through the end of a session's log for calls.
    pub(crate) fn calls(&self, stack: &Stack, session: &str, queries: &[Query]) -> Fact {
        match self.scan(stack, session, queries) {
            Ok(fact) => fact,
            Err(fault) => Fact::Unknown(fault.to_string()),
        }
    }

    fn scan(&self, stack: &Stack, session: &str, queries: &[Query]) -> Result<Fact, StoreFault> {
        // Again where the log lost its beginning in between: then it is shorter than it was a moment ago.
        for _ in 0..LOOKS_MAX {
            let head = self.store.load(session)?.head;
            let from = head.offset.saturating_sub(SCAN_BYTES_MAX);
            let (mut scan, mut last) = (Scan::new(stack, from > 0), 0);
            for line in self.store.lines(session, from)? {
                // A line that is no record is found by the verifier; here it says nothing.
                if let Ok(record) = replay::record(&line?) {
                    last = record.get("seq").and_then(Value::as_u64).unwrap_or(last);
                    scan.record(&record);
                }
            }
            if last >= head.seq {
                return Ok(Fact::Told(Told::Calls(scan.answer(queries))));
            }
        }
        Err(StoreFault::corrupt(session, 0, "its end cannot be read"))
    }
}
