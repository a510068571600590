//! The catalogues of one provider: which set of offers is in service.
//!
//! The one that came up last, for as long as it has slots. One that comes again keeps its place in that order, so that
//! a host of an old version, left over from a roll-out, does not take the tools back.

use std::sync::Arc;

use crate::wire;

/// Catalogues without slots that are remembered.
const MAX_IDLE: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct Catalogues {
    /// In the order in which they first came up.
    known: Vec<Catalogue>,
    /// The one whose tools are served.
    served: Option<String>,
}

/// A set of offers.
#[derive(Clone, Debug)]
pub(crate) struct Catalogue {
    pub(crate) id: String,
    pub(crate) offers: Arc<[wire::Offer]>,
    slots: usize,
}

/// What a slot of a catalogue is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Unknown,
    /// Its tools are served: the slot takes calls.
    Served,
    /// It is newer than what is served, or that has no slots: its offers are to be served first.
    Next,
    /// A newer one has slots: the slot leaves.
    Superseded,
}

impl Catalogues {
    pub(crate) fn standing(&self, id: &str) -> Standing {
        let Some(place) = self.place(id) else { return Standing::Unknown };
        if self.known[place + 1..].iter().any(|newer| newer.slots > 0) {
            return Standing::Superseded;
        }
        if self.served.as_deref() == Some(id) { Standing::Served } else { Standing::Next }
    }

    /// Learns a catalogue, as the newest one.
    pub(crate) fn learn(&mut self, id: &str, offers: Vec<wire::Offer>) {
        if self.place(id).is_none() {
            self.known.push(Catalogue { id: id.to_owned(), offers: offers.into(), slots: 0 });
            self.forget();
        }
    }

    pub(crate) fn offers(&self, id: &str) -> Option<Arc<[wire::Offer]>> {
        self.place(id).map(|place| Arc::clone(&self.known[place].offers))
    }

    /// Its tools are served from now on.
    pub(crate) fn serve(&mut self, id: &str) {
        self.served = Some(id.to_owned());
    }

    pub(crate) fn attach(&mut self, id: &str) {
        if let Some(place) = self.place(id) {
            self.known[place].slots += 1;
        }
    }

    pub(crate) fn detach(&mut self, id: &str) {
        if let Some(place) = self.place(id) {
            self.known[place].slots = self.known[place].slots.saturating_sub(1);
        }
        self.forget();
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.known.iter().position(|catalogue| catalogue.id == id)
    }

    /// The oldest of those that nothing needs.
    fn forget(&mut self) {
        let served = self.served.clone();
        let is_idle = |it: &Catalogue| it.slots == 0 && Some(&it.id) != served.as_ref();
        let newest = self.known.len().saturating_sub(1);
        let mut excess = self.known.iter().filter(|it| is_idle(it)).count().saturating_sub(MAX_IDLE);
        let mut place = 0;
        self.known.retain(|it| {
            let goes = excess > 0 && is_idle(it) && place != newest;
            (excess, place) = (excess - usize::from(goes), place + 1);
            !goes
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(id: &str, catalogues: &mut Catalogues) {
        catalogues.learn(id, Vec::new());
        catalogues.serve(id);
        catalogues.attach(id);
    }

    #[test]
    fn the_newest_is_served_and_older_ones_are_superseded_as_long_as_it_has_slots() {
        let mut catalogues = Catalogues::default();
        assert_eq!(catalogues.standing("old"), Standing::Unknown);
        served("old", &mut catalogues);
        catalogues.learn("new", Vec::new());
        assert_eq!(catalogues.standing("new"), Standing::Next);
        assert_eq!(catalogues.standing("old"), Standing::Served, "the new one is not up yet");
        served("new", &mut catalogues);
        assert_eq!(
            (catalogues.standing("old"), catalogues.standing("new")),
            (Standing::Superseded, Standing::Served)
        );
        catalogues.detach("new");
        assert_eq!(catalogues.standing("old"), Standing::Next, "a roll-back");
        served("old", &mut catalogues);
        assert_eq!(catalogues.standing("new"), Standing::Next, "it keeps its place");
        served("new", &mut catalogues);
        assert_eq!(catalogues.standing("old"), Standing::Superseded);
    }

    #[test]
    fn those_without_slots_are_forgotten_but_a_few() {
        let mut catalogues = Catalogues::default();
        served("served", &mut catalogues);
        for number in 0..100 {
            catalogues.learn(&format!("c{number}"), Vec::new());
        }
        assert!(catalogues.known.len() <= MAX_IDLE + 2, "{}", catalogues.known.len());
        assert_eq!(catalogues.standing("c99"), Standing::Next);
        assert_ne!(catalogues.offers("served"), None);
    }
}
