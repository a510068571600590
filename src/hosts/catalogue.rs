//! The catalogues of one provider: which set of offers is in service.
//!
//! The one that came up last, for as long as it has slots. One that comes again keeps its place in that order, so that
//! a host of an old version, left over from a roll-out, does not take the tools back; once none is left, one that is
//! started takes them back. Only names are kept: offers are asked for when they are to be served.

use toolwire_providers::ids::CatalogueId;

/// Names that are remembered. More than a provider has slots, so that one without slots is among them.
const MAX_KNOWN: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Catalogues {
    /// In the order in which they first came up.
    known: Vec<Catalogue>,
    /// The one whose tools are served.
    served: Option<CatalogueId>,
}

/// A set of offers.
#[derive(Clone, Debug)]
struct Catalogue {
    id: CatalogueId,
    slots: usize,
}

/// What a slot of a catalogue is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disposition {
    /// Its tools are served: the slot takes calls.
    Served,
    /// It is newer than what is served, or that has no slots: its offers are to be served first.
    Next,
    /// A newer one has slots: the slot leaves.
    Superseded,
}

impl Catalogues {
    pub(crate) fn disposition(&self, id: &CatalogueId) -> Disposition {
        let Some(place) = self.place(id) else { return Disposition::Next };
        if self.known[place + 1..].iter().any(|newer| newer.slots > 0) {
            return Disposition::Superseded;
        }
        if self.served.as_ref() == Some(id) { Disposition::Served } else { Disposition::Next }
    }

    /// It is the newest one from now on, if it came up before.
    pub(crate) fn renew(&mut self, id: &CatalogueId) {
        if let Some(place) = self.place(id) {
            self.known[place..].rotate_left(1);
        }
    }

    pub(crate) fn has_slots(&self, id: &CatalogueId) -> bool {
        self.place(id).is_some_and(|place| self.known[place].slots > 0)
    }

    /// Its tools are served from now on. Unless it came up before, it is the newest one.
    pub(crate) fn serve(&mut self, id: &CatalogueId) {
        self.served = Some(id.clone());
        if self.place(id).is_none() {
            self.forget();
            self.known.push(Catalogue { id: id.clone(), slots: 0 });
        }
    }

    /// The one whose tools are served.
    pub(crate) fn served(&self) -> Option<&CatalogueId> {
        self.served.as_ref()
    }

    pub(crate) fn attach(&mut self, id: &CatalogueId) {
        if let Some(place) = self.place(id) {
            self.known[place].slots += 1;
        }
    }

    pub(crate) fn detach(&mut self, id: &CatalogueId) {
        if let Some(place) = self.place(id) {
            self.known[place].slots = self.known[place].slots.saturating_sub(1);
        }
    }

    fn place(&self, id: &CatalogueId) -> Option<usize> {
        self.known.iter().position(|catalogue| catalogue.id == *id)
    }

    /// Makes room for one more: the oldest without slots goes.
    fn forget(&mut self) {
        if self.known.len() >= MAX_KNOWN
            && let Some(oldest) = self.known.iter().position(|it| it.slots == 0)
        {
            self.known.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(id: &str, catalogues: &mut Catalogues) {
        catalogues.serve(&id.into());
        catalogues.attach(&id.into());
    }

    #[test]
    fn the_newest_is_served_and_older_ones_are_superseded_as_long_as_it_has_slots() {
        let mut catalogues = Catalogues::default();
        assert_eq!(catalogues.disposition(&"old".into()), Disposition::Next);
        served("old", &mut catalogues);
        assert_eq!(catalogues.disposition(&"new".into()), Disposition::Next);
        assert_eq!(catalogues.disposition(&"old".into()), Disposition::Served, "the new one is not up yet");
        served("new", &mut catalogues);
        assert_eq!(
            (catalogues.disposition(&"old".into()), catalogues.disposition(&"new".into())),
            (Disposition::Superseded, Disposition::Served)
        );
        catalogues.detach(&"new".into());
        assert_eq!(catalogues.disposition(&"old".into()), Disposition::Next, "a roll-back");
        served("old", &mut catalogues);
        assert_eq!(catalogues.disposition(&"new".into()), Disposition::Next, "it keeps its place");
        served("new", &mut catalogues);
        assert_eq!(catalogues.disposition(&"old".into()), Disposition::Superseded);
    }

    #[test]
    fn many_roll_outs_do_not_make_an_old_one_new() {
        let mut catalogues = Catalogues::default();
        for number in 0..100 {
            served(&format!("c{number}"), &mut catalogues);
            catalogues.detach(&CatalogueId::from(&*format!("c{number}")));
        }
        served("c100", &mut catalogues);
        assert_eq!(catalogues.disposition(&"c0".into()), Disposition::Superseded);
    }

    #[test]
    fn their_number_is_bounded_and_those_with_slots_are_kept() {
        let mut catalogues = Catalogues::default();
        served("slots", &mut catalogues);
        for number in 0..MAX_KNOWN + 10 {
            catalogues.serve(&CatalogueId::from(&*format!("c{number}")));
        }
        assert_eq!(catalogues.known.len(), MAX_KNOWN);
        assert!(catalogues.place(&"slots".into()).is_some());
    }
}
