//! Enumerations of entries: types of calls, speakers, and ends of tasks.

use serde::{Deserialize, Serialize};

use super::super::life::State;

/// The type of a call, as timelines name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CallType {
    #[serde(rename = "function_tool")]
    #[strum(serialize = "function_tool")]
    Function,
    /// Logged without execution.
    #[serde(rename = "non_function_tool")]
    #[strum(serialize = "non_function_tool")]
    NonFunction,
    /// Ends the task with a result.
    #[serde(rename = "handoff")]
    Handoff,
    #[serde(rename = "agent_as_tool")]
    AgentAsTool,
    #[serde(rename = "ask_master")]
    AskMaster,
    /// Creates a tree.
    #[serde(rename = "root")]
    Root,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Completed,
    /// It ended without a result.
    Failed,
    Cancelled,
}

/// What ended a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A hand-off by its agent.
    Handoff,
    /// Its agent ended its turn without a hand-off.
    EndTurn,
    Answered,
    /// A user's request, or the end of an ancestor.
    Cancelled,
    TimedOut,
    /// Its agent reported failure.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person, or a program on behalf of one.
    User,
    Assistant,
}

impl End {
    pub const fn state(self) -> State {
        match self {
            Self::Completed => State::Completed,
            Self::Failed => State::Failed,
            Self::Cancelled => State::Cancelled,
        }
    }
}
