//! A session: the newest turns that it remembers, and the row of a turn that ends.

use std::{sync::Arc, time::SystemTime};

use futures_util::future::BoxFuture;
use prost::Message;

use super::{Ending, Memory, Remembered};
use crate::{
    TurnId,
    proposal::{self, Proposal, ProposalAnswer},
    stored_call::StoredCall,
};
use toolwire_contract::proto::agent::v1::Reply;
use toolwire_db::StoreError;
use toolwire_planner::Exchange;
use toolwire_state::{
    Store,
    sessions::{self, State, StoredTurn},
};
use toolwire_tool::context::{SessionId, UserId};

/// Maximum number of the newest turns that are read.
const MOST_TURNS: u32 = 50;

/// Maximum number of bytes of history: about 16,000 tokens.
const MOST_BYTES: usize = 64 * 1024;

/// The number of newest turns searched for a proposal. Cancelled acceptances are skipped.
const MOST_RETRIES: u32 = 8;

/// The largest reply that is kept whole, in bytes. A larger one is kept without the data of its results.
const LARGEST_REPLY: usize = 256 * 1024;

/// One turn of a session.
#[derive(Clone, Debug)]
pub struct Session {
    pub store: Arc<Store>,
    pub user: UserId,
    pub session: SessionId,
    pub turn_id: TurnId,
    pub message: String,
    /// The account of the request; empty if none.
    pub account: String,
    /// When the turn began.
    pub created_at: SystemTime,
}

impl Memory for Session {
    fn now(&self) -> SystemTime {
        self.store.now()
    }

    fn messages(&self) -> BoxFuture<'_, Result<Remembered, StoreError>> {
        Box::pin(async move {
            let turns = self.store.recall_turns(&self.user, &self.session, MOST_TURNS).await?;
            let has_proposal = turns.last().is_some_and(|turn| proposal::may_ask(&turn.answered));
            let must_read = has_proposal || proposal::may_answer(&self.message);
            let proposal = if must_read { self.proposal().await? } else { None };
            Ok(Remembered { proposal, ..newest(turns) })
        })
    }

    fn end<'a>(
        &'a self,
        ending: &'a Ending,
        calls: &'a [StoredCall],
        tainted: bool,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let turn = self.row(ending, calls, tainted);
            self.store.keep_turn(&turn).await
        })
    }
}

impl Session {
    /// The proposal of the turn before. Cancelled acceptances between it and this turn are skipped: the user repeats
    /// them.
    async fn proposal(&self) -> Result<Option<Proposal>, StoreError> {
        let turns = self.store.newest_turns(&self.user, &self.session, MOST_RETRIES).await?;
        let is_retried = |turn: &StoredTurn| {
            turn.state == State::Cancelled && proposal::answer(&turn.message) == ProposalAnswer::Yes
        };
        let before = turns.into_iter().find(|turn| turn.turn_id != self.turn_id && !is_retried(turn));
        let before = before.filter(|turn| turn.state == State::Ended);
        Ok(before.and_then(|turn| serde_json::from_str(&turn.standing).ok()))
    }

    fn row(&self, ending: &Ending, calls: &[StoredCall], tainted: bool) -> StoredTurn {
        let (state, answered, reply, standing) = match ending {
            Ending::Ended(reply, proposal) => {
                let proposed = proposal.as_ref().map(text).unwrap_or_default();
                (State::Ended, answer_of(reply), encode(reply), proposed)
            }
            Ending::Paused(paused, standing) => {
                (State::Paused, String::new(), paused.encode_to_vec(), text(standing))
            }
            Ending::Cancelled => (State::Cancelled, String::new(), Vec::new(), String::new()),
        };
        StoredTurn {
            user: self.user.clone(),
            turn_id: self.turn_id,
            session: self.session.clone(),
            account: self.account.clone(),
            message: self.message.clone(),
            state,
            created_at: self.created_at,
            ended_at: self.store.now(),
            answered,
            calls: text(&calls),
            tainted,
            reply,
            standing,
        }
    }
}

/// The newest turns that fit, the oldest first.
fn newest(turns: Vec<sessions::PastTurn>) -> Remembered {
    let mut room = MOST_BYTES;
    let fits = |turn: &sessions::PastTurn| {
        let size = turn.message.len() + turn.answered.len();
        room.checked_sub(size).map(|left| room = left).is_some()
    };
    let mut turns: Vec<_> = turns.into_iter().rev().take_while(fits).collect();
    turns.reverse();
    let tainted = turns.iter().any(|turn| turn.tainted);
    let exchange = |turn: sessions::PastTurn| {
        let calls: Vec<StoredCall> = serde_json::from_str(&turn.calls).unwrap_or_default();
        let calls: Vec<_> = calls.into_iter().map(Into::into).collect();
        // A no ends the question before it: what comes next completes neither.
        let is_open = calls.is_empty() && proposal::answer(&turn.message) != ProposalAnswer::No;
        Exchange { said: turn.message, answered: turn.answered, is_open, calls }
    };
    Remembered { history: turns.into_iter().map(exchange).collect(), tainted, proposal: None }
}

fn answer_of(reply: &Reply) -> String {
    reply.response.as_ref().map(|it| it.answer_markdown.clone()).unwrap_or_default()
}

fn encode(reply: &Reply) -> Vec<u8> {
    let whole = reply.encode_to_vec();
    if whole.len() <= LARGEST_REPLY {
        return whole;
    }
    let mut warnings = reply.warnings.clone();
    warnings.push("the results of this turn were too large to be kept with it".to_owned());
    Reply { tool_results: Vec::new(), context: None, warnings, ..reply.clone() }.encode_to_vec()
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
