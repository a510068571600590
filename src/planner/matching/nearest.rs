//! The tools nearest to a message, for a planner that cannot be shown all of them.

use chrono::NaiveDate;

use super::{index::Index, message::Message, names::NameIndex, rank::Ranking, slots::SlotContext};

/// The places of the nearest of the offered tools in the index, the best first.
pub(crate) fn nearest(
    index: &Index,
    offered: &[bool],
    names: &NameIndex,
    message: &str,
    today: NaiveDate,
) -> Vec<usize> {
    let message = Message::new(message, today, names, &index.words);
    let given = SlotContext { message: &message, carried: &[], account: None, refers: false };
    let ranking = Ranking::new(index, offered, given);
    ranking.candidates.iter().map(|candidate| candidate.tool).collect()
}
