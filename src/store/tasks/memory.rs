//! Notes that agents asked to be remembered: a reading of timelines.

/// For whom a note is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Memory {
    /// For every task of the tree.
    Tree,
    /// For every task of the user.
    User,
}

/// The newest notes, the oldest of them first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memories {
    pub tree: Vec<Remembered>,
    pub user: Vec<Remembered>,
}

/// A call that noted something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Its arguments as JSON text.
    pub input: String,
    /// How many tokens these have, where that was counted.
    pub tokens: Option<u64>,
    /// Whether the task that noted it had read text from outside.
    pub untrusted: bool,
}
