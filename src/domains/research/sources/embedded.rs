//! The embedded twin of every HTTP source: an origin on the loopback interface that answers from `data/research/` in each
//! source's own wire format, so that connectors run the same code with and without the network.
//!
//! It behaves like the real thing where a connector can notice: handshakes, cookies, refusals, pages, cut lists. It keeps no
//! state, sets no limits, and is never slow or broken. What it answers is invented: see `data/research/README.md`.

mod asked;
mod data;
mod news;
mod nse;
mod query;
mod reddit;
mod reply;
mod screener;
#[cfg(test)]
mod tests;
mod valuepickr;
mod yahoo;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
    thread::{self, JoinHandle},
};

use axum::Router;
use http::StatusCode;
use tokio::{runtime, sync::oneshot};
use url::Url;

use self::data::Data;
use crate::files::Tree;

/// The running origin. Dropping it closes its port and ends its thread.
#[derive(Debug)]
pub struct Origin {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Origin {
    /// Binds a free port of the loopback interface and serves `research/` of the given tree.
    ///
    /// A tree without that directory, such as one that holds only an operator's manifests, leaves the binary's own in place:
    /// it is all of the one or all of the other, so that prices and posts of two trees are never mixed.
    pub fn start(tree: Tree) -> io::Result<Self> {
        let tree = if tree.has_directory(data::ROOT) { tree } else { Tree::Embedded };
        let routes = routes(Arc::new(Data::load(tree)?));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        // Its own runtime: it outlives any of the caller's, and a caller that blocks cannot stop it.
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("embedded-origin".to_owned())
            .spawn(move || runtime.block_on(serve(listener, routes, stopped)))?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// The base address of a source: `http://127.0.0.1:PORT/<prefix>/`. Prefixes: `yahoo`, `yahoo-cookie`, `valuepickr`,
    /// `reddit`, `reddit-token`, `moneycontrol`, `economictimes`, `googlenews`, `screener`, `nse`.
    pub fn base(&self, prefix: &str) -> Url {
        let text = format!("http://{}/{prefix}/", self.address);
        Url::parse(&text).expect("an address and a word make a URL")
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends at its next turn, whatever its connections do. A panic there was reported by the thread itself.
            let _ = thread.join();
        }
    }
}

fn routes(data: Arc<Data>) -> Router {
    Router::new()
        .merge(yahoo::routes())
        .merge(valuepickr::routes())
        .merge(reddit::routes())
        .merge(news::routes())
        .merge(screener::routes())
        .merge(nse::routes())
        .fallback(|| async { reply::page(StatusCode::NOT_FOUND, "<html><title>Not Found</title></html>") })
        .with_state(data)
}

async fn serve(listener: TcpListener, routes: Router, stopped: oneshot::Receiver<()>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the embedded sources cannot be served"),
    };
    tokio::select! {
        // Never ends by itself, and retries when accepting fails.
        _ = axum::serve(listener, routes).into_future() => {}
        _ = stopped => {}
    }
}
