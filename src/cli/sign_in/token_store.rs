//! The tokens of sign-ins, in files that only their user reads, one for each server, issuer and resource.
//!
//! A token is presented to the server of its file and to no other, and its refresh token to the token endpoint alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    process,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::token_answer::Tokens;
use toolwire_base::digest::Digest;
use toolwire_config::Client;
use toolwire_server::console::{self, Failure};

/// A token is refreshed when less than this is left of its life, or half of a shorter one.
const MARGIN: Duration = Duration::from_mins(1);

/// What is kept of a sign-in.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SignIn {
    /// The origin of the server that the token is presented to.
    pub(super) server: String,
    pub(super) issuer: String,
    pub(super) resource: String,
    /// Where the person signed in.
    pub(super) url: Url,
    pub(super) token_endpoint: Url,
    pub(super) client_id: String,
    pub(super) scope: String,
    pub(super) access_token: SecretString,
    pub(super) refresh_token: Option<SecretString>,
    /// In seconds since 1970, as the others.
    pub(super) signed_in_at: u64,
    pub(super) issued_at: u64,
    /// Unless the issuer does not say.
    pub(super) expires_at: Option<u64>,
}

impl SignIn {
    /// The same with tokens that replace its own.
    pub(super) fn with(self, tokens: Tokens, now: SystemTime) -> Self {
        let Tokens { access, refresh, life, scope } = tokens;
        let issued_at = seconds(now);
        Self {
            access_token: access,
            refresh_token: refresh.or(self.refresh_token),
            scope: scope.unwrap_or(self.scope),
            issued_at,
            expires_at: life.map(|life| issued_at.saturating_add(life.as_secs())),
            ..self
        }
    }

    /// Whether the access token is valid, as far as is known.
    pub(super) fn is_valid(&self, now: SystemTime) -> bool {
        self.expires_at.is_none_or(|end| seconds(now) < end)
    }

    /// Whether the access token is to be replaced.
    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|end| {
            let margin = MARGIN.as_secs().min(end.saturating_sub(self.issued_at) / 2);
            seconds(now) >= end.saturating_sub(margin)
        })
    }

    fn to_json(&self) -> String {
        let exposed = |token: &SecretString| token.expose_secret().to_owned();
        let value = json!({
            "server": self.server,
            "issuer": self.issuer,
            "resource": self.resource,
            "url": self.url.as_str(),
            "token_endpoint": self.token_endpoint.as_str(),
            "client_id": self.client_id,
            "scope": self.scope,
            "access_token": exposed(&self.access_token),
            "refresh_token": self.refresh_token.as_ref().map(exposed),
            "signed_in_at": self.signed_in_at,
            "issued_at": self.issued_at,
            "expires_at": self.expires_at,
        });
        format!("{value:#}\n")
    }
}

/// The folder of the files.
#[derive(Clone, Debug)]
pub(super) struct TokenStore(PathBuf);

impl TokenStore {
    /// That of the user. `None` without a home.
    pub(super) fn of_user() -> Option<Self> {
        Client::folder().map(|folder| Self(folder.join("tokens")))
    }

    /// The newest sign-in at a server.
    pub(super) fn find(&self, server: &str) -> Result<Option<SignIn>, Failure> {
        let own = self.all()?.into_iter().filter(|it| it.server == server);
        Ok(own.max_by_key(|it| it.signed_in_at))
    }

    /// The sign-in at the same server, issuer and resource, as it stands in its file now.
    pub(super) fn read(&self, server: &str, issuer: &str, resource: &str) -> Result<Option<SignIn>, Failure> {
        let path = self.0.join(name(server, issuer, resource));
        match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, &error)),
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        }
    }

    pub(super) fn keep(&self, sign_in: &SignIn) -> Result<(), Failure> {
        let path = self.0.join(name(&sign_in.server, &sign_in.issuer, &sign_in.resource));
        let draft = path.with_extension(process::id().to_string());
        let write = || -> io::Result<()> {
            self.make()?;
            let mut file = private().create_new(true).open(&draft)?;
            file.write_all(sign_in.to_json().as_bytes())?;
            fs::rename(&draft, &path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&draft);
            failed(&path, &error)
        })
    }

    /// Removes the sign-ins at a server, and returns how many there were.
    pub(super) fn forget(&self, server: &str) -> Result<usize, Failure> {
        let own: Vec<_> = self.all()?.into_iter().filter(|it| it.server == server).collect();
        for SignIn { server, issuer, resource, .. } in &own {
            let path = self.0.join(name(server, issuer, resource));
            fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
        }
        Ok(own.len())
    }

    /// Locks a sign-in against other processes, until the file is dropped.
    pub(super) async fn lock(&self, sign_in: &SignIn) -> Result<File, Failure> {
        let name = name(&sign_in.server, &sign_in.issuer, &sign_in.resource);
        let path = self.0.join(name).with_extension("lock");
        let store = self.clone();
        let locked = tokio::task::spawn_blocking(move || {
            let lock = || -> io::Result<File> {
                store.make()?;
                let file = private().create(true).truncate(false).open(&path)?;
                file.lock()?;
                Ok(file)
            };
            lock().map_err(|error| failed(&path, &error))
        });
        locked.await.expect("locking a file does not panic")
    }

    fn all(&self) -> Result<Vec<SignIn>, Failure> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| failed(&self.0, &error))?,
        };
        let mut found = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|it| it != "json") {
                continue;
            }
            let text = fs::read(&path).map_err(|error| failed(&path, &error))?;
            match serde_json::from_slice(&text) {
                Ok(sign_in) => found.push(sign_in),
                Err(_) => console::say(&format!("warning: {} is no sign-in: remove it", path.display())),
            }
        }
        Ok(found)
    }

    fn make(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&self.0)
    }
}

