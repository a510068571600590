//! The fold of a timeline: applies entries to a task. Pure; the store saves the result beside the entries.

use super::{
    entry::{Body, Cause, End, Ended, Entry, Text, WaitTarget},
    life::{Event, Next, State, Wait},
    task::{Task, Waiting},
};

/// An entry that does not follow from the task's state: the timeline is damaged, or the store appended an invalid
/// entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the entry {sequence} ({kind}) cannot follow: the task is {}", .state.into_str())]
pub struct InvalidEntry {
    pub sequence: u64,
    pub kind: &'static str,
    pub state: State,
}

/// Applies an entry to its task. The state changes by the transition table of `life` only.
pub fn apply(task: &mut Task, entry: &Entry) -> Result<(), InvalidEntry> {
    let invalid = InvalidEntry { sequence: entry.sequence, kind: entry.body.into_str(), state: task.state };
    if entry.sequence != task.next_sequence || (entry.sequence == 0) != matches!(entry.body, Body::Created(_))
    {
        return Err(invalid);
    }
    let next_state = match &entry.body {
        Body::Created(created) => {
            task.request.clone_from(&created.request);
            task.documents.clone_from(&created.documents);
            task.tainted = created.tainted;
            task.created_at = entry.at;
            Some(task.state)
        }
        Body::Started(_) => after(task.state, Event::Leased),
        // The step was checked on admission; the note of a question is accepted while the task waits.
        Body::Message(_) => after(task.state, Event::Call { same_step: true }),
        Body::ToolCall(call) => {
            task.tainted |= call.untrusted;
            apply_call(task, entry, call.waits_for.as_ref())
        }
        Body::Answer(answer) => {
            let state = task.state;
            // A call that was in flight when the task ended may be answered later; the task stays as it ended.
            task.tainted |= answer.untrusted && !state.is_final();
            apply_answer(task, answer.answers).or(state.is_final().then_some(state))
        }
        Body::Decision(decision) => apply_answer(task, decision.decides),
        Body::Ended(ended) => apply_end(task, entry, ended),
    };
    task.state = next_state.ok_or(invalid)?;
    task.next_sequence += 1;
    task.newest_step = task.newest_step.max(entry.step);
    task.updated_at = entry.at;
    Ok(())
}

/// The event of a call or a message of a step.
pub fn call(task: &Task, step: u64) -> Event {
    Event::Call { same_step: step != 0 && step == task.waiting_step }
}

/// The highest-ranking of some waits.
pub fn highest(waits: &[Waiting]) -> Option<Wait> {
    waits.iter().map(|wait| wait.target.wait()).max()
}

/// The state after an event; `None` if the event is refused.
pub fn after(state: State, event: Event) -> Option<State> {
    match state.on(event) {
        Next::Becomes(next) => Some(next),
        Next::Same => Some(state),
        Next::Refused => None,
    }
}

/// The entry of a call is appended when it ends or begins to wait. The call may have begun before the task waited, so
/// any state that is not final accepts it.
fn apply_call(task: &mut Task, entry: &Entry, target: Option<&WaitTarget>) -> Option<State> {
    let state = after(task.state, Event::Call { same_step: true })?;
    let Some(target) = target else { return Some(state) };
    if task.waits.is_empty() {
        task.waiting_step = entry.step;
    }
    task.waits.push(Waiting { sequence: entry.sequence, target: target.clone() });
    after(state, Event::WaitBegins(target.wait()))
}

/// Applies an answer or a decision: of a wait, or of a call whose wait is over.
fn apply_answer(task: &mut Task, sequence: u64) -> Option<State> {
    let before = task.waits.len();
    task.waits.retain(|wait| wait.sequence != sequence);
    if task.waits.len() == before {
        return (!task.state.is_final()).then_some(task.state);
    }
    if task.waits.is_empty() {
        task.waiting_step = 0;
    }
    after(task.state, Event::WaitAnswered(highest(&task.waits)))
}

fn apply_end(task: &mut Task, entry: &Entry, ended: &Ended) -> Option<State> {
    let event = match (ended.cause, ended.end) {
        (Cause::Answered, _) => Event::Answered,
        (Cause::TimedOut, _) => Event::DeadlinePasses,
        (_, End::Completed) => Event::HandedOff,
        (_, End::Failed) => Event::Failed,
        (_, End::Cancelled) => Event::Cancelled,
    };
    // An agent that ends a pending task with a result has worked on it without a call.
    let state = match event {
        Event::HandedOff => after(task.state, Event::Call { same_step: false })?,
        _ => task.state,
    };
    let state = match state.on(event) {
        Next::Becomes(state) => state,
        Next::Same | Next::Refused => return None,
    };
    task.waits.clear();
    task.waiting_step = 0;
    task.result = ended.result.as_ref().and_then(Text::inline).map(str::to_owned);
    task.result_documents.clone_from(&ended.documents);
    task.message.clone_from(&ended.message);
    task.cause = Some(ended.cause);
    task.ended_at = Some(entry.at);
    Some(state)
}
