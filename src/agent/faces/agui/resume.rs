//! Resumes runs after an interrupt: finds the paused turn, and records what its caller decided.
//!
//! A caller may decide on an own call if the configuration permits that. Otherwise another user with the right must
//! have decided, or the run ends with the same interrupt.

use std::collections::{BTreeMap, HashSet};

use http::Extensions;

use super::input::InterruptAnswer;
use crate::service::turns::{Turns, end_of};
use toolwire_contract::{
    Refusal,
    proto::agent::v1::{Paused, turn_event::Event},
};
use toolwire_server::{
    faces::{http::route::Http, incoming},
    service::{
        confirmations::{Choice, DecisionRequest},
        request::refuse,
    },
};
use toolwire_state::sessions::StoredTurn;
use toolwire_tool::context::{SessionId, User};

/// A turn that waits for persons.
#[derive(Debug)]
pub(super) struct Interrupted {
    pub(super) turn_id: String,
    /// The calls that its caller knows already.
    pub(super) known: HashSet<String>,
}

/// Finds the turn of a conversation whose interrupts are answered, and records the decisions. All of its interrupts
/// must be answered.
pub(super) async fn decide_all(
    http: &Http,
    extensions: &Extensions,
    thread: &SessionId,
    answers: BTreeMap<String, InterruptAnswer>,
) -> Result<Interrupted, Refusal> {
    let user = incoming::user(extensions);
    let waiting = http.face.part::<Turns>().waiting(&user, thread).await?;
    let (turn, paused) = find(waiting, &answers)?;
    let known = confirmations(&paused).map(|it| it.request_id).collect();
    for (id, answer) in answers {
        if let Some(choice) = choice(answer) {
            let request =
                DecisionRequest { choice, on_behalf_of: String::new(), origin: incoming::origin(extensions) };
            let decision = decide(http, &user, &id, request);
            incoming::record_doing(extensions, decision).await?;
        }
    }
    Ok(Interrupted { turn_id: turn.turn_id.to_string(), known })
}

/// The turn that waits for these interrupts and for no others.
fn find(
    waiting: Vec<StoredTurn>,
    answers: &BTreeMap<String, InterruptAnswer>,
) -> Result<(StoredTurn, Paused), Refusal> {
    let paused = waiting.into_iter().filter_map(|turn| match end_of(&turn) {
        Event::Paused(paused) => Some((turn, paused)),
        _ => None,
    });
    for (turn, paused) in paused {
        let ids: HashSet<_> = confirmations(&paused).map(|it| it.confirmation_id).collect();
        if answers.keys().any(|id| ids.contains(id)) {
            let missing: Vec<_> = ids.iter().filter(|id| !answers.contains_key(*id)).cloned().collect();
            if missing.is_empty() && answers.len() == ids.len() {
                return Ok((turn, paused));
            }
            let what = format!(
                "must answer all interrupts of the run and no others; missing: {}",
                missing.join(", ")
            );
            return Err(refuse("resume", "required", &what));
        }
    }
    Err(refuse("resume", "enum", "must name interrupts that a run of this thread waits for"))
}

fn confirmations(
    paused: &Paused,
) -> impl Iterator<Item = toolwire_contract::proto::v1::ConfirmationRequired> {
    paused.pending.iter().filter_map(|call| call.confirmation_required.clone())
}

fn choice(answer: InterruptAnswer) -> Option<Choice> {
    match answer {
        InterruptAnswer::Approved { tool, reason } => Some(Choice::Approve { tool, reason }),
        InterruptAnswer::Denied { reason } => Some(Choice::Deny { reason }),
        InterruptAnswer::Elsewhere => None,
    }
}

/// Records the decision, if the caller may decide and the confirmation is open. Otherwise the turn reports how it
/// stands.
async fn decide(http: &Http, user: &User, id: &str, request: DecisionRequest) -> Result<(), Refusal> {
    match http.face.tools.confirmations().decide(user, id, request).await {
        Ok(_)
        | Err(
            Refusal::MayNotDecide { .. }
            | Refusal::ConfirmationDecided { .. }
            | Refusal::UnknownConfirmation { .. },
        ) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}
