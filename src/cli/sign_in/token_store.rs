//! The tokens of sign-ins, in files that only their user reads, one for each server, issuer and resource.
//!
//! A token is presented to the server of its file and to no other, and its refresh token to the token endpoint alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use url::Url;

use super::record::SignIn;
use toolwire_base::digest::Digest;
use toolwire_config::Client;
use toolwire_server::console::{self, Failure};

/// The folder of the files.
#[derive(Clone, Debug)]
pub(super) struct TokenStore(PathBuf);

impl TokenStore {
    /// That of the user. `None` without a home.
    pub(super) fn of_user() -> Option<Self> {
        Client::folder().map(|folder| Self::at(folder.join("tokens")))
    }

    pub(super) fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The newest sign-in at a server.
    pub(super) fn find(&self, server: &str) -> Result<Option<SignIn>, Failure> {
        let own = self.all()?.into_iter().filter(|it| it.server == server);
        Ok(own.max_by_key(|it| it.signed_in_at))
    }

    /// The same sign-in as it is kept now. Files are replaced whole.
    pub(super) fn reread(
        &self,
        SignIn { server, issuer, resource, .. }: &SignIn,
    ) -> Result<Option<SignIn>, Failure> {
        read(&self.0.join(name(server, issuer, resource)))
    }

    /// Removes the sign-ins whose tokens are for a server, or for which the person signed in at this URL, and returns
    /// how many there were.
    pub(super) async fn forget(&self, server: &str, url: &Url) -> Result<usize, Failure> {
        let is_meant = |it: &SignIn| it.server == server || it.url == *url;
        let own: Vec<_> = self.all()?.into_iter().filter(is_meant).collect();
        for SignIn { server, issuer, resource, .. } in &own {
            self.lock(server, issuer, resource).await?.remove()?;
        }
        Ok(own.len())
    }

    /// Locks the sign-in at a server, issuer and resource, which there need not be, against other processes.
    pub(super) async fn lock(
        &self,
        server: &str,
        issuer: &str,
        resource: &str,
    ) -> Result<LockedSignIn, Failure> {
        let path = self.0.join(name(server, issuer, resource));
        let store = self.clone();
        let locked = tokio::task::spawn_blocking(move || {
            let lock = || -> io::Result<File> {
                store.make()?;
                let file = private().open(path.with_extension("lock"))?;
                file.lock()?;
                Ok(file)
            };
            match lock() {
                Ok(file) => Ok(LockedSignIn { path, _lock: file }),
                Err(error) => Err(failed(&path, &error)),
            }
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
            let text = match fs::read(&path) {
                // Another process has removed it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                text => text.map_err(|error| failed(&path, &error))?,
            };
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

/// A sign-in that no other process changes until this is dropped.
#[derive(Debug)]
pub(super) struct LockedSignIn {
    path: PathBuf,
    _lock: File,
}

impl LockedSignIn {
    /// The sign-in, if one is kept.
    pub(super) fn read(&self) -> Result<Option<SignIn>, Failure> {
        read(&self.path)
    }

    /// Replaces it, whole or not at all.
    pub(super) fn keep(&self, sign_in: &SignIn) -> Result<(), Failure> {
        let draft = self.draft();
        let write = || -> io::Result<()> {
            let mut file = private().truncate(true).open(&draft)?;
            file.write_all(sign_in.to_json().as_bytes())?;
            file.sync_all()?;
            fs::rename(&draft, &self.path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&draft);
            self.failed(&error)
        })
    }

    fn remove(&self) -> Result<(), Failure> {
        for path in [&self.draft(), &self.path] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(self.failed(&error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// What is written before it replaces the file. A process that was killed may have left one.
    fn draft(&self) -> PathBuf {
        self.path.with_extension("draft")
    }

    fn failed(&self, error: &io::Error) -> Failure {
        failed(&self.path, error)
    }
}

fn read(path: &Path) -> Result<Option<SignIn>, Failure> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, &error)),
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
    }
}

/// Opens files for writing that only their user reads.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
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

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn sign_in(server: &str, issuer: &str, signed_in_at: u64) -> SignIn {
        let (server, issuer) = (server.to_owned(), issuer.to_owned());
        SignIn { server, issuer, signed_in_at, ..SignIn::example() }
    }

    async fn forget(store: &TokenStore, server: &str) -> usize {
        store.forget(server, &"https://other.example/mcp".parse().unwrap()).await.unwrap()
    }

    async fn keep(store: &TokenStore, sign_in: &SignIn) {
        let SignIn { server, issuer, resource, .. } = sign_in;
        store.lock(server, issuer, resource).await.unwrap().keep(sign_in).unwrap();
    }

    /// The names of the files that hold tokens.
    fn files(store: &TokenStore) -> Vec<PathBuf> {
        let all = fs::read_dir(&store.0).unwrap().flatten().map(|entry| entry.path());
        all.filter(|path| path.extension().is_none_or(|it| it != "lock")).collect()
    }

    #[tokio::test]
    async fn a_token_is_kept_for_its_server_in_a_file_of_its_user_alone() {
        let directory = tempfile::tempdir().unwrap();
        let store = TokenStore::at(directory.path().join("toolwire/tokens"));
        assert!(store.find("https://a.example").unwrap().is_none());
        for sign_in in [
            sign_in("https://a.example", "one", 1),
            sign_in("https://a.example", "two", 2),
            sign_in("https://b.example", "one", 3),
        ] {
            keep(&store, &sign_in).await;
            keep(&store, &sign_in).await;
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
        assert_eq!(files(&store).len(), 3);
        assert!(!format!("{found:?}").contains("t0ken"));
        assert_eq!(forget(&store, "https://a.example").await, 2);
        assert!(store.find("https://a.example").unwrap().is_none());
        assert!(store.find("https://b.example").unwrap().is_some());
        // Where the person signed in is remembered better than the address of gRPC.
        let url = SignIn::example().url;
        assert_eq!((store.forget("https://c.example", &url).await.unwrap(), files(&store).len()), (1, 0));
    }

    #[tokio::test]
    async fn what_a_killed_process_left_is_replaced_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let store = TokenStore::at(directory.path().to_owned());
        let sign_in = sign_in("https://a.example", "one", 1);
        keep(&store, &sign_in).await;
        let draft = files(&store)[0].with_extension("draft");
        for text in ["half of a longer sign-in".repeat(100), String::new()] {
            fs::write(&draft, text).unwrap();
            keep(&store, &sign_in).await;
            assert!(store.find("https://a.example").unwrap().is_some());
        }
        fs::write(&draft, "t0ken").unwrap();
        forget(&store, "https://a.example").await;
        assert!(files(&store).is_empty());
    }

    #[tokio::test]
    async fn who_forgets_a_sign_in_waits_for_the_process_that_refreshes_it() {
        let directory = tempfile::tempdir().unwrap();
        let store = TokenStore::at(directory.path().to_owned());
        let sign_in = sign_in("https://a.example", "one", 1);
        keep(&store, &sign_in).await;
        let locked = store.lock(&sign_in.server, &sign_in.issuer, &sign_in.resource).await.unwrap();
        let forget = forget(&store, "https://a.example");
        let refresh = async move {
            locked.keep(&sign_in).unwrap();
            drop(locked);
        };
        // It is kept again after the other has begun, and is gone all the same.
        let (forgotten, ()) = tokio::join!(forget, refresh);
        assert_eq!((forgotten, files(&store).len()), (1, 0));
    }
}
