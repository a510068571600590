//! Messages and tools matched by words: the index of a snapshot's tools, names, times, and the rank of each tool.
//!
//! Not here: which tool is called, and with which arguments (`embedded`).

pub(crate) mod clauses;
pub(crate) mod index;
mod inverted_index;
mod known_names;
pub(crate) mod lexicon;
pub(crate) mod message;
pub(crate) mod names;
mod nearest;
pub(crate) mod orders;
pub(crate) mod rank;
pub(crate) mod slots;
mod spelling;
pub(crate) mod times;
pub(crate) mod topic;
pub(crate) mod words;

pub(crate) use self::nearest::nearest;
pub use self::{
    known_names::{KnownName, KnownNames},
    words::is_stop_word,
};
