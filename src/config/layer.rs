//! The layers of the configuration, as `figment` merges them: what the flags, the environment and the file say.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use figment::{
    Error, Figment, Metadata, Profile, Provider, Source,
    providers::{Format, Toml},
    value::{Dict, Map, Value},
};

use super::{ConfigError, Sources, setting};

/// The file that is read where none is named.
const FILE: &str = "toolwire.toml";
/// The variable that names a file.
pub(super) const FILE_VARIABLE: &str = "TOOLWIRE_CONFIG";

/// What one source says.
#[derive(Clone)]
pub(super) struct Layer {
    pub(super) origin: Metadata,
    pub(super) settings: Dict,
}

/// The names of the sources, where `figment` reports them.
pub(super) const FLAGS: &str = "flags";
/// See [`FLAGS`].
pub(super) const ENVIRONMENT: &str = "environment";

/// The layers merged: a later one wins.
pub(super) fn merge(file: Option<Layer>, sources: &Sources) -> Figment {
    let file = file.into_iter();
    file.chain([environment(sources), flags(sources)]).fold(Figment::new(), Figment::merge)
}

/// What the file says; `None` if none is named and there is no `toolwire.toml`.
pub(super) fn file(sources: &Sources) -> Result<Option<Layer>, ConfigError> {
    let by_variable = || sources.environment.get(FILE_VARIABLE).map(PathBuf::from);
    let named = sources.flags.file.clone().or_else(by_variable);
    let path = named.clone().unwrap_or_else(|| sources.directory.join(FILE));
    match fs::read_to_string(&path) {
        Ok(text) => parse(&path, &text).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => Ok(None),
        Err(error) => {
            let what = format!("cannot be read: {error}. Name a file that exists with --config FILE");
            Err(ConfigError::one(path.display().to_string(), what))
        }
    }
}

/// The error's own display quotes the file, which may hold a token: only its place and its words are used.
fn parse(path: &Path, text: &str) -> Result<Layer, ConfigError> {
    let settings = <Toml as Format>::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let at = format!("{}:{}", path.display(), before.matches('\n').count() + 1);
        ConfigError::one(at, format!("not valid TOML: {}", error.message().replace('\n', ", ")))
    })?;
    Ok(Layer { origin: Metadata::from("file", Source::File(path.to_owned())), settings })
}

fn environment(sources: &Sources) -> Layer {
    let said = setting::all()
        .filter_map(|setting| Some((setting.key, sources.environment.get(setting.variable)?.to_owned())));
    of_settings(ENVIRONMENT, said)
}

fn flags(sources: &Sources) -> Layer {
    of_settings(FLAGS, sources.flags.values.iter().cloned())
}

fn of_settings(origin: &'static str, said: impl Iterator<Item = (&'static str, String)>) -> Layer {
    let mut settings = Dict::new();
    for (key, value) in said {
        insert(&mut settings, key, value);
    }
    Layer { origin: Metadata::named(origin), settings }
}

fn insert(table: &mut Dict, key: &str, value: String) {
    let Some((head, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value.into());
        return;
    };
    let inner = table.entry(head.to_owned()).or_insert_with(|| Value::from(Dict::new()));
    if let Value::Dict(_, inner) = inner {
        insert(inner, rest, value);
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        self.origin.clone()
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        Ok(Profile::Default.collect(self.settings.clone()))
    }
}
