//! Reads the settings again while the service runs, and puts `[auth]`, `[toolsets]` and `[[quota]]` into force: all of
//! them, or nothing.
//!
//! A changed file is read once it was the same in two consecutive looks, so that it may be written in parts. Not here:
//! settings of other sections, which are those of the start, and what a change means for who is connected.

use std::{
    convert::Infallible,
    fmt, fs,
    future::pending,
    iter,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    sync::Notify,
    time::{MissedTickBehavior, interval},
};

use super::{App, tree::RELOAD_INTERVAL};
use toolwire_base::{debounce::Debounce, digest::Digest};
use toolwire_config::{Auth, Config, ConfigError, Loaded};
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
    debounce: Mutex<Debounce>,
}

impl SettingsFile {
    /// Reads the settings for the first time. The file is looked at before, so that no later change of it is missed.
    pub fn open(path: PathBuf, load: Load) -> Result<Self, ConfigError> {
        let digest = digest(&path);
        let started = load()?;
        let debounce = Mutex::new(Debounce::new(digest));
        Ok(Self { path, load, started, asked: Notify::new(), debounce })
    }

    /// The settings of the start.
    pub fn started(&self) -> &Loaded {
        &self.started
    }

    /// Has the file read again now, whether or not it has changed.
    pub fn read_again(&self) {
        self.asked.notify_one();
    }

    /// Whether the file is to be read.
    fn is_due(&self) -> bool {
        let mut debounce = self.debounce.lock().unwrap_or_else(PoisonError::into_inner);
        debounce.is_due_of(iter::once(self.path.as_path()), || digest(&self.path))
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
            // It reads files, which must not block the threads that serve calls.
            let looked = Arc::clone(settings);
            let is_due = tokio::task::spawn_blocking(move || looked.is_due()).await;
            if is_asked || is_due.unwrap_or(false) {
                let (app, settings) = (self.clone(), Arc::clone(settings));
                let _ = tokio::task::spawn_blocking(move || app.take_over(&settings, is_asked)).await;
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

    fn take_over(&self, settings: &SettingsFile, is_asked: bool) {
        let read = (settings.load)().map_err(|error| error.to_string());
        let replaced = read.and_then(|loaded| {
            let changes = self.replace_access(&loaded.config)?;
            Ok((loaded, changes))
        });
        metric::config_problem(KIND, replaced.is_err());
        let file = settings.path.display();
        match replaced {
            Ok((loaded, changes)) => {
                if is_asked || !changes.is_empty() {
                    tracing::info!(%file, changes = summarize(&changes), "users, rules, toolsets and quotas are those of the settings now");
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
                tracing::error!(%file, %error, "the settings cannot be used; users, rules, toolsets and quotas stay as they were");
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

/// One that cannot be read counts as empty; reading it tells why.
fn digest(path: &PathBuf) -> Digest {
    Digest::of_bytes(&fs::read(path).unwrap_or_default())
}

/// The settings may hold secrets.
impl fmt::Debug for SettingsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsFile").field("path", &self.path).finish_non_exhaustive()
    }
}
