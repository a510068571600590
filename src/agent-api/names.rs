//! The names of things that messages may mean.

use std::{fmt, sync::Arc};

use toolwire_tool::context::UserId;

/// The names of things that a user's messages may mean.
pub trait Names: Send + Sync + fmt::Debug {
    /// The names for one user. The same `Arc` for as long as they are the same.
    fn of(&self, user: &UserId) -> Arc<[Name]>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// How people write it, such as `Acme Mills` or `ACME`.
    pub text: String,
    /// What tools take for it, such as `ACME`.
    pub value: String,
    /// What kind of thing it names: the `of` of a parameter's `extract` that takes it.
    pub of: String,
    /// Whether it is an ordinary word too, which counts as the name only as it is written here, case included.
    pub is_a_word: bool,
}
