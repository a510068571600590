//! The states of tasks as they are typed.

use clap::ValueEnum;

use toolwire_contract::proto::tasks::v1;

/// The states by their words.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum State {
    Pending,
    Running,
    Blocked,
    AwaitingConfirmation,
    Completed,
    Failed,
    Cancelled,
}

impl From<State> for v1::TaskState {
    fn from(state: State) -> Self {
        match state {
            State::Pending => Self::Pending,
            State::Running => Self::Running,
            State::Blocked => Self::Blocked,
            State::AwaitingConfirmation => Self::AwaitingConfirmation,
            State::Completed => Self::Completed,
            State::Failed => Self::Failed,
            State::Cancelled => Self::Cancelled,
        }
    }
}