/// Opens files for writing that only their user reads.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The name of a file, which shows nothing of what is in it.
fn name(server: &str, issuer: &str, resource: &str) -> String {
    format!("{}.json", &Digest::of_parts([server, issuer, resource]).to_string()[..32])
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("the tokens of sign-ins cannot be used: {}: {error}", path.display()))
}

/// Seconds since 1970.
pub(super) fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn sign_in(server: &str, issuer: &str, signed_in_at: u64) -> SignIn {
        SignIn {
            server: server.to_owned(),
            issuer: issuer.to_owned(),
            resource: format!("{server}/mcp"),
            url: format!("{server}/mcp").parse().unwrap(),
            token_endpoint: "https://login.example/token".parse().unwrap(),
            client_id: "me".to_owned(),
            scope: "tools".to_owned(),
            access_token: "t0ken".into(),
            refresh_token: None,
            signed_in_at,
            issued_at: 1_000,
            expires_at: None,
        }
    }

    fn tokens(life: Option<u64>, refresh: Option<&str>) -> Tokens {
        let life = life.map(Duration::from_secs);
        Tokens { access: "other".into(), refresh: refresh.map(SecretString::from), life, scope: None }
    }

    #[test]
    fn a_token_is_due_a_minute_before_its_end_or_after_half_its_life() {
        let of = |life| sign_in("https://a.example", "i", 0).with(tokens(life, None), at(2_000));
        let long = of(Some(600));
        assert!(!long.is_due(at(2_539)) && long.is_due(at(2_540)) && long.is_valid(at(2_599)));
        assert!(!long.is_valid(at(2_600)));
        let short = of(Some(10));
        assert!(!short.is_due(at(2_004)) && short.is_due(at(2_005)));
        assert!(!of(None).is_due(at(1 << 40)) && of(None).is_valid(at(1 << 40)));
    }

    #[test]
    fn a_refresh_token_stays_until_another_one_comes() {
        let first = sign_in("https://a.example", "i", 0).with(tokens(None, Some("r1")), at(0));
        let second = first.with(tokens(None, None), at(1));
        assert_eq!(second.refresh_token.as_ref().unwrap().expose_secret(), "r1");
        let third = second.with(tokens(None, Some("r2")), at(2));
        assert_eq!(third.refresh_token.unwrap().expose_secret(), "r2");
    }

    #[test]
    fn a_token_is_kept_for_its_server_in_a_file_of_its_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let store = TokenStore(directory.path().join("toolwire/tokens"));
        assert!(store.find("https://a.example").unwrap().is_none());
        for sign_in in [
            sign_in("https://a.example", "one", 1),
            sign_in("https://a.example", "two", 2),
            sign_in("https://b.example", "one", 3),
        ] {
            store.keep(&sign_in).unwrap();
            store.keep(&sign_in).unwrap();
        }
        let found = store.find("https://a.example").unwrap().unwrap();
        assert_eq!((found.issuer.as_str(), found.access_token.expose_secret()), ("two", "t0ken"));
        for other in ["https://a.example:8443", "http://a.example", "https://c.example", ""] {
            assert!(store.find(other).unwrap().is_none(), "{other}");
        }
        #[cfg(unix)]
        for entry in fs::read_dir(&store.0).unwrap().flatten() {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(&store.0).unwrap().count(), 3);
        assert!(!format!("{found:?}").contains("t0ken"));
        assert_eq!(store.forget("https://a.example").unwrap(), 2);
        assert!(store.find("https://a.example").unwrap().is_none());
        assert!(store.find("https://b.example").unwrap().is_some());
    }
}
