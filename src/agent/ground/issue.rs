//! What is wrong with a sentence of an answer.

/// The first thing that is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Which rule it breaks.
    pub kind: IssueKind,
    /// The part of the answer, such as the number. A face must mark it as quoted when it shows it.
    pub text: String,
}

/// The rules of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum IssueKind {
    /// A number that nothing in the turn says, or not with this unit, currency or direction.
    Number,
    /// A citation that is not a source of this turn.
    Citation,
    /// An address that does not stand in the results, an image, or HTML.
    Link,
    /// A block with numbers of results, without a citation, and no one source has them all.
    Uncited,
    /// A name beside figures of results that nothing in the turn has.
    Name,
}

/// The longest part of an answer that an issue shows, in characters.
const LONGEST: usize = 200;

impl Issue {
    pub(super) fn new(kind: IssueKind, text: &str) -> Self {
        Self { kind, text: text.chars().take(LONGEST).collect() }
    }
}
