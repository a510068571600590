//! Where settings come from: flags, environment, file. Each becomes one layer of the configuration.

use std::{collections::BTreeMap, env, fmt, path::PathBuf};

/// The file that is read where none is named.
const FILE: &str = "toolwire.toml";
/// The variable that names a file.
pub(super) const FILE_VARIABLE: &str = "TOOLWIRE_CONFIG";

/// Where settings come from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// What the command line says.
    pub flags: Flags,
    pub environment: Environment,
    /// Where `toolwire.toml` is looked for; empty for the working directory.
    pub directory: PathBuf,
}

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub(super) file: Option<PathBuf>,
    pub(super) values: Vec<(&'static str, String)>,
}

/// Environment variables. Empty ones count as unset. Shown without their values, which may be secret.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Sources {
    /// The given flags, this process's environment and its working directory.
    pub fn of_process(flags: Flags) -> Self {
        Self { flags, environment: Environment::read(), directory: PathBuf::new() }
    }

    /// The file of settings, which need not be there.
    pub fn file(&self) -> PathBuf {
        self.named_file().unwrap_or_else(|| self.directory.join(FILE))
    }

    /// Whether the file is named, and so must be there.
    pub(super) fn names_file(&self) -> bool {
        self.named_file().is_some()
    }

    fn named_file(&self) -> Option<PathBuf> {
        let by_variable = || self.environment.get(FILE_VARIABLE).map(PathBuf::from);
        self.flags.file.clone().or_else(by_variable)
    }
}

impl Flags {
    /// No flags but, if there is one, the file to read instead of `toolwire.toml`. `--config`, `TOOLWIRE_CONFIG`.
    pub fn with_file(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// The same flags and, if there is a value, one more. That some section reads the key is checked when it is loaded.
    #[must_use]
    pub fn set(mut self, key: &'static str, value: Option<impl ToString>) -> Self {
        self.values.extend(value.map(|value| (key, value.to_string())));
        self
    }
}

impl Environment {
    /// The environment of this process.
    pub fn read() -> Self {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        Self(env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect())
    }

    /// An environment of the given variables and no others.
    pub fn of(variables: &[(&str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// The value of a variable, if it is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The variables that are set, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
