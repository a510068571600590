//! Loading: merge the layers, refuse what means nothing, read what is left, check what it says.

#[cfg(test)]
mod tests;

use figment::Source;

use super::{
    Config, ConfigError, Credentials, Environment, Origins, Problem, Profiles, Sources, Telemetry, Upstreams,
    extract::{Settings, extract},
    layer::{self, Layer},
    unknown,
};

/// The configuration and where each setting comes from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// Where each setting comes from.
    pub origins: Origins,
}

/// Loads the configuration. Every unknown setting is reported at once.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let file = layer::file(sources)?;
    let unknown = file.as_ref().map(|file| unknown::keys(&file.settings)).unwrap_or_default();
    let name = file.as_ref().and_then(name_of);
    let figment = layer::merge(file, sources);
    let origins = Origins::of(&figment, name);
    let located = |problems: Vec<Problem>| {
        ConfigError(problems.into_iter().map(|problem| origins.locate(problem)).collect())
    };
    none(unknown).map_err(located)?;
    let settings = extract(&figment).map_err(|problem| located(vec![problem]))?;
    let environment = &sources.environment;
    none(unknown::variables(environment, settings.auth.variables())).map_err(ConfigError)?;
    let config = check(settings, environment).map_err(located)?;
    Ok(Loaded { config, origins })
}

fn check(settings: Settings, environment: &Environment) -> Result<Config, Vec<Problem>> {
    let Settings { server, data, sources, auth, log, admin, wait_zone, forbidden } = settings;
    none(server.problems().into_iter().chain(sources.problems()).chain(log.problems()).collect())?;
    let auth = auth.resolve(environment)?;
    let upstreams = Upstreams { credentials: Credentials::from_environment(environment)?, ..sources };
    let profiles = Profiles::resolve(wait_zone, forbidden)?;
    let telemetry = Telemetry::from_environment(environment);
    Ok(Config { server, data, upstreams, auth, profiles, log, admin, telemetry })
}

fn none(problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn name_of(file: &Layer) -> Option<String> {
    let path = file.origin.source.as_ref().and_then(Source::file_path)?;
    Some(path.display().to_string())
}
