//! The report of a consistency check.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Descriptions of the checks that were made.
    pub checks: Vec<String>,
    /// Descriptions of inconsistencies.
    pub problems: Vec<String>,
}
