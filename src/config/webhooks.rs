//! Webhooks for confirmations: `[[confirmations.webhooks]]`. They are set in the file only; their secrets in variables.

use std::{fmt, time::Duration};

use data_encoding::BASE64;
use secrecy::{ExposeSecret, SecretBox};
use url::{Host, Url};

use super::{
    fields::Fields,
    reader::Reader,
    value::{HIDDEN, Value},
};
use toolwire_outgoing::names_link_local_or_metadata;

/// What the secrets of webhooks begin with.
const PREFIX: &str = "whsec_";

/// Length of a secret in bytes, as Standard Webhooks demands.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// The events of a webhook.
const EVENTS: [&str; 3] = ["requested", "decided", "expired"];

/// A webhook for confirmations.
#[derive(Clone)]
pub struct Webhook {
    /// The address: https, or http on this machine. Only its origin is ever shown. Required.
    pub url: Url,
    /// The keys of its signatures, one or, while one is replaced, two. Required: `secrets_env` with the names of the
    /// variables that hold them, each `whsec_` and base64 of 24 to 64 bytes.
    pub secrets: Vec<Secret>,
    /// Its events: any of `requested`, `decided`, `expired`. Default all.
    pub events: Vec<String>,
    /// Whether it receives the arguments. Default `false`.
    pub arguments: bool,
    /// How long after each attempt the next one is. Not a setting.
    pub retries: Vec<Duration>,
}

/// The key of a signature.
pub type Secret = std::sync::Arc<SecretBox<Vec<u8>>>;

impl Webhook {
    /// One that receives all events, without arguments.
    pub fn new(url: Url, secrets: Vec<Secret>) -> Self {
        let retries = [5, 30, 120, 600].map(Duration::from_secs).into();
        Self { url, secrets, events: EVENTS.map(ToOwned::to_owned).into(), arguments: false, retries }
    }

    pub(super) fn read_all(reader: &mut Reader) -> Vec<Self> {
        let mut webhooks: Vec<Self> = Vec::new();
        for mut entry in reader.list("confirmations.webhooks") {
            let webhook = Self::read(&mut entry, reader);
            if let Some(webhook) = &webhook
                && webhooks.iter().any(|other| other.url == webhook.url)
            {
                entry.problem("url is that of an earlier entry too; make them one");
            }
            if reader.end(entry) {
                webhooks.extend(webhook);
            }
        }
        for webhook in &webhooks {
            webhook.show(reader);
        }
        webhooks
    }

    fn read(entry: &mut Fields, reader: &mut Reader) -> Option<Self> {
        let url: Option<String> = entry.required("url");
        let names: Option<Vec<String>> = entry.required("secrets_env");
        let (events, arguments) = (entry.optional::<Vec<String>>("events"), entry.optional("arguments"));
        let url = url.and_then(|url| address(&url).map_err(|what| entry.problem(what)).ok());
        let secrets =
            names.and_then(|names| secrets(&names, reader).map_err(|what| entry.problem(what)).ok());
        if let Some(bad) = events.iter().flatten().find(|event| !EVENTS.contains(&event.as_str())) {
            entry.problem(format!("events must be of {}, but there is {bad:?}", EVENTS.join(", ")));
        }
        let mut webhook = Self::new(url?, secrets?);
        webhook.events = events.unwrap_or(webhook.events);
        webhook.arguments = arguments.unwrap_or(false);
        Some(webhook)
    }

    fn show(&self, reader: &mut Reader) {
        let url = without_secrets(&self.url).to_toml();
        let shown =
            [("url", url), ("events", self.events.to_toml()), ("arguments", self.arguments.to_toml())];
        reader.show_entry("[[confirmations.webhooks]]", &shown);
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("url", &without_secrets(&self.url)).finish_non_exhaustive()
    }
}

/// The origin. Services of chats have their secret in the path or in the query.
fn without_secrets(url: &Url) -> String {
    let origin = url.origin().ascii_serialization();
    match (url.path(), url.query()) {
        ("/", None) => format!("{origin}/"),
        _ => format!("{origin}/{HIDDEN}"),
    }
}

