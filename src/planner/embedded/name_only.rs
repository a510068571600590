//! The question back to a message that only names a thing, such as `How is Acme doing?`

use super::abstain;
use crate::{
    Offer,
    matching::{message::Message, names::ACCOUNT, slots::Slot},
};
use toolwire_engine::registry::ExtractKind;

/// Maximum number of available facts listed.
const MOST: usize = 12;

/// Asks which thing is meant, if several have the name; else what the user wants to know of it. `None` if the message
/// says more, or names nothing that a tool takes.
pub(super) fn question(offer: &Offer, message: &Message<'_>) -> Option<String> {
    let found = message.found.iter().find(|found| !found.is_unknown() && !found.is_of(ACCOUNT))?;
    if !message.content.is_empty() {
        return None;
    }
    let offered = offer.index().tools.iter().zip(offer.flags());
    let reads = offered.filter(|(tool, offered)| **offered && tool.is_read && tool.is_readable);
    let known = reads.filter_map(|(tool, _)| {
        let slot = tool.slots.iter().find(|slot| takes_one(slot) && found.is_of(slot.of_kind()))?;
        Some((tool.tool.definition.title.as_str(), slot))
    });
    let known: Vec<_> = known.collect();
    let (_, slot) = known.first()?;
    if !found.candidates.is_empty() {
        return Some(abstain::question(slot, message, offer.words()));
    }
    let name = &message.text[found.begin..found.end];
    let titles: Vec<_> = known.iter().map(|(title, _)| format!("“{title}”")).take(MOST).collect();
    Some(format!("What do you want to know of {name}? There is {}.", titles.join(", ")))
}

/// Whether a parameter is required and takes one thing.
fn takes_one(slot: &Slot) -> bool {
    let is_one = matches!(slot.extract.kind, ExtractKind::Symbol | ExtractKind::Company)
        || (slot.extract.kind == ExtractKind::Symbols && slot.fewest < 2);
    slot.is_required && is_one
}
