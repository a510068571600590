//! Problems of the data: start-up refuses them, and operators see them while the last good data serves.

use std::collections::BTreeMap;

use toolwire_base::files::{Problem, Problems};

/// The state of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Identifies the content that is served: SHA-256 in hexadecimal.
    pub digest: String,
    /// What is wrong with files as they are now; what is served is their last good content.
    pub problems: Vec<Problem>,
    /// What the default user's data lacks: a message for each section.
    pub missing_sections: BTreeMap<String, String>,
}

/// The data cannot be served at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is no master file.
    #[error("Missing master data file: {0}")]
    MissingMaster(String),
    /// Files are broken; all of them are listed.
    #[error(transparent)]
    Broken(#[from] Problems),
}
