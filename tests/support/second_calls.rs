//! The second call of a tool that needs a confirmation: every way in which it may differ from the first, and what
//! docs/CONFIRMATIONS.md says of it.

/// How the second call differs from the one that was asked for.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "every combination of them")]
pub struct Case {
    pub same_user: bool,
    pub same_definition: bool,
    pub same_arguments: bool,
    pub is_approved: bool,
    pub was_used: bool,
    pub in_time: bool,
}

/// What docs/CONFIRMATIONS.md says of it.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Runs,
    Record,
    Asks,
    AsksForAnother,
    Reused,
    Expired,
}

impl Case {
    /// What is approved and used in time has a record; what is not approved cannot be used.
    pub fn all() -> impl Iterator<Item = Self> {
        let case = |bits: u8| {
            let [same_user, same_definition, same_arguments, is_approved, was_used, in_time] =
                [0, 1, 2, 3, 4, 5].map(|at| bits & (1 << at) != 0);
            Self { same_user, same_definition, same_arguments, is_approved, was_used, in_time }
        };
        (0..64).map(case).filter(|case| !case.was_used || (case.is_approved && case.in_time))
    }

    pub fn expected(self) -> Answer {
        match self {
            // Another user's identifiers are others.
            Self { same_user: false, .. } => Answer::AsksForAnother,
            Self { same_arguments: false, .. } => Answer::Reused,
            Self { was_used: true, .. } => Answer::Record,
            Self { in_time: false, .. } => Answer::Expired,
            Self { same_definition: false, .. } => Answer::AsksForAnother,
            Self { is_approved: true, .. } => Answer::Runs,
            Self { is_approved: false, .. } => Answer::Asks,
        }
    }
}
