//! What each type of tool does to a task: specification 002's table, as one constant. Nothing else knows the types.

use super::words::ToolType;

/// The row of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a column of the table each")]
pub struct Behaviour {
    pub kind: ToolType,
    /// What carries a call out.
    pub by: Execution,
    /// Whether a call makes a task.
    pub creates_node: bool,
    /// Whether the calling task waits for that one.
    pub blocks_parent: bool,
    /// Whether code is executed.
    pub executes: bool,
    /// What the timeline keeps of a call.
    pub logged: Logged,
    /// Whether documents go along.
    pub passes_documents: bool,
    /// Whether the calling task ends.
    pub ends_task: bool,
    /// What the agent's loop does then.
    pub then: LoopControl,
}

/// What carries a call out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    Executor,
    /// The timeline: the call is kept, and that is all.
    Log,
    /// The task ends with what it hands off.
    HandOff,
    /// Another agent, in a task of its own.
    Delegate,
    /// The parent's agent or a person, in a task of its own.
    Ask,
    /// A new tree of tasks.
    Root,
}

/// What the timeline keeps of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logged {
    /// What went in and what came out.
    InputAndResult,
    InputOnly,
    InputAndDocuments,
    /// What went in and that it is under way; the result when it comes.
    InputAndStatusThenResult,
    /// What went in and that it is under way; the answer when it comes.
    InputAndStatusThenAnswer,
    /// What the new task is to do: its own timeline begins with it.
    TaskPayload,
}

/// What the agent's loop does after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopControl {
    ContinueWithResult,
    /// It goes on at once.
    Continue,
    Stop,
    /// It stops until the task runs again, and goes on with documents.
    Block,
    /// It does not come from a loop.
    EntryPoint,
}

impl Execution {
    /// The parameter without which a call says nothing, and its JSON type. `None` for what takes whatever its manifest
    /// says.
    pub const fn payload(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Executor | Self::Log => None,
            Self::HandOff => Some(("result", "object")),
            Self::Delegate | Self::Root => Some(("request", "string")),
            Self::Ask => Some(("question", "string")),
        }
    }
}

impl Logged {
    /// The cell of the table.
    pub const fn words(self) -> &'static str {
        match self {
            Self::InputAndResult => "input + result",
            Self::InputOnly => "input only",
            Self::InputAndDocuments => "input + documents",
            Self::InputAndStatusThenResult => "input + status, later the result",
            Self::InputAndStatusThenAnswer => "input + status, later the answer",
            Self::TaskPayload => "task payload",
        }
    }
}

impl LoopControl {
    /// The cell of the table.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ContinueWithResult => "continues with the result",
            Self::Continue => "continues at once",
            Self::Stop => "stops; documents go to the parent",
            Self::Block => "blocks, then continues with documents",
            Self::EntryPoint => "entry point",
        }
    }
}

pub const TABLE: [Behaviour; 6] = [
    Behaviour {
        kind: ToolType::Function,
        by: Execution::Executor,
        creates_node: false,
        blocks_parent: false,
        executes: true,
        logged: Logged::InputAndResult,
        passes_documents: false,
        ends_task: false,
        then: LoopControl::ContinueWithResult,
    },
    Behaviour {
        kind: ToolType::NonFunction,
        by: Execution::Log,
        creates_node: false,
        blocks_parent: false,
        executes: false,
        logged: Logged::InputOnly,
        passes_documents: false,
        ends_task: false,
        then: LoopControl::Continue,
    },
    Behaviour {
        kind: ToolType::Handoff,
        by: Execution::HandOff,
        creates_node: false,
        blocks_parent: false,
        executes: false,
        logged: Logged::InputAndDocuments,
        passes_documents: true,
        ends_task: true,
        then: LoopControl::Stop,
    },
    Behaviour {
        kind: ToolType::AgentAsTool,
        by: Execution::Delegate,
        creates_node: true,
        blocks_parent: true,
        executes: false,
        logged: Logged::InputAndStatusThenResult,
        passes_documents: true,
        ends_task: false,
        then: LoopControl::Block,
    },
    Behaviour {
        kind: ToolType::AskMaster,
        by: Execution::Ask,
        creates_node: true,
        blocks_parent: true,
        executes: false,
        logged: Logged::InputAndStatusThenAnswer,
        passes_documents: true,
        ends_task: false,
        then: LoopControl::Block,
    },
    Behaviour {
        kind: ToolType::Root,
        by: Execution::Root,
        creates_node: true,
        blocks_parent: false,
        executes: false,
        logged: Logged::TaskPayload,
        passes_documents: false,
        ends_task: false,
        then: LoopControl::EntryPoint,
    },
];