/// Parses an address. Notifications name people's calls, so they go over TLS or stay on this machine.
fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("url cannot be read: {error}"))?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let wrong = match url.scheme() {
        // It would be sent as a header, and shown wherever the address is.
        _ if !url.username().is_empty() || url.password().is_some() => "must not hold a user or a password",
        _ if text.contains(HIDDEN) => "stands in a printed configuration: write what was hidden",
        _ if names_link_local_or_metadata(&url) => "must not be a link-local address or a metadata service",
        "https" => return Ok(url),
        "http" if is_local => return Ok(url),
        _ => "must be https://…, or http://… on this machine",
    };
    Err(format!("url {wrong}"))
}

fn secrets(names: &[String], reader: &mut Reader) -> Result<Vec<Secret>, String> {
    if names.is_empty() || names.len() > 2 {
        return Err("secrets_env must name one variable, or two while a secret is replaced".to_owned());
    }
    names.iter().map(|name| secret(name, reader)).collect()
}

fn secret(name: &str, reader: &mut Reader) -> Result<Secret, String> {
    let text = reader.variable(name).ok_or_else(|| {
        format!("secrets_env names {name}, which is not set; set it to {PREFIX} and base64, such as `echo {PREFIX}$(openssl rand -base64 32)` prints")
    })?;
    key(&text).ok_or_else(|| format!("{name} must hold {PREFIX} and base64 of 24 to 64 bytes"))
}

/// The key of a secret as it is written.
pub fn key(text: &str) -> Option<Secret> {
    let bytes = BASE64.decode(text.strip_prefix(PREFIX)?.as_bytes()).ok()?;
    LENGTHS.contains(&bytes.len()).then(|| std::sync::Arc::new(SecretBox::new(Box::new(bytes))))
}

pub fn bytes(secret: &Secret) -> &[u8] {
    secret.expose_secret()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, print, testing::load_text};

    #[test]
    fn what_is_sent_is_encrypted_or_stays_here() {
        for good in [
            "https://chat.example/hook?key=a",
            "https://10.0.0.7/",
            "http://localhost:8080/",
            "http://127.0.0.1/x",
            "http://[::1]/",
        ] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in
            ["http://chat.example/", "ftp://localhost/", "http://10.0.0.7/", "chat", "http://localhost.evil/"]
        {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_holds_no_credentials_and_is_none_of_the_machine_alone() {
        for bad in [
            "https://user@chat.example/",
            "https://user:s3cret@chat.example/",
            "https://:s3cret@chat.example/",
            "https://169.254.169.254/latest/meta-data/",
            "http://169.254.169.254/",
            "https://0xa9fea9fe/",
            "https://[::ffff:169.254.169.254]/",
            "https://[fd00:ec2::254]/",
            "https://chat.example/[hidden]",
        ] {
            let error = address(bad).expect_err(bad);
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn a_path_and_a_query_are_shown_nowhere() {
        let file = "[[confirmations.webhooks]]\nurl = 'https://chat.example:8443/s3cret?token=s3cret'\nsecrets_env = ['HOOK']";
        let secret = format!("{PREFIX}{}", BASE64.encode(&[7; 32]));
        let loaded = load_text(file, &[("HOOK", &secret)], Flags::default(), &[]).unwrap();
        let printed = print(&loaded);
        assert!(printed.contains(r#"url = "https://chat.example:8443/[hidden]""#), "{printed}");
        assert!(!printed.contains("s3cret") && !format!("{loaded:?}").contains("s3cret"));
        assert_eq!(loaded.config.confirmations.webhooks[0].url.query(), Some("token=s3cret"));
    }

    #[test]
    fn a_secret_is_as_long_as_the_standard_demands() {
        let of = |length: usize| key(&format!("{PREFIX}{}", BASE64.encode(&vec![7; length])));
        assert!(of(24).is_some() && of(64).is_some());
        assert!(of(23).is_none() && of(65).is_none() && key("x").is_none() && key("whsec_!").is_none());
    }
}
