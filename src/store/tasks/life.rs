//! The life of a task, as one table: state × event → what becomes of it. Pure; the fold and the stores apply it.

/// The states. The last three are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    Pending,
    /// Somebody works, or may.
    Running,
    /// It waits for confirmations alone.
    AwaitingConfirmation,
    /// It waits, for the highest reason that holds.
    Blocked(Reason),
    Completed,
    /// Not done.
    Failed,
    Cancelled,
}

/// Why a task is blocked, the lowest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Reason {
    /// Another task works for it.
    Child,
    Question,
    /// A source needs credentials.
    Authorization,
    /// A write began and its end is not known.
    UnknownOutcome,
}

/// What a task waits for, as far as its state goes, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wait {
    /// A decision of a person.
    Confirmation,
    /// Anything else.
    For(Reason),
}

/// What happens to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A worker takes it.
    Leased,
    /// A call or a message comes.
    Call {
        /// Whether it is of the step in which the first of its waits began.
        same_step: bool,
    },
    WaitBegins(Wait),
    /// A wait is answered; the highest of those that are left.
    WaitAnswered(Option<Wait>),
    /// Its agent ends it with a result.
    HandedOff,
    /// A person answers it, which is a question.
    Answered,
    /// Its agent gives up.
    Failed,
    /// Somebody cancels it, or the task that it belongs to ends.
    Cancelled,
    DeadlinePasses,
}

/// What becomes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Becomes(State),
    Same,
    /// It cannot be. The caller is refused with the state.
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
                // What is over is over: an answer that comes late is dropped, and noted in the log.
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
                // A person can always answer a question: the agent that was to answer it may wait for ever.
                Event::Answered => Becomes(Self::Completed),
                Event::WaitBegins(wait) => self.also(wait),
                Event::WaitAnswered(None) => Becomes(Self::Running),
                Event::WaitAnswered(Some(left)) => Becomes(left.state()),
                _ => Same,
            },
        }
    }

    /// A waiting task, waiting for one thing more: the highest reason stays.
    const fn also(self, wait: Wait) -> Next {
        match (self, wait) {
            (Self::Blocked(present), Wait::For(new)) if (new as u8) > (present as u8) => {
                Next::Becomes(Self::Blocked(new))
            }
            (Self::AwaitingConfirmation, Wait::For(new)) => Next::Becomes(Self::Blocked(new)),
            _ => Next::Same,
        }
    }

    /// Whether it is over.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether it waits for something.
    pub const fn waits(self) -> bool {
        matches!(self, Self::AwaitingConfirmation | Self::Blocked(_))
    }

    /// Why it is blocked.
    pub const fn reason(self) -> Option<Reason> {
        match self {
            Self::Blocked(reason) => Some(reason),
            _ => None,
        }
    }

    /// The state of its words: its own, and the reason of a blocked one.
    pub fn of_words(word: &str, reason: Option<&str>) -> Option<Self> {
        let is_named = |state: &Self| state.into_str() == word && state.reason().map(Into::into) == reason;
        Self::ALL.into_iter().find(is_named)
    }
}

impl Wait {
    /// The state of a task that waits for nothing higher.
    pub const fn state(self) -> State {
        match self {
            Self::Confirmation => State::AwaitingConfirmation,
            Self::For(reason) => State::Blocked(reason),
        }
    }
}

#[cfg(test)]
mod tests;
