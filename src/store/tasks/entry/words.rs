//! Words of entries: types of tools, who speaks, how and why a task ended.

use serde::{Deserialize, Serialize};

use super::super::life::State;

/// The types of tools, as timelines name them (spec 002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum CallType {
    #[serde(rename = "function_tool")]
    #[strum(serialize = "function_tool")]
    Function,
    /// It is logged only.
    #[serde(rename = "non_function_tool")]
    #[strum(serialize = "non_function_tool")]
    NonFunction,
    /// It ends the task.
    #[serde(rename = "handoff")]
    Handoff,
    #[serde(rename = "agent_as_tool")]
    AgentAsTool,
    #[serde(rename = "ask_master")]
    AskMaster,
    /// It begins a tree.
    #[serde(rename = "root")]
    Root,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Completed,
    /// Not done.
    Failed,
    Cancelled,
}

/// What ended a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Its agent handed it off.
    Handoff,
    /// Its agent stopped, without a hand-off.
    EndTurn,
    Answered,
    /// Somebody cancelled it, or the task that it belongs to ended.
    Cancelled,
    TimedOut,
    /// Its agent gave up.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person, or the program that stands for one.
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