impl ToolType {
    /// The row of this type.
    pub const fn behaviour(self) -> &'static Behaviour {
        match self {
            Self::Function => &TABLE[0],
            Self::NonFunction => &TABLE[1],
            Self::Handoff => &TABLE[2],
            Self::AgentAsTool => &TABLE[3],
            Self::AskMaster => &TABLE[4],
            Self::Root => &TABLE[5],
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    /// The table of specification 002 in its own words, row by row.
    const SPECIFICATION: [[&str; 7]; 6] = [
        ["function_tool", "No", "No", "Yes", "Input+Result", "No", "Continue (with result)"],
        ["non_function_tool", "No", "No", "No", "Input only", "No", "Continue (instant)"],
        ["handoff", "No", "No", "No", "Input+Docs", "YES", "STOP + inject docs to parent"],
        ["agent_as_tool", "Yes", "Yes", "No", "Input+Status", "YES", "BLOCK → Continue (with docs)"],
        ["ask_master", "Yes", "Yes", "No", "Input+Answer", "YES", "BLOCK → Continue (with docs)"],
        ["root", "Yes", "No", "No", "Task payload", "No", "Entry point"],
    ];

    fn as_the_specification_writes_it(it: &Behaviour) -> [&'static str; 7] {
        let yes = |is: bool| if is { "Yes" } else { "No" };
        let logged = match it.logged {
            Logged::InputAndResult => "Input+Result",
            Logged::InputOnly => "Input only",
            Logged::InputAndDocuments => "Input+Docs",
            Logged::InputAndStatusThenResult => "Input+Status",
            Logged::InputAndStatusThenAnswer => "Input+Answer",
            Logged::TaskPayload => "Task payload",
        };
        let then = match it.then {
            LoopControl::ContinueWithResult => "Continue (with result)",
            LoopControl::Continue => "Continue (instant)",
            LoopControl::Stop => "STOP + inject docs to parent",
            LoopControl::Block => "BLOCK → Continue (with docs)",
            LoopControl::EntryPoint => "Entry point",
        };
        let documents = if it.passes_documents { "YES" } else { "No" };
        let [node, blocks, executes] = [it.creates_node, it.blocks_parent, it.executes].map(yes);
        [it.kind.into_str(), node, blocks, executes, logged, documents, then]
    }

    #[test]
    fn the_table_is_that_of_the_specification_cell_by_cell() {
        for (row, expected) in TABLE.iter().zip(SPECIFICATION) {
            assert_eq!(as_the_specification_writes_it(row), expected);
        }
    }

    #[test]
    fn every_type_has_the_row_of_its_own() {
        for kind in ToolType::VARIANTS {
            assert_eq!(kind.behaviour().kind, *kind);
        }
    }

    #[test]
    fn what_carries_a_call_out_does_what_the_row_says() {
        for row in &TABLE {
            let Behaviour { by, creates_node, blocks_parent, executes, ends_task, .. } = *row;
            assert_eq!(executes, by == Execution::Executor, "{row:?}");
            assert_eq!(ends_task, by == Execution::HandOff, "{row:?}");
            assert_eq!(
                creates_node,
                matches!(by, Execution::Delegate | Execution::Ask | Execution::Root),
                "{row:?}"
            );
            assert_eq!(blocks_parent, matches!(by, Execution::Delegate | Execution::Ask), "{row:?}");
        }
    }
}
