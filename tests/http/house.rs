//! The bundled server with its own routes, in which adding to the watch-list needs a person's approval.

use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;
use toolwire::{config::Config, domains, server::app::App};

use crate::{
    http::talk::Talk,
    support::{
        data_directory, patch_json, save,
        server::{Server, config_with_http},
    },
};

/// A server with both listeners. It ends with the test's runtime.
pub(crate) struct House {
    pub(crate) server: Server,
    data: TempDir,
    _state: TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// Waits until exactly this number of calls is running. A write counts twice once its work has begun.
    pub(crate) async fn until_running(&self, count: usize) {
        let running = async {
            while self.server.app.tools.in_flight().len() != count {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_mins(1), running).await.expect("this number of calls is running");
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let (data, state) = (data_directory(), tempfile::tempdir().unwrap());
        let approved = serde_json::json!({"requires_confirmation": true});
        patch_json(&data.path().join("tools/add_to_watchlist.json"), &approved);
        let mut config = config_with_http();
        config.data.dir = Some(data.path().to_owned());
        config.state.dir = Some(state.path().to_owned());
        change(&mut config);
        let app = App::build(&config, &domains::bundled()).unwrap();
        Self { server: Server::of(app, config), data, _state: state }
    }

    /// Talks as a user.
    pub(crate) fn talk(&self, user: &str) -> Talk {
        Talk::to(self.server.http.unwrap(), user)
    }

    /// Replaces a manifest, and takes it over at once.
    pub(crate) fn replace(&self, tool: &str, manifest: &Value) {
        let path = self.data.path().join(format!("tools/{tool}.json"));
        save(&path, &manifest.to_string());
        self.server.app.refresh();
    }

    /// Changes a manifest, and takes it over at once.
    pub(crate) fn patch(&self, tool: &str, changes: &Value) {
        patch_json(&self.data.path().join(format!("tools/{tool}.json")), changes);
        self.server.app.refresh();
    }
}
