//! The flags that locate settings and data, for every command that runs the service or its pipeline.

use std::path::{Path, PathBuf};

use clap::Args;

use toolwire_base::words::shell;
use toolwire_config::{self as config, ConfigError, Flags, Loaded, Sources};
use toolwire_server::{
    app::{self, SettingsFile},
    console::Failure,
    domain::Domain,
};

/// Where the settings and the data come from.
#[derive(Clone, Debug, Default, Args)]
#[group(id = "settings", multiple = true)]
pub(super) struct Settings {
    /// Reads settings from FILE instead of toolwire.toml in the working directory [env: TOOLWIRE_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Reads manifests and data from DIR instead of what is built in [env: TOOLWIRE_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Asks the sources themselves: live, or for one of them embedded,NAME=live [default: embedded] [env:
    /// TOOLWIRE_SOURCES]
    #[arg(long, value_name = "MODE")]
    sources: Option<String>,
    /// Keeps what outlives the process in DIR instead of this user's data directory [env: TOOLWIRE_STATE]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Offers the diagnostics tools, debug_sleep and so on [env: TOOLWIRE_DIAGNOSTICS]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    diagnostics: Option<bool>,
}

impl Settings {
    /// These settings as overrides of the configuration.
    pub(super) fn flags(&self) -> Flags {
        let data = self.data.as_ref().map(|dir| dir.display());
        let state = self.state.as_ref().map(|dir| dir.display());
        Flags::with_file(self.config.clone())
            .set("data.dir", data)
            .set("sources.mode", self.sources.as_ref())
            .set("state.dir", state)
            .set("server.diagnostics", self.diagnostics)
    }

    /// Whether any of these flags is given.
    pub(super) fn is_given(&self) -> bool {
        let Self { config, data, sources, state, diagnostics } = self;
        let paths = [config, data, state].into_iter().any(Option::is_some);
        paths || sources.is_some() || diagnostics.is_some()
    }

    /// These flags as words of a command line.
    pub(super) fn to_words(&self, path: impl Fn(&Path) -> String) -> Vec<String> {
        let path = |it: &Option<PathBuf>| it.as_deref().map(&path);
        let diagnostics = self.diagnostics.map(|is_on| vec![format!("--diagnostics={is_on}")]);
        [
            words("config", path(&self.config)),
            words("data", path(&self.data)),
            words("sources", self.sources.clone()),
            words("state", path(&self.state)),
            diagnostics.unwrap_or_default(),
        ]
        .concat()
    }

    /// The configuration by these flags.
    pub(super) fn load(&self, domains: &[Domain]) -> Result<Loaded, Failure> {
        load(self.flags(), domains)
    }
}

/// A flag with a value.
pub(super) fn words(name: &str, value: Option<String>) -> Vec<String> {
    value.map_or_else(Vec::new, |value| vec![format!("--{name}"), value])
}

/// Words of a shell's command line, each after a space.
pub(super) fn as_flags(words: &[String]) -> String {
    words.iter().flat_map(|word| [" ".to_owned(), shell(word)]).collect()
}

/// The configuration by the given flags, this process's environment and its working directory.
pub(super) fn load(flags: Flags, domains: &[Domain]) -> Result<Loaded, Failure> {
    config::load(&Sources::of_process(flags), &app::sections(domains))
        .map_err(|error| Failure::Start(error.to_string()))
}

/// The settings of a server, which reads them again when they change.
pub(super) fn file(flags: Flags, domains: &[Domain]) -> Result<SettingsFile, ConfigError> {
    let (sources, sections) = (Sources::of_process(flags), app::sections(domains));
    let path = sources.file();
    let load = move || config::load(&sources, &sections).and_then(Loaded::for_server);
    SettingsFile::open(path, Box::new(load))
}
