//! The states of tasks as they are typed.

use clap::ValueEnum;

use toolwire_contract::proto::tasks::v1;

/// The states by their words.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum StateArg {
    Pending,
    Running,
    Blocked,
    AwaitingConfirmation,
    Completed,
    Failed,
    Cancelled,
}

impl From<StateArg> for v1::TaskState {
    fn from(state: StateArg) -> Self {
        match state {
            StateArg::Pending => Self::Pending,
            StateArg::Running => Self::Running,
            StateArg::Blocked => Self::Blocked,
            StateArg::AwaitingConfirmation => Self::AwaitingConfirmation,
            StateArg::Completed => Self::Completed,
            StateArg::Failed => Self::Failed,
            StateArg::Cancelled => Self::Cancelled,
        }
    }
}
