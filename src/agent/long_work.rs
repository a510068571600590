//! Moves a turn to a thread of long work if its work between two waits may take over a millisecond, by the size of its
//! input. Not here: how it gets there (`toolwire_base::offload`).

use toolwire_base::offload;
use toolwire_contract::Payload;
use toolwire_planner::{Exchange, ExecutedCall};

/// The longest message, in bytes, that is planned within a millisecond.
const LONGEST_MESSAGE: usize = 256;

/// Moves the turn if a message, the turns before it, or the results of its calls are large.
pub(super) async fn migrate_if_long(message: &str, history: &[Exchange], made: &[ExecutedCall]) {
    let said = |exchange: &Exchange| exchange.said.len() + exchange.answered.len();
    let of_result = |made: &ExecutedCall| made.result.outcome.as_ref().map_or(0, Payload::present_len);
    let is_long = message.len() > LONGEST_MESSAGE
        || history.iter().any(|exchange| exchange.said.len() > LONGEST_MESSAGE)
        || history.iter().map(said).chain(made.iter().map(of_result)).sum::<usize>() > offload::SMALL;
    if is_long {
        offload::migrate().await;
    }
}
