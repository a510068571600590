//! The credentials of a model: an API key, or an OAuth token that is fetched.

use std::{fmt, fs, path::Path};

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::endpoint::parse_endpoint;
use crate::{fields::Fields, reader::Reader, value::Value};
use toolwire_base::words::without_bom;

const LONGEST_KEY: usize = 16 * 1024;

/// The keys and values of a table, for the printed configuration.
pub(super) type PrintedTable = Vec<(&'static str, Option<String>)>;

#[derive(Clone, Default)]
pub enum Credentials {
    #[default]
    None,
    Key(SecretString),
    /// A token that is fetched.
    OAuth(OAuth),
}

/// How a token is fetched by OAuth's client credentials: `[models.NAME.oauth]`.
#[derive(Clone)]
pub struct OAuth {
    /// The token endpoint: `token_url`. Required.
    pub token_url: Url,
    /// The client's identifier: `client_id`. Required.
    pub client_id: String,
    /// The client's secret: `client_secret_env` or `client_secret_file`. Required.
    pub client_secret: SecretString,
    /// The scope of the token: `scope`. Empty for the provider's default.
    pub scope: String,
    /// The audience of the token: `audience`. Empty for the provider's default.
    pub audience: String,
}

/// Reads the credentials of a model's table, at most one kind; `None` if they are invalid.
pub(super) fn read(entry: &mut Fields, reader: &mut Reader) -> (Option<Credentials>, PrintedTable) {
    let (key, mut shown) = secret(entry, reader, ["api_key_env", "api_key_file"]);
    let oauth = entry.table("oauth");
    match (key, oauth) {
        (Ok(None), None) => (Some(Credentials::None), shown),
        (Ok(Some(key)), None) => (Some(Credentials::Key(key)), shown),
        (Err(()), None) => (None, shown),
        (Ok(None), Some(mut table)) => {
            let (read, of_oauth) = OAuth::read(&mut table, reader);
            shown.push(("oauth", Some(inline(&of_oauth))));
            let is_fine = reader.end(table);
            (read.filter(|_| is_fine).map(Credentials::OAuth), shown)
        }
        (_, Some(table)) => {
            entry.problem("expected a key or a table oauth, not both; remove one");
            drop(table);
            (None, shown)
        }
    }
}

impl OAuth {
    fn read(table: &mut Fields, reader: &mut Reader) -> (Option<Self>, PrintedTable) {
        let token_url = table.required::<String>("token_url");
        let client_id = table.required::<String>("client_id");
        let (client_secret, of_secret) = secret(table, reader, ["client_secret_env", "client_secret_file"]);
        let scope = table.optional::<String>("scope").unwrap_or_default();
        let audience = table.optional::<String>("audience").unwrap_or_default();
        if matches!(client_secret, Ok(None)) {
            table.problem("expected client_secret_env with the name of a variable, or client_secret_file");
        }
        let mut shown = vec![
            ("token_url", token_url.as_ref().map(Value::to_toml)),
            ("client_id", client_id.as_ref().map(Value::to_toml)),
        ];
        shown.extend(of_secret);
        shown.extend([("scope", Some(scope.to_toml())), ("audience", Some(audience.to_toml()))]);
        let url = token_url.and_then(|url| {
            parse_endpoint(&url, false).map_err(|what| table.problem(format!("token_url {what}"))).ok()
        });
        let made = (|| {
            let client_secret = client_secret.ok().flatten()?;
            Some(Self { token_url: url?, client_id: client_id?, client_secret, scope, audience })
        })();
        (made, shown)
    }
}

/// Reads a secret from the variable or the file that is named, if one is. An error has been reported.
fn secret(
    entry: &mut Fields,
    reader: &mut Reader,
    [variable, file]: [&'static str; 2],
) -> (Result<Option<SecretString>, ()>, PrintedTable) {
    let (name, path) = (entry.optional::<String>(variable), entry.optional::<String>(file));
    let shown =
        vec![(variable, name.as_ref().map(Value::to_toml)), (file, path.as_ref().map(Value::to_toml))];
    let found = match (name, path) {
        // A value that is set and cannot be read is reported already.
        (None, None) if entry.has(variable) || entry.has(file) => return (Err(()), shown),
        (None, None) => return (Ok(None), shown),
        (Some(_), Some(_)) => Err(format!("expected {variable} or {file}, not both; remove one")),
        (Some(name), None) => reader
            .variable(&name)
            .ok_or_else(|| format!("{variable} names {name}, which is not set; set it to the key"))
            .and_then(|text| check_header(text, &name)),
        (None, Some(path)) => of_file(&path).map_err(|what| format!("{file} {path:?} {what}")),
    };
    (found.map(Some).map_err(|what| entry.problem(what)), shown)
}

fn of_file(path: &str) -> Result<SecretString, String> {
    let text = fs::read_to_string(Path::new(path)).map_err(|error| format!("cannot be read: {error}"))?;
    check_header(without_bom(&text).trim_end().to_owned(), "it")
}

/// Checks a key, which is sent in a header. The error shows nothing of it.
fn check_header(text: String, what: &str) -> Result<SecretString, String> {
    let key = SecretString::from(text);
    let text = key.expose_secret();
    let fits = !text.is_empty() && text.len() <= LONGEST_KEY && text.bytes().all(|it| it.is_ascii_graphic());
    fits.then_some(key).ok_or_else(|| format!("{what} must hold visible ASCII characters without spaces"))
}

fn inline(pairs: &PrintedTable) -> String {
    let set = pairs.iter().filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?)));
    format!("{{ {} }}", set.collect::<Vec<_>>().join(", "))
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Key(_) => "Key(…)",
            Self::OAuth(_) => "OAuth(…)",
        })
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("token_url", &self.token_url.as_str()).finish_non_exhaustive()
    }
}
