//! Limits of the server: the share of one client, and the total of all.

use std::time::Duration;

use super::{
    Network,
    reader::Reader,
    setting::Setting,
    settings::{bytes, positive, settings},
};
use toolwire_base::backlog;
use toolwire_tool::context::UnreadBounds;

/// The largest window that HTTP/2 knows.
const MAX_WINDOW: u32 = i32::MAX as u32;

settings! {
    /// What clients may take: `[server.limits]`. One user or peer gets a share of the total, so that it cannot starve
    /// the others.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ServerBounds in "server.limits" {
        /// Connections at once; fewer if the limit of open files wants it.
        max_connections: usize = 10_000, "TOOLWIRE_MAX_CONNECTIONS", as positive;
        /// Calls at once, over all connections.
        max_concurrent_calls: usize = 2_048, "TOOLWIRE_MAX_CONCURRENT_CALLS", as positive;
        /// Watches at once.
        max_watches: usize = 1_024, "TOOLWIRE_MAX_WATCHES", as positive;
        /// Slots of hosts at once, each a stream that a host holds open.
        max_work_streams: usize = 4_096, "TOOLWIRE_MAX_WORK_STREAMS", as positive;
        /// Uploads and downloads of documents at once; fewer if the limit of open files wants it.
        max_transfers: usize = 256, "TOOLWIRE_MAX_TRANSFERS", as positive;
        /// Requests at once that have begun and whose message is not complete.
        max_unfinished_requests: usize = 2_048, "TOOLWIRE_MAX_UNFINISHED_REQUESTS", as positive;
        /// Bytes that wait for all peers; beyond it the largest stream of the user with the most ends. Tools wait once
        /// their events take half of it.
        max_unread: usize = 256 * 1024 * 1024, "TOOLWIRE_MAX_UNREAD", as bytes;
        /// Streams on one connection at once.
        max_concurrent_streams: u32 = 100, "TOOLWIRE_MAX_CONCURRENT_STREAMS", as positive;
        /// Bytes that a peer may send ahead on one stream.
        stream_window: u32 = 64 * 1024, "TOOLWIRE_STREAM_WINDOW", as window;
        /// Bytes that a peer may send ahead on one connection: enough for all its streams, since one that is not read,
        /// as that of a host whose caller reads slowly, would stop the others otherwise.
        connection_window: u32 = max_concurrent_streams.saturating_mul(stream_window).clamp(1024 * 1024, MAX_WINDOW),
            "TOOLWIRE_CONNECTION_WINDOW", as window;
        /// Bytes of headers of one request.
        max_header_list: u32 = 8 * 1024, "TOOLWIRE_MAX_HEADER_LIST", as bytes;
        /// Bytes of one request message.
        max_request_bytes: usize = 1024 * 1024, "TOOLWIRE_MAX_REQUEST_BYTES", as bytes;
        /// How often a silent peer is asked whether it lives.
        keepalive_interval: Duration = Duration::from_secs(20), "TOOLWIRE_KEEPALIVE_INTERVAL", as positive;
        /// How long its answer may take.
        keepalive_timeout: Duration = Duration::from_secs(10), "TOOLWIRE_KEEPALIVE_TIMEOUT", as positive;
        /// How long a new connection may take to speak HTTP/2.
        preface_timeout: Duration = Duration::from_secs(5), "TOOLWIRE_PREFACE_TIMEOUT", as positive;
        /// Connections of one peer address at once: three quarters of all.
        max_connections_per_peer: usize = max_connections - max_connections / 4, "TOOLWIRE_MAX_CONNECTIONS_PER_PEER",
            as positive;
        /// Peers to which no bound by address applies: proxies and sidecars, behind which all clients are one peer. In
        /// the variable with commas, in the file a list of addresses and networks.
        trusted_peers: Vec<Network> = Vec::new(), "TOOLWIRE_TRUSTED_PEERS", as Reader::values;
        /// How long a connection may be silent before anybody has authenticated on it, once three quarters of all
        /// connections are taken.
        unauthenticated_timeout: Duration = Duration::from_secs(10), "TOOLWIRE_UNAUTHENTICATED_TIMEOUT", as positive;
        /// Calls of one user at once.
        max_calls_per_user: usize = max_concurrent_calls.div_ceil(2), "TOOLWIRE_MAX_CALLS_PER_USER", as positive;
        /// Calls of one user that begin before the others have their turn, while several users call.
        calls_per_turn: usize = 2, "TOOLWIRE_CALLS_PER_TURN", as positive;
        /// Watches of one user at once.
        max_watches_per_user: usize = max_watches.div_ceil(2), "TOOLWIRE_MAX_WATCHES_PER_USER", as positive;
        /// Uploads and downloads of one user at once.
        max_transfers_per_user: usize = max_transfers.div_ceil(4), "TOOLWIRE_MAX_TRANSFERS_PER_USER", as positive;
        /// Requests of one user at once whose message is not complete.
        max_unfinished_per_user: usize = max_unfinished_requests.div_ceil(2), "TOOLWIRE_MAX_UNFINISHED_PER_USER",
            as positive;
        /// How long a request may take to be complete; a client stream, to bring its first message.
        request_timeout: Duration = Duration::from_secs(10), "TOOLWIRE_REQUEST_TIMEOUT", as positive;
        /// How long a client stream may bring nothing after that.
        stream_idle_timeout: Duration = Duration::from_secs(30), "TOOLWIRE_STREAM_IDLE_TIMEOUT", as positive;
        /// Bytes of events of one stream that its reader has not taken; beyond it the tool waits.
        max_unread_per_stream: usize = 1024 * 1024, "TOOLWIRE_MAX_UNREAD_PER_STREAM", as bytes;
        /// Bytes that wait for the peer of one connection; beyond it its largest stream ends.
        max_unread_per_connection: usize = max_unread.div_ceil(2), "TOOLWIRE_MAX_UNREAD_PER_CONNECTION", as bytes;
        /// Bytes that wait for one user; beyond it the largest stream of the user ends. Tools wait once their events
        /// take half of it.
        max_unread_per_user: usize = max_unread.div_ceil(4), "TOOLWIRE_MAX_UNREAD_PER_USER", as bytes;
        /// When a connection is asked to move on.
        max_connection_age: Duration = Duration::from_mins(30), "TOOLWIRE_MAX_CONNECTION_AGE", as positive;
    }
}

impl ServerBounds {
    /// The events for which tools do not wait yet. The other half of the bounds is for what cannot wait: results, the
    /// frames on the way, and an event that each waiting tool has in hand.
    pub fn unread(&self) -> UnreadBounds {
        UnreadBounds {
            stream: self.max_unread_per_stream,
            user: self.max_unread_per_user.div_ceil(2),
            all: self.max_unread.div_ceil(2),
        }
    }

    /// What may wait for peers at all.
    pub fn backlog(&self) -> backlog::Bounds {
        backlog::Bounds {
            connection: self.max_unread_per_connection,
            user: self.max_unread_per_user,
            all: self.max_unread,
        }
    }
}

fn window(reader: &mut Reader, setting: Setting, default: u32) -> u32 {
    let key = setting.key.clone();
    let bytes = bytes(reader, setting, default);
    if bytes > MAX_WINDOW {
        reader.problem(&key, "must be at most 2147483647 bytes, as HTTP/2 demands");
    }
    bytes
}
