//! A setting that is a single value: the key in the file, the variable and the flag.
//!
//! Not here: entries of tables, which stand in the file only.

/// A setting, by its names. Each is unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub(super) key: String,
    pub(super) variable: String,
    pub(super) flag: Option<&'static str>,
}

impl Setting {
    /// A setting with a key such as `server.listen` and a variable such as `TOOLWIRE_LISTEN`.
    pub fn new(key: impl Into<String>, variable: impl Into<String>) -> Self {
        Self { key: key.into(), variable: variable.into(), flag: None }
    }

    /// The same, with a flag of the command line.
    #[must_use]
    pub fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }
}
