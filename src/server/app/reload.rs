//! Reads the settings again while the service runs, and puts `[auth]`, `[toolsets]`, `[[quota]]` and `[calls]` into
//! force: all of them, or nothing.
//!
//! A changed file is read once it was the same in two consecutive looks, so that it may be written in parts. Files of
//! keys (`jwks_file`) are followed like the settings themselves, and settings that could not be used are tried again,
//! since it may be another file that was wrong. Not here: settings of other sections, which are those of the start, and
//! what a change means for who is connected.

use std::{
    convert::Infallible,
    fmt, fs,
    future::pending,
    iter,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    sync::Notify,
    task::spawn_blocking,
    time::{MissedTickBehavior, interval},
};

use super::{App, tree::RELOAD_INTERVAL};
use toolwire_base::{debounce::Debounce, digest::Digest};
use toolwire_config::{Auth, Config, ConfigError, Loaded};
use toolwire_engine::recordings;
use toolwire_identity::KeySource;
use toolwire_telemetry::metric;

/// What is on disk, in metrics.
const KIND: &str = "settings";
/// The most changes that one line of the log tells.
const MAX_TOLD: usize = 20;

type Load = Box<dyn Fn() -> Result<Loaded, ConfigError> + Send + Sync>;

/// The file of settings, and how it is read.
pub struct SettingsFile {
    path: PathBuf,
    load: Load,
    /// The settings of the start.
    started: Loaded,
    asked: Notify,
    watched: Mutex<Watched>,
}

/// What is followed on disk.
struct Watched {
    settings: Debounce,
    key_files: Vec<PathBuf>,
    keys: Debounce,
    /// Why the settings could not be used at the last attempt.
    problem: Option<String>,
}

/// Why the settings are read.
#[derive(Clone, Copy)]
struct Occasion {
    is_asked: bool,
    have_keys_changed: bool,
}

impl SettingsFile {
    /// Reads the settings for the first time. The file is looked at before, so that no later change of it is missed.
    pub fn open(path: PathBuf, load: Load) -> Result<Self, ConfigError> {
        let settings = Debounce::new(digest([&path]));
        let started = load()?;
        let key_files = key_files(&started.config.auth);
        let keys = Debounce::new(digest(&key_files));
        let watched = Mutex::new(Watched { settings, key_files, keys, problem: None });
        Ok(Self { path, load, started, asked: Notify::new(), watched })
    }

    /// The settings of the start.
    pub fn started(&self) -> &Loaded {
        &self.started
    }

    /// Has the file read again now, whether or not it has changed.
    pub fn read_again(&self) {
        self.asked.notify_one();
    }

    /// Why the settings are to be read, if they are.
    fn occasion(&self, is_asked: bool) -> Option<Occasion> {
        let Watched { settings, key_files, keys, .. } = &mut *self.watched();
        let have_changed = settings.is_due_of(iter::once(self.path.as_path()), || digest([&self.path]));
        let files = key_files.iter().map(PathBuf::as_path);
        let have_keys_changed = !key_files.is_empty() && keys.is_due_of(files, || digest(&*key_files));
        (is_asked || have_changed || have_keys_changed).then_some(Occasion { is_asked, have_keys_changed })
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// The same service, which reads callers, their rights and their quotas again when the file changes, and when it is
    /// asked to.
    #[must_use]
    pub fn with_settings(self, settings: Arc<SettingsFile>) -> Self {
        Self { settings: Some(settings), ..self }
    }

    /// Takes over changes of callers, their rights and their quotas for as long as it is polled.
    pub(super) async fn follow_settings(&self) -> Infallible {
        let Some(settings) = &self.settings else { return pending().await };
        metric::config_problem(KIND, false);
        let mut interval = interval(RELOAD_INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_asked = tokio::select! {
                _ = interval.tick() => false,
                () = settings.asked.notified() => true,
            };
            // Both read files, which must not block the threads that serve calls.
            let looked_at = Arc::clone(settings);
            let look = spawn_blocking(move || looked_at.occasion(is_asked));
            if let Ok(Some(occasion)) = look.await {
                let (app, settings) = (self.clone(), Arc::clone(settings));
                let _ = spawn_blocking(move || app.take_over(&settings, occasion)).await;
            }
        }
    }

    /// Puts other users, issuers and rules into force, all of them at once. Returns what differs, or why they cannot
    /// be.
    pub fn replace_auth(&self, auth: Auth) -> Result<Vec<String>, &'static str> {
        self.access.replace_auth(auth)
    }

