//! Turns as messages.

use prost::Message;

use super::forms::{event_in, render_paused, reply_in};
use crate::service::turns::{TurnView, end_of};
use toolwire_base::clock;
use toolwire_contract::{
    convert::{ResultFormat, timestamp},
    proto::agent::v1::{self, TurnEvent, TurnState, turn},
};
use toolwire_state::sessions::{State, StoredTurn};

/// The one event of a turn that ended before.
pub(super) fn end_event(kept: &StoredTurn, format: ResultFormat) -> TurnEvent {
    let event = TurnEvent {
        turn_id: kept.turn_id.to_string(),
        event_time: Some(timestamp(clock::wall())),
        event: Some(end_of(kept)),
        ..TurnEvent::default()
    };
    event_in(event, format)
}

/// A turn as it stands.
pub(super) fn render(looked: TurnView) -> v1::Turn {
    match looked {
        TurnView::Running { turn_id, session, message, since } => v1::Turn {
            turn_id: turn_id.to_string(),
            session_id: session.to_string(),
            state: TurnState::Running.into(),
            message,
            created_at: Some(timestamp(since)),
            ..v1::Turn::default()
        },
        TurnView::Kept(kept) => whole(&kept),
    }
}

/// A turn with everything that is kept of it.
fn whole(kept: &StoredTurn) -> v1::Turn {
    let end = match kept.state {
        State::Ended => {
            let reply = v1::Reply::decode(kept.reply.as_slice()).unwrap_or_default();
            Some(turn::End::Reply(reply_in(reply, ResultFormat::Struct)))
        }
        State::Paused => {
            let paused = v1::Paused::decode(kept.reply.as_slice()).unwrap_or_default();
            Some(turn::End::Paused(render_paused(paused, ResultFormat::Struct)))
        }
        State::Cancelled => None,
    };
    let state = match kept.state {
        State::Paused => TurnState::Paused,
        State::Ended => TurnState::Ended,
        State::Cancelled => TurnState::Cancelled,
    };
    v1::Turn {
        turn_id: kept.turn_id.to_string(),
        session_id: kept.session.to_string(),
        state: state.into(),
        message: kept.message.clone(),
        created_at: Some(timestamp(kept.created_at)),
        ended_at: Some(timestamp(kept.ended_at)),
        end,
    }
}

/// A turn without what its answer was made from.
pub(super) fn short(kept: &StoredTurn) -> v1::Turn {
    let mut turn = whole(kept);
    if let Some(turn::End::Reply(reply)) = &mut turn.end {
        reply.tool_results.clear();
        reply.context = None;
        reply.trace = None;
        reply.validation = None;
    }
    turn
}
