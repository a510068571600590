//! Runs that go on after an interrupt: which turn they go on with, and what its caller decided.
//!
//! A caller's own word counts where the configuration lets callers decide on their own calls; where it does not,
//! somebody with the right must have decided, or the run ends with the same interrupt.

use std::collections::{BTreeMap, HashSet};

use http::Extensions;

use super::input::Answer;
use crate::{
    faces::{http::route::Http, incoming},
    service::{
        confirmations::{Judgement, Ruling},
        request::refuse,
        turns::end_of,
    },
};
use toolwire_contract::{
    Refusal,
    proto::agent::v1::{Paused, turn_event::Event},
};
use toolwire_store::sessions::KeptTurn;
use toolwire_tool::context::{SessionId, User};

/// A turn that waits for persons.
#[derive(Debug)]
pub(super) struct Interrupted {
    pub(super) turn_id: String,
    /// The calls of which its caller knows.
    pub(super) known: HashSet<String>,
}

/// The turn of a conversation whose interrupts are answered, all of them; what was decided is noted.
pub(super) async fn decided(
    http: &Http,
    extensions: &Extensions,
    thread: &SessionId,
    answers: BTreeMap<String, Answer>,
) -> Result<Interrupted, Refusal> {
    let user = incoming::user(extensions);
    let waiting = http.face.turns.waiting(&user, thread).await?;
    let (turn, paused) = find(waiting, &answers)?;
    let known = required(&paused).map(|it| it.request_id).collect();
    for (id, answer) in answers {
        if let Some(ruling) = ruling(answer) {
            let judgement =
                Judgement { ruling, on_behalf_of: String::new(), origin: incoming::origin(extensions) };
            let decided = decide(http, &user, &id, judgement);
            incoming::noted(extensions, decided).await?;
        }
    }
    Ok(Interrupted { turn_id: turn.turn_id.to_string(), known })
}

/// The turn that waits for these, and for no others.
fn find(waiting: Vec<KeptTurn>, answers: &BTreeMap<String, Answer>) -> Result<(KeptTurn, Paused), Refusal> {
    let paused = waiting.into_iter().filter_map(|turn| match end_of(&turn) {
        Event::Paused(paused) => Some((turn, paused)),
        _ => None,
    });
    for (turn, paused) in paused {
        let ids: HashSet<_> = required(&paused).map(|it| it.confirmation_id).collect();
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

fn required(paused: &Paused) -> impl Iterator<Item = toolwire_contract::proto::v1::ConfirmationRequired> {
    paused.pending.iter().filter_map(|call| call.confirmation_required.clone())
}

fn ruling(answer: Answer) -> Option<Ruling> {
    match answer {
        Answer::Approved { tool, reason } => Some(Ruling::Approve { tool, reason }),
        Answer::Denied { reason } => Some(Ruling::Deny { reason }),
        Answer::Elsewhere => None,
    }
}

/// Decides, if the caller may and nobody has. What stands is for the turn to find out.
async fn decide(http: &Http, user: &User, id: &str, judgement: Judgement) -> Result<(), Refusal> {
    match http.face.tools.confirmations().decide(user, id, judgement).await {
        Ok(_)
        | Err(
            Refusal::MayNotDecide { .. }
            | Refusal::ConfirmationDecided { .. }
            | Refusal::UnknownConfirmation { .. },
        ) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}