    /// Puts the users, issuers, rules, toolsets and quotas of other settings into force, all or none. Returns what
    /// differs, or why they cannot be.
    pub fn replace_access(&self, config: &Config) -> Result<Vec<String>, &'static str> {
        let Config { auth, toolsets, quotas, .. } = config;
        self.access.replace(auth.clone(), toolsets.clone(), quotas.clone())
    }

    fn take_over(&self, settings: &SettingsFile, occasion: Occasion) {
        let read = (settings.load)().map_err(|error| error.to_string());
        let replaced = read.and_then(|loaded| {
            // Before the keys are read, so that no later change of them is missed.
            let key_files = key_files(&loaded.config.auth);
            let keys = Debounce::new(digest(&key_files));
            // Before anything is replaced: without a key nothing is.
            let recordings = recordings::Settings::new(&loaded.config.calls).map_err(|it| it.to_string())?;
            let mut changes = self.replace_access(&loaded.config)?;
            changes.extend(self.tools.recorder().replace(recordings));
            Ok((loaded, changes, key_files, keys))
        });
        metric::config_problem(KIND, replaced.is_err());
        let file = settings.path.display();
        let mut watched = settings.watched();
        match replaced {
            Ok((loaded, mut changes, key_files, keys)) => {
                (watched.key_files, watched.keys) = (key_files, keys);
                if occasion.have_keys_changed {
                    changes.push("keys of a jwks_file changed".to_owned());
                }
                if watched.problem.take().is_some() || occasion.is_asked || !changes.is_empty() {
                    tracing::info!(%file, changes = summarize(&changes), "users, rules, toolsets, quotas and recording of calls are those of the settings now");
                }
                for warning in loaded.warnings.iter().chain(&self.unmatched_patterns(&loaded.config)) {
                    tracing::warn!(at = warning.at, "{}", warning.what);
                }
                let others = loaded.changes_for_next_start(&settings.started);
                if !others.is_empty() {
                    tracing::warn!(%file, settings = summarize(&others), "these settings have changed and count from the next start");
                }
            }
            Err(error) => {
                watched.settings.try_again();
                if occasion.is_asked || watched.problem.as_ref() != Some(&error) {
                    tracing::error!(%file, %error, "the settings cannot be used; users, rules, toolsets, quotas and recording of calls stay as they were");
                }
                watched.problem = Some(error);
            }
        }
    }
}

/// Changes in words.
fn summarize(changes: &[String]) -> String {
    let told = changes.iter().take(MAX_TOLD).map(String::as_str).collect::<Vec<_>>().join("; ");
    match changes.len().saturating_sub(MAX_TOLD) {
        _ if changes.is_empty() => "none".to_owned(),
        0 => told,
        more => format!("{told}; and {more} more"),
    }
}

/// A file that cannot be read counts as empty; reading it tells why.
fn digest<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Digest {
    Digest::of_parts(files.into_iter().map(|file| fs::read(file).unwrap_or_default()))
}

fn key_files(auth: &Auth) -> Vec<PathBuf> {
    let issuers = auth.issuers.iter().map(|it| &it.tokens);
    let signers = issuers.chain(auth.trust_domains.iter().map(|it| &it.tokens));
    let files = signers.filter_map(|tokens| match &tokens.keys {
        KeySource::File(path) => Some(path.clone()),
        _ => None,
    });
    files.collect()
}

/// The settings may hold secrets.
impl fmt::Debug for SettingsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsFile").field("path", &self.path).finish_non_exhaustive()
    }
}
