//! State machine of a task, as one table: state × event → transition. Pure; the fold and the store apply it.

/// The state of a task. The last three are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    Pending,
    /// A worker, or the caller, can make progress.
    Running,
    /// It waits for confirmations only.
    AwaitingConfirmation,
    /// It waits; the reason is the highest-ranking one that applies.
    Blocked(Reason),
    Completed,
    /// It ended without a result.
    Failed,
    Cancelled,
}

/// Why a task is blocked, in ascending rank.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Reason {
    /// It waits for a child task.
    Child,
    Question,
    /// A source requires credentials.
    Authorization,
    /// The outcome of a write is unknown.
    UnknownOutcome,
}

/// The kind of a wait, as far as the state depends on it, in ascending rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wait {
    /// A decision of a person.
    Confirmation,
    /// Anything else.
    For(Reason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A worker acquires the lease.
    Leased,
    /// A call or a message arrives.
    Call {
        /// Whether it belongs to the step in which the first of the waits began.
        same_step: bool,
    },
    WaitBegins(Wait),
    /// A wait is answered; with the highest-ranking of the remaining waits.
    WaitAnswered(Option<Wait>),
    /// Its agent ends it with a result.
    HandedOff,
    /// A person answers the task, which is a question.
    Answered,
    /// Its agent reports failure.
    Failed,
    /// A user cancels it, or an ancestor ends.
    Cancelled,
    DeadlinePasses,
}

/// The transition of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Becomes(State),
    Same,
    /// The event is not allowed in this state.
    Refused,
}

impl State {
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::Running,
        Self::AwaitingConfirmation,
        Self::Blocked(Reason::Child),
        Self::Blocked(Reason::Question),
        Self::Blocked(Reason::Authorization),
        Self::Blocked(Reason::UnknownOutcome),
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    #[allow(clippy::match_same_arms, reason = "a cell a line")]
    pub const fn on(self, event: Event) -> Next {
        use Next::{Becomes, Refused, Same};
        match (self, event) {
            (Self::Completed | Self::Failed | Self::Cancelled, event) => match event {
                // A final state never changes: a late answer is dropped and logged.
                Event::Cancelled | Event::DeadlinePasses | Event::WaitAnswered(_) => Same,
                _ => Refused,
            },

            (_, Event::Failed | Event::DeadlinePasses) => Becomes(Self::Failed),
            (_, Event::Cancelled) => Becomes(Self::Cancelled),

            (Self::Pending, Event::Leased | Event::Call { .. }) => Becomes(Self::Running),
            (Self::Pending, Event::Answered) => Becomes(Self::Completed),
            (Self::Pending, Event::WaitBegins(_) | Event::WaitAnswered(_) | Event::HandedOff) => Refused,

            (Self::Running, Event::Leased | Event::Call { .. }) => Same,
            (Self::Running, Event::WaitBegins(wait)) => Becomes(wait.state()),
            (Self::Running, Event::WaitAnswered(_)) => Same,
            (Self::Running, Event::HandedOff | Event::Answered) => Becomes(Self::Completed),

            (Self::AwaitingConfirmation | Self::Blocked(_), event) => match event {
                Event::Call { same_step: false } | Event::HandedOff => Refused,
                // A person can always answer a question: the agent that should answer it may wait forever.
                Event::Answered => Becomes(Self::Completed),
                Event::WaitBegins(wait) => self.add_wait(wait),
                Event::WaitAnswered(None) => Becomes(Self::Running),
                Event::WaitAnswered(Some(left)) => Becomes(left.state()),
                _ => Same,
            },
        }
    }

    /// Adds a wait to a waiting task: the highest-ranking reason remains.
    const fn add_wait(self, wait: Wait) -> Next {
        match (self, wait) {
            (Self::Blocked(present), Wait::For(new)) if (new as u8) > (present as u8) => {
                Next::Becomes(Self::Blocked(new))
            }
            (Self::AwaitingConfirmation, Wait::For(new)) => Next::Becomes(Self::Blocked(new)),
            _ => Next::Same,
        }
    }

    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    pub const fn waits(self) -> bool {
        matches!(self, Self::AwaitingConfirmation | Self::Blocked(_))
    }

    pub const fn reason(self) -> Option<Reason> {
        match self {
            Self::Blocked(reason) => Some(reason),
            _ => None,
        }
    }

    /// Parses the stored state, and the reason of a blocked one.
    pub fn of_words(word: &str, reason: Option<&str>) -> Option<Self> {
        let is_named = |state: &Self| state.into_str() == word && state.reason().map(Into::into) == reason;
        Self::ALL.into_iter().find(is_named)
    }
}

impl Wait {
    /// The state of a task whose highest-ranking wait this is.
    pub const fn state(self) -> State {
        match self {
            Self::Confirmation => State::AwaitingConfirmation,
            Self::For(reason) => State::Blocked(reason),
        }
    }
}

#[cfg(test)]
mod tests;
