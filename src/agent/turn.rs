//! The state machine of a turn on one screen: plan, execute, answer, validate, and its transitions.
//!
//! A pure function of state and event. Not here: what is done in each state (`run`).

use toolwire_contract::proto::agent::v1::TurnOutcome;

/// Where a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The planner decides what to do next.
    Plan,
    Execute,
    /// An answer is written: the outcome that it leads to, and the number of attempts before.
    Answer(Outcome, u32),
    /// The answer is checked.
    Validate(Outcome, u32),
    Paused,
    Done(Outcome),
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Outcome {
    Answered,
    /// With a question to the user, or a word on why it cannot be done.
    Clarify,
    /// Calls were made and none succeeded.
    Degraded,
    /// A source refuses us.
    Stopped,
    BudgetSpent,
    ModelFailed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Calls,
    /// No tool is to be called any more.
    NoCalls,
    /// The user is asked, or told why it cannot be done.
    Question,
    /// Every call of the step has ended.
    Results,
    /// A call waits for a person, and its siblings have ended.
    Confirmation,
    /// A source refuses us.
    Stop,
    /// There is no budget for more.
    Spent,
    /// Calls were made and none has data to answer from.
    Nothing,
    /// Planner or answerer failed.
    Failed,
    /// The model failed to answer, and the turn goes on without it.
    AskError,
    /// The answer is written, up to its end or its first issue.
    Answer,
    /// It has no issue.
    Clean,
    /// It has an issue: a number, a citation or an address that no result has.
    Issues,
}

/// The attempt from which on no model writes the answer. Such an answer is made of results alone.
pub const REPLACED: u32 = 2;

/// The transition table. `None` is a defect of the planner or the answerer.
pub const fn next(state: State, event: Event) -> Option<State> {
    Some(match (state, event) {
        (State::Plan, Event::Calls) => State::Execute,
        (State::Plan, Event::NoCalls) => State::Answer(Outcome::Answered, 0),
        (State::Plan | State::Execute | State::Answer(..), Event::Question) => State::Done(Outcome::Clarify),
        (State::Plan | State::Execute, Event::Spent) => State::Answer(Outcome::BudgetSpent, 0),
        (State::Execute, Event::Results) => State::Plan,
        (State::Execute, Event::Confirmation) => State::Paused,
        (State::Execute, Event::Stop) => State::Answer(Outcome::Stopped, 0),
        (State::Answer(..), Event::Nothing) => State::Done(Outcome::Degraded),
        (State::Answer(outcome, attempt), Event::Answer) => State::Validate(outcome, attempt),
        (State::Validate(outcome, _), Event::Clean) => State::Done(outcome),
        // One repair by the answerer, then the embedded answer.
        (State::Validate(outcome, attempt), Event::Issues) if attempt < REPLACED => {
            State::Answer(outcome, attempt + 1)
        }
        (State::Answer(outcome, attempt), Event::AskError) if attempt < REPLACED => {
            State::Answer(outcome, REPLACED)
        }
        (State::Plan | State::Answer(..) | State::Validate(..), Event::Failed) => {
            State::Done(Outcome::ModelFailed)
        }
        _ => return None,
    })
}

impl State {
    /// The name of the step, which a reply has in `current_step`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Execute | Self::Paused => "execute",
            Self::Answer(..) => "answer",
            Self::Validate(..) | Self::Done(_) => "validate",
        }
    }
}

impl From<Outcome> for TurnOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answered => Self::Answered,
            Outcome::Clarify => Self::Clarify,
            Outcome::Degraded => Self::Degraded,
            Outcome::Stopped => Self::Stopped,
            Outcome::BudgetSpent => Self::BudgetSpent,
            Outcome::ModelFailed => Self::ModelFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(events: &[Event]) -> Option<State> {
        events.iter().try_fold(State::Plan, |state, event| next(state, *event))
    }

    #[test]
    fn a_turn_plans_calls_and_answers() {
        use Event::{Answer, Calls, Clean, NoCalls, Results};
        let end = through(&[Calls, Results, Calls, Results, NoCalls, Answer, Clean]);
        assert_eq!(end, Some(State::Done(Outcome::Answered)));
    }

    #[test]
    fn an_answer_is_repaired_once_then_replaced_and_then_given_up() {
        use Event::{Answer, Failed, Issues, NoCalls};
        let twice = [NoCalls, Answer, Issues, Answer, Issues];
        assert_eq!(through(&twice), Some(State::Answer(Outcome::Answered, REPLACED)));
        let thrice = [&twice[..], &[Answer]].concat();
        assert_eq!(through(&[&thrice[..], &[Issues]].concat()), None);
        assert_eq!(through(&[&thrice[..], &[Failed]].concat()), Some(State::Done(Outcome::ModelFailed)));
    }

    #[test]
    fn without_its_model_a_turn_is_answered_once_more_and_no_oftener() {
        use Event::{Answer, AskError, Clean, NoCalls};
        let end = through(&[NoCalls, AskError, Answer, Clean]);
        assert_eq!(end, Some(State::Done(Outcome::Answered)));
        assert_eq!(through(&[NoCalls, AskError, AskError]), None);
    }

    #[test]
    fn nothing_follows_an_end() {
        use Event::{Calls, Confirmation, Question, Results};
        for event in [Calls, Results, Question] {
            assert_eq!(through(&[Question, event]), None);
            assert_eq!(through(&[Calls, Confirmation, event]), None);
        }
    }
}
