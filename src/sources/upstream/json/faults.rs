//! What was lost of the documents that one reader read: counted where it is found, and reported to the caller.
//!
//! Kept beside the reader, since a `Deserialize` can hand nothing on but its value: per thread, because a reader runs
//! on one from beginning to end.

use std::cell::RefCell;

use toolwire_base::words::counted;

thread_local! {
    static CURRENT: RefCell<Faults> = RefCell::default();
}

/// Maximum number of places named for operators.
const MAX_PLACES: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Items of lists that are left out.
    pub items: u32,
    /// Fields, and elements of columns, that count as missing.
    pub values: u32,
    /// Texts in which a character is lost.
    pub texts: u32,
    /// Where some of it stood, for operators.
    pub places: Vec<String>,
}

/// What a reader returns, and what was lost of the documents that it read.
pub fn collect<R>(reader: impl FnOnce() -> R) -> (R, Faults) {
    CURRENT.take();
    let read = reader();
    (read, CURRENT.take())
}

pub(super) fn note(loss: impl FnOnce(&mut Faults)) {
    CURRENT.with_borrow_mut(loss);
}

/// The losses so far, to return to if what is read next is read again.
pub(super) fn savepoint() -> Faults {
    CURRENT.with_borrow(Clone::clone)
}

/// Forgets what was noted since a savepoint.
pub(super) fn return_to(savepoint: Faults) {
    CURRENT.set(savepoint);
}

impl Faults {
    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.items == 0 && self.values == 0 && self.texts == 0
    }

    /// One more place for operators.
    pub(super) fn at(&mut self, place: String) {
        if self.places.len() < MAX_PLACES {
            self.places.push(place);
        }
    }

    /// Adds what was lost of another document of the same source.
    pub fn add(&mut self, other: Self) {
        self.items += other.items;
        self.values += other.values;
        self.texts += other.texts;
        other.places.into_iter().for_each(|place| self.at(place));
    }

    /// What a reader of the result must know.
    pub fn warnings(&self, source: &str) -> Vec<String> {
        let Self { items, values, texts, .. } = *self;
        let lost = match (items, values) {
            (0, 0) => None,
            (items, 0) => Some(counted(items, "item", "items")),
            (0, values) => Some(counted(values, "value", "values")),
            (items, values) => Some(format!(
                "{} and {}",
                counted(items, "item", "items"),
                counted(values, "value", "values")
            )),
        };
        let are = if items + values == 1 { "is" } else { "are" };
        let lost =
            lost.map(|lost| format!("{lost} in the answer of {source} cannot be read and {are} left out."));
        let texts = (texts > 0).then(|| {
            let texts = counted(texts, "text", "texts");
            format!("{texts} in the answer of {source} can be read only in part.")
        });
        lost.into_iter().chain(texts).collect()
    }
}
