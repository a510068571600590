//! A real server on a free port, within the test's process.

use std::net::SocketAddr;

use prost::Message;
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};
use tonic::transport::{Channel, Endpoint};
use toolwire::{
    config::Config,
    contract::proto::v1::{ToolDefinition, tool_service_client::ToolServiceClient},
    domains::brokerage::proto::v1::brokerage_service_client::BrokerageServiceClient,
    server::{
        app::{App, Listeners},
        faces::{grpc, http},
    },
    transport::Report,
};

use super::state;

/// A running server. It ends with the test's runtime, or by `shut_down`.
pub struct Server {
    pub address: SocketAddr,
    /// Where HTTP is spoken, if it is configured.
    pub http: Option<SocketAddr>,
    pub app: App,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Report>,
    /// Goes when the server goes, unless the test brings its own.
    _state: Option<TempDir>,
}

/// The defaults, with the diagnostics tools, on a free port.
pub fn config() -> Config {
    let mut config = Config::default();
    config.server.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    config.server.diagnostics = true;
    config
}

/// The definition that an answer carries encoded.
pub fn definition(encoded: &[u8]) -> ToolDefinition {
    assert!(!encoded.is_empty(), "no definition");
    ToolDefinition::decode(encoded).expect("a definition")
}

/// The same, with HTTP on another free port.
pub fn config_with_http() -> Config {
    let mut config = config();
    config.http.listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    config
}

impl Server {
    pub fn start() -> Self {
        Self::with(config())
    }

    pub fn with(mut config: Config) -> Self {
        let state = tempfile::tempdir().expect("a directory");
        if config.state.dir.is_none() {
            state::put_empty(state.path());
            config.state.dir = Some(state.path().to_owned());
        }
        let server = Self::of(App::build(&config, &toolwire::domains::bundled()).expect("starts"), config);
        Self { _state: Some(state), ..server }
    }

    pub fn of(app: App, config: Config) -> Self {
        let listener = grpc::bind(&config.server).expect("binds");
        let address = listener.local_addr().expect("bound");
        let http =
            config.http.listen.map(|listen| http::bind(listen, &config.http, &config.server).expect("binds"));
        let http_address = http.as_ref().map(|http| http.local_addr().expect("bound"));
        let (stop, stopped) = oneshot::channel();
        let listeners = Listeners { grpc: listener, http, admin: None };
        let serving = app.clone();
        let served = tokio::spawn(async move {
            // A test that drops the server without a word lets it run on.
            let shutdown = async move {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            Box::pin(serving.serve(&config, listeners, shutdown)).await
        });
        Self { address, http: http_address, app, stop, served, _state: None }
    }

    pub async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).expect("an address");
        endpoint.connect().await.expect("connects")
    }

    pub async fn tools(&self) -> ToolServiceClient<Channel> {
        ToolServiceClient::new(self.channel().await)
    }

    pub async fn brokerage(&self) -> BrokerageServiceClient<Channel> {
        BrokerageServiceClient::new(self.channel().await)
    }

    /// Asks the server to end, and waits until it has.
    pub async fn shut_down(self) -> Report {
        self.stop.send(()).expect("running");
        self.served.await.expect("no panic")
    }
}
