//! Language models that may be asked: `[models.NAME]`. They stand in the file only; their keys in variables or files.
//!
//! Not here: asking them (`toolwire_sources::models`), and which of them the agent asks (`agent_model`).

mod credentials;
mod endpoint;
mod provider;

use std::time::Duration;

use url::Url;

use self::credentials::{PrintedTable, read as credentials};
pub use self::{
    credentials::{Credentials, OAuth},
    provider::Provider,
};
use super::{ConfiguredCertificate, fields::Fields, reader::Reader, value::Value};

/// Default time-out between two events of a model's answer.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The longest time-out that can be set.
const LONGEST_TIMEOUT: Duration = Duration::from_mins(10);
/// Default length of an answer, in tokens.
const ANSWER: u32 = 4_096;
/// The bounds on that.
const ANSWERS: std::ops::RangeInclusive<u32> = 64..=1_000_000;
/// The longest name of a model, ours or a provider's.
const LONGEST_NAME: usize = 128;

/// The models that may be asked, in order of name.
#[derive(Clone, Debug, Default)]
pub struct Models(pub Vec<ConfiguredModel>);

/// A model: `[models.NAME]`.
#[derive(Clone, Debug)]
pub struct ConfiguredModel {
    /// Its name in other settings.
    pub name: String,
    /// Its provider: `provider`. Required.
    pub provider: Provider,
    /// Its name at the provider: `model`. Required.
    pub model: String,
    /// Its address: `endpoint`, https, or http on this machine or where no key is sent. Default the provider's
    /// own address; required of a compatible one.
    pub endpoint: Option<Url>,
    /// The credentials: `api_key_env` with the name of a variable, `api_key_file` with the path of a file, or the
    /// table `oauth`. Required of Gemini, Anthropic and `OpenAI` at their own addresses.
    pub credentials: Credentials,
    /// What the server proves itself by: `client_cert` and `client_key`, PEM files. Default none.
    pub certificate: Option<ConfiguredCertificate>,
    /// Maximum time without data, before an answer begins and within it: `timeout`, default `1m`.
    pub timeout: Duration,
    /// The longest answer, in tokens: `max_answer_tokens`, default 4096.
    pub max_answer_tokens: u32,
}

impl Models {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let mut models = Vec::new();
        for (name, mut entry) in reader.tables("models") {
            let (model, shown) = ConfiguredModel::read(&name, &mut entry, reader);
            if reader.end(entry)
                && let Some(model) = model
            {
                let shown: Vec<_> = shown.into_iter().filter_map(|(key, it)| Some((key, it?))).collect();
                reader.show_entry(&format!("[models.{name}]"), &shown);
                models.push(model);
            }
        }
        Self(models)
    }

    pub fn get(&self, name: &str) -> Option<&ConfiguredModel> {
        self.0.iter().find(|model| model.name == name)
    }
}

impl ConfiguredModel {
    /// A model with the default bounds.
    pub fn new(name: &str, provider: Provider, model: &str) -> Self {
        Self {
            name: name.to_owned(),
            provider,
            model: model.to_owned(),
            endpoint: None,
            credentials: Credentials::None,
            certificate: None,
            timeout: TIMEOUT,
            max_answer_tokens: ANSWER,
        }
    }

    fn read(name: &str, entry: &mut Fields, reader: &mut Reader) -> (Option<Self>, PrintedTable) {
        if !is_name(name) {
            entry
                .problem(format!("the name must be of a-z, 0-9, _ and -, at most {LONGEST_NAME} characters"));
        }
        // Every field is read even if an earlier one is wrong, so that all problems are reported at once.
        let provider = entry.required::<String>("provider");
        let provider = provider.and_then(|it| Provider::of(&it).map_err(|what| entry.problem(what)).ok());
        let model = entry.required::<String>("model").filter(|model| is_model(model, entry));
        let address = entry.optional::<String>("endpoint");
        let (credentials, mut of_credentials) = credentials(entry, reader);
        let certificate = ConfiguredCertificate::read(entry);
        let timeout = timeout(entry);
        let max_answer_tokens = max_answer_tokens(entry);
        let mut shown = vec![
            ("provider", provider.map(|provider| provider.into_str().to_owned().to_toml())),
            ("model", model.as_ref().map(Value::to_toml)),
            ("endpoint", address.as_ref().map(Value::to_toml)),
        ];
        shown.append(&mut of_credentials);
        let of_certificate = certificate.iter().flat_map(ConfiguredCertificate::to_pairs);
        shown.extend(of_certificate.map(|(name, value)| (name, Some(value))));
        shown.extend([
            ("timeout", Some(timeout.to_toml())),
            ("max_answer_tokens", Some(max_answer_tokens.to_toml())),
        ]);
        let (Some(provider), Some(model), Some(credentials)) = (provider, model, credentials) else {
            return (None, shown);
        };
        // What depends on several fields comes last, when all of them are known to be valid.
        let sends_key = !matches!(credentials, Credentials::None);
        let Ok(endpoint) = check_endpoint(entry, provider, address.as_deref(), sends_key) else {
            return (None, shown);
        };
        if certificate.is_some() && endpoint.as_ref().is_some_and(|it| it.scheme() != "https") {
            entry.problem("client_cert needs an endpoint over https://");
        }
        let model = Self {
            endpoint,
            credentials,
            certificate,
            timeout,
            max_answer_tokens,
            ..Self::new(name, provider, &model)
        };
        (Some(model), shown)
    }
}

fn timeout(entry: &mut Fields) -> Duration {
    let timeout = entry.optional::<Duration>("timeout").unwrap_or(TIMEOUT);
    if timeout < Duration::from_secs(1) || timeout > LONGEST_TIMEOUT {
        entry.problem("timeout must be from 1s to 10m");
    }
    timeout
}

fn max_answer_tokens(entry: &mut Fields) -> u32 {
    let most = entry.optional::<u32>("max_answer_tokens").unwrap_or(ANSWER);
    if !ANSWERS.contains(&most) {
        entry.problem(format!("max_answer_tokens must be from {} to {}", ANSWERS.start(), ANSWERS.end()));
    }
    most
}

/// The address of the model, if one is set. The error has been reported.
fn check_endpoint(
    entry: &mut Fields,
    provider: Provider,
    address: Option<&str>,
    sends_key: bool,
) -> Result<Option<Url>, ()> {
    let endpoint = endpoint::of(provider, address, sends_key).map_err(|what| entry.problem(what))?;
    // Only the provider's own address is known to need a key.
    if !sends_key && provider.wants_credentials() && endpoint.is_none() {
        entry.problem("expected api_key_env, api_key_file or a table oauth: the provider asks for a key");
    }
    Ok(endpoint)
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(fits)
}

fn is_model(model: &str, entry: &mut Fields) -> bool {
    let is_fine =
        !model.is_empty() && model.len() <= LONGEST_NAME && model.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_fine {
        entry.problem(format!("model must have 1 to {LONGEST_NAME} visible ASCII characters without spaces"));
    }
    is_fine
}

#[cfg(test)]
mod tests;
