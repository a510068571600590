//! `toolwire serve`: serves the tools over gRPC until it is asked to end.

use std::{io, net::SocketAddr};

use clap::Args;
use tokio::{
    net::{TcpListener, TcpSocket},
    select,
    sync::oneshot,
};

use super::{failure::Failure, output, settings, settings::Settings, signals::Signals, wiring};
use crate::config::{self, Flags, Server};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// Serves the tools over gRPC until SIGTERM or SIGINT
///
/// Flags win over environment variables (TOOLWIRE_…), those over toolwire.toml, and that over defaults.
/// --print-config shows every setting.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Listens on ADDRESS; port 0 takes a free one [default: 127.0.0.1:50051] [env: TOOLWIRE_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Logs in this format [default: auto] [env: TOOLWIRE_LOG]
    #[arg(long, value_name = "FORMAT", value_parser = ["auto", "json", "text"])]
    log: Option<String>,
    /// Lets another process listen on the same address, for a restart without a gap [env: TOOLWIRE_REUSE_PORT]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    reuse_port: Option<bool>,
    /// Prints the effective configuration, secrets hidden, and ends
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    settings: Settings,
}

impl Serve {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let loaded = settings::load(self.flags())?;
        let config = loaded.config;
        if self.print_config {
            return output::print(&config::print(&config, &loaded.origins));
        }
        config.check_exposure()?;
        wiring::start_telemetry(&config)?;
        let plane = wiring::open(&config).await?;
        let listener = bind(&config.server)?;
        let address = listener.local_addr().map_err(|error| cannot_listen(config.server.listen, &error))?;
        let signals = Signals::install().map_err(|error| Failure::Failed(format!("no signals: {error}")))?;
        output::print(&format!("toolwire listening on {address}"))?;
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        select! {
            done = wiring::serve(plane, &config, listener, shutdown) => done,
            () = ask_twice(signals, stop) => Err(Failure::Interrupted),
        }
    }

    fn flags(&self) -> Flags {
        let flags = self.settings.flags().set("server.listen", self.listen.as_ref());
        flags.set("log.format", self.log.as_ref()).set("server.reuse_port", self.reuse_port)
    }
}

/// Asks the server to end at the first signal. Returns at the next interrupt: the person does not want to wait.
async fn ask_twice(mut signals: Signals, stop: oneshot::Sender<()>) {
    signals.either().await;
    let _ = stop.send(());
    signals.interrupt().await;
}

fn bind(server: &Server) -> Result<TcpListener, Failure> {
    let listen = || -> io::Result<TcpListener> {
        let socket = if server.listen.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(server.reuse_port)?;
        socket.bind(server.listen)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|error| cannot_listen(server.listen, &error))
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => "Another program listens there: end it, or choose another --listen",
        io::ErrorKind::PermissionDenied => "Ports below 1024 need privileges: choose another --listen",
        _ => "Choose another --listen",
    };
    Failure::Failed(format!("cannot listen on {address}: {error}. {advice}"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener as StdListener;

    use super::*;

    #[tokio::test]
    async fn an_address_in_use_says_what_to_do() {
        let taken = StdListener::bind("127.0.0.1:0").unwrap();
        let server = Server { listen: taken.local_addr().unwrap(), ..Server::default() };
        let error = bind(&server).unwrap_err();
        assert_eq!(error.code(), 1);
        assert!(error.to_string().contains("choose another --listen"), "{error}");
    }

    #[tokio::test]
    async fn port_0_takes_a_free_one() {
        let server = Server { listen: "127.0.0.1:0".parse().unwrap(), ..Server::default() };
        assert_ne!(bind(&server).unwrap().local_addr().unwrap().port(), 0);
    }
}
