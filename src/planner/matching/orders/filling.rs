//! The words of an order that are values: names, and notes.

use crate::matching::{
    message::Message,
    names::NameMatch,
    slots::{Note, Slot},
    words::Word,
};

/// The words of a message that fill slots. What depends on the message alone is computed once.
pub(super) struct Filling<'a> {
    pub(super) message: &'a Message<'a>,
    slots: &'a [Slot],
    pub(super) notes: Vec<Note>,
}

impl<'a> Filling<'a> {
    pub(super) fn new(message: &'a Message<'a>, slots: &'a [Slot]) -> Self {
        Self { message, slots, notes: slots.iter().filter_map(|slot| slot.note(message)).collect() }
    }

    /// Whether a word is part of the value of a slot: of a name of its kind, or of a note.
    pub(super) fn takes(&self, word: &Word) -> bool {
        let is_within = |note: &Note| note.cue.start <= word.begin && word.begin < note.text.end;
        let takes = |slot: &Slot, found: &NameMatch| {
            slot.takes_names() && found.value(slot.of_kind()).is_some() && !found.is_foreign()
        };
        let found =
            self.message.name_at(word).filter(|found| self.slots.iter().any(|slot| takes(slot, found)));
        self.notes.iter().any(is_within) || found.is_some()
    }

    /// Whether a direction stands right before a further name, so that it is nothing to change: `watch Acme on TV`.
    pub(super) fn has_place_between(&self) -> bool {
        let message = self.message;
        let end = self.notes.iter().map(|note| note.cue.start).min().unwrap_or(message.text.len());
        let words = message.words.iter().take_while(|word| word.begin < end);
        let names = words.enumerate().filter(|(_, word)| message.name_at(word).is_some()).map(|(at, _)| at);
        let mut names = names.skip(1);
        names.any(|at| super::is_direction(&message.words[at - 1]))
    }
}
