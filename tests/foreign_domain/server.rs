//! The toys on a free port, within the test's process.

use std::{fs, net::SocketAddr};

use tempfile::TempDir;
use tonic::transport::{Channel, Endpoint};
use toolwire::{
    config::{self, Config, Environment, Flags, Sources},
    server::{
        app::{self, App},
        faces::grpc,
    },
};

use crate::foreign_domain::toys::toy;

/// A running server. It ends with the test's runtime.
pub(crate) struct Server {
    address: SocketAddr,
    _state: TempDir,
}

/// The configuration with the given file of settings, state in the given folder.
pub(crate) fn config(settings: &str, state: &TempDir) -> Config {
    let file = state.path().join("toolwire.toml");
    fs::write(&file, settings).unwrap();
    let flags = Flags::with_file(Some(file))
        .set("state.dir", Some(state.path().display()))
        .set("server.listen", Some("127.0.0.1:0"));
    let sources = Sources { flags, environment: Environment::default(), ..Sources::default() };
    config::load(&sources, &app::sections(&[toy()])).unwrap().config
}

impl Server {
    /// Serves nothing but the toys, with the given file of settings.
    pub(crate) fn start(settings: &str) -> Self {
        let state = tempfile::tempdir().unwrap();
        let config = config(settings, &state);
        let app = App::build(&config, &[toy()]).unwrap();
        let listener = grpc::bind(&config.server).unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { Box::pin(app.serve(&config, listener, std::future::pending())).await });
        Self { address, _state: state }
    }

    pub(crate) async fn channel(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.address)).unwrap().connect().await.unwrap()
    }
}
