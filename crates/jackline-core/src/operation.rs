//! Operations: what agents and people ask of a session's todos, facts and calls. Names and who may ask; no more.

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    TodoCreate,
    TodoStart,
    TodoClaim,
    /// The agent asks; the runtime verifies.
    TodoVerify,
    TodoList,
    /// A person adds a todo.
    TodoAssign,
    TodoApprove,
    TodoReject,
    TodoWaive,
    FactRecord,
    FactRetract,
    FactSummarise,
    FactList,
    CallsList,
}

impl Operation {
    /// Every operation.
    pub const ALL: &'static [Self] = &[
        Self::TodoCreate,
        Self::TodoStart,
        Self::TodoClaim,
        Self::TodoVerify,
        Self::TodoList,
        Self::TodoAssign,
        Self::TodoApprove,
        Self::TodoReject,
        Self::TodoWaive,
        Self::FactRecord,
        Self::FactRetract,
        Self::FactSummarise,
        Self::FactList,
        Self::CallsList,
    ];

    /// The name of its event.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TodoCreate => "todo.create",
            Self::TodoStart => "todo.start",
            Self::TodoClaim => "todo.claim",
            Self::TodoVerify => "todo.verify",
            Self::TodoList => "todo.list",
            Self::TodoAssign => "todo.assign",
            Self::TodoApprove => "todo.approve",
            Self::TodoReject => "todo.reject",
            Self::TodoWaive => "todo.waive",
            Self::FactRecord => "fact.record",
            Self::FactRetract => "fact.retract",
            Self::FactSummarise => "fact.summarise",
            Self::FactList => "fact.list",
            Self::CallsList => "calls.list",
        }
    }

    /// The operation of an event's name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|operation| operation.name() == name)
    }

    /// The member of its event that holds what is given.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::FactRecord | Self::FactRetract | Self::FactSummarise | Self::FactList => "fact",
            Self::CallsList => "calls",
            _ => "todo",
        }
    }

    /// Whether only a person's own command may ask for it.
    #[must_use]
    pub const fn is_persons_own(self) -> bool {
        matches!(self, Self::TodoAssign | Self::TodoApprove | Self::TodoReject | Self::TodoWaive)
    }

    /// Whether it changes nothing.
    #[must_use]
    pub const fn lists(self) -> bool {
        matches!(self, Self::TodoList | Self::FactList | Self::CallsList)
    }
}
