//! The fold: what a task is after an entry of its timeline. Pure; the stores keep its result beside the entries.

use super::{
    entry::{Body, Cause, End, Ended, Entry, Text, WaitTarget},
    life::{Event, Next, State, Wait},
    task::{Task, Waiting},
};

/// An entry that cannot follow: the timeline is damaged, or a store made what the table forbids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the entry {sequence} ({kind}) cannot follow: the task is {}", .state.into_str())]
pub struct Impossible {
    pub sequence: u64,
    pub kind: &'static str,
    /// Where the task stands.
    pub state: State,
}

/// Takes an entry over into its task. The state moves by the table of `life` and by nothing else.
pub fn apply(task: &mut Task, entry: &Entry) -> Result<(), Impossible> {
    let impossible = Impossible { sequence: entry.sequence, kind: entry.body.into_str(), state: task.state };
    if entry.sequence != task.next_sequence || (entry.sequence == 0) != matches!(entry.body, Body::Created(_))
    {
        return Err(impossible);
    }
    let moved = match &entry.body {
        Body::Created(created) => {
            task.request.clone_from(&created.request);
            task.documents.clone_from(&created.documents);
            task.tainted = created.tainted;
            task.created_at = entry.at;
            Some(task.state)
        }
        Body::Started(_) => after(task.state, Event::Leased),
        // Its step was checked when it was admitted; the note of a question is taken while the task waits.
        Body::Message(_) => after(task.state, Event::Call { same_step: true }),
        Body::ToolCall(call) => {
            task.tainted |= call.untrusted;
            called(task, entry, call.waits_for.as_ref())
        }
        Body::Answer(answer) => {
            let state = task.state;
            // What was under way when the task ended has its outcome later, and the task is as it ended.
            task.tainted |= answer.untrusted && !state.is_final();
            answered(task, answer.answers).or(state.is_final().then_some(state))
        }
        Body::Decision(decision) => answered(task, decision.decides),
        Body::Ended(ended) => end(task, entry, ended),
    };
    task.state = moved.ok_or(impossible)?;
    task.next_sequence += 1;
    task.newest_step = task.newest_step.max(entry.step);
    task.updated_at = entry.at;
    Ok(())
}

/// The event that a call or a message of some step is.
pub fn call(task: &Task, step: u64) -> Event {
    Event::Call { same_step: step != 0 && step == task.waiting_step }
}

/// The highest reason of some waits.
pub fn highest(waits: &[Waiting]) -> Option<Wait> {
    waits.iter().map(|wait| wait.target.wait()).max()
}

/// The state after an event, unless it cannot be.
pub fn after(state: State, event: Event) -> Option<State> {
    match state.on(event) {
        Next::Becomes(next) => Some(next),
        Next::Same => Some(state),
        Next::Refused => None,
    }
}

/// The entry of a call is made when it ends, or when it begins to wait. It may have begun before the task waited, so
/// here it is taken in any state that is not final.
fn called(task: &mut Task, entry: &Entry, target: Option<&WaitTarget>) -> Option<State> {
    let state = after(task.state, Event::Call { same_step: true })?;
    let Some(target) = target else { return Some(state) };
    if task.waits.is_empty() {
        task.waiting_step = entry.step;
    }
    task.waits.push(Waiting { sequence: entry.sequence, target: target.clone() });
    after(state, Event::WaitBegins(target.wait()))
}

/// An answer or a decision: of a wait, or of a call whose wait is over.
fn answered(task: &mut Task, sequence: u64) -> Option<State> {
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

fn end(task: &mut Task, entry: &Entry, ended: &Ended) -> Option<State> {
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
