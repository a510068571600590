//! The effects of each type of tool on a task: one table, as a constant. All code that depends on
//! a type reads this table.

use super::words::ToolType;

/// The row of a type in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a column of the table each")]
pub struct Behaviour {
    pub kind: ToolType,
    pub by: Execution,
    /// Whether a call creates a task.
    pub creates_node: bool,
    /// Whether the calling task waits for the created one.
    pub blocks_parent: bool,
    /// Whether the tool has code.
    pub executes: bool,
    pub logged: Logged,
    /// Whether a call passes documents to another task.
    pub passes_documents: bool,
    /// Whether the calling task ends.
    pub ends_task: bool,
    pub then: LoopControl,
}

/// The means by which a call is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    Executor,
    /// By recording it in the timeline, and nothing else.
    Log,
    /// By ending the task with a result.
    HandOff,
    /// By another agent, in a new task.
    Delegate,
    /// By the parent's agent or a person, in a new task.
    Ask,
    /// By starting a new tree of tasks.
    Root,
}

/// The parts of a call that the timeline records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logged {
    InputAndResult,
    InputOnly,
    InputAndDocuments,
    /// The input and a status; later the result.
    InputAndStatusThenResult,
    /// The input and a status; later the answer.
    InputAndStatusThenAnswer,
    /// Nothing in this timeline: the request is the first entry of the new task's timeline.
    TaskPayload,
}

/// The next step of the agent's loop after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopControl {
    ContinueWithResult,
    /// Continues immediately, without a result.
    Continue,
    Stop,
    /// Stops until the task is resumed, and then continues with documents.
    Block,
    /// The call is not made by a loop.
    EntryPoint,
}

impl Execution {
    /// The required parameter and its JSON type. `None` if the manifest alone declares the parameters.
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
    /// The cell of the table in `docs/TOOLS.md`.
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
    /// The cell of the table in `docs/TOOLS.md`.
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

    /// The table in the words of the specification of tasks (docs/ORIGINS.md), row by row.
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
