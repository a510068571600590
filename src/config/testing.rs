//! For tests of settings: a configuration from a file's text and some variables.

use std::fs;

use super::{ConfigError, Environment, Flags, Loaded, Section, Sources, load};

/// Loads a configuration from the text of a `toolwire.toml`, variables and flags.
pub fn load_text(
    file: &str,
    variables: &[(&str, &str)],
    flags: Flags,
    sections: &[Section],
) -> Result<Loaded, ConfigError> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fs::write(directory.path().join("toolwire.toml"), file).expect("writable");
    let environment = Environment::of(variables);
    load(&Sources { flags, environment, directory: directory.path().to_owned() }, sections)
}
