//! What a look at a state directory came to.

/// What a look at a state directory came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What was looked at, in words.
    pub looked_at: Vec<String>,
    /// What is not as it must be.
    pub problems: Vec<String>,
}
