//! Notes that agents saved by calls of a memory tool: a view of timelines.

/// The scope of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Memory {
    /// All tasks of the tree.
    Tree,
    /// All tasks of the user.
    User,
}

/// The newest notes of each scope, in ascending order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memories {
    pub tree: Vec<SavedNote>,
    pub user: Vec<SavedNote>,
}

/// A note, as the call that saved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedNote {
    /// The call's arguments, as JSON text.
    pub input: String,
    /// The number of tokens of `input`, where it was counted.
    pub tokens: Option<u64>,
    /// Whether the task had read untrusted text.
    pub untrusted: bool,
}
