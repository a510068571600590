//! A server that gives recorded answers, one after the other, and remembers what it was asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use toolwire::config::{ConfiguredModel, Credentials, Provider};

/// One answer.
#[derive(Clone)]
pub enum Reply {
    /// A status, headers and a body.
    Whole(u16, &'static str, String),
    /// The same, but the connection is held after the body, as if more was to come.
    Stalled(String),
    /// The same, but the connection ends in the middle of the body.
    CutOff(String),
}

/// The server, and what it was asked: head and body of each request.
pub struct Stub {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    open: Arc<Mutex<usize>>,
}

/// A stream of events.
pub fn events(data: &[&str]) -> Reply {
    let body = data.iter().flat_map(|line| ["data: ", line, "\n\n"]).collect();
    Reply::Whole(200, "content-type: text/event-stream\r\n", body)
}

pub fn json(status: u16, body: &str) -> Reply {
    Reply::Whole(status, "content-type: application/json\r\n", body.to_owned())
}

impl Stub {
    pub async fn answering(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, open) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let stub = Self { address, asked: Arc::clone(&asked), open: Arc::clone(&open) };
        let mut replies = replies.into_iter().collect::<Vec<_>>().into_iter();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let reply = replies.next().unwrap_or_else(|| json(500, "{}"));
                tokio::spawn(serve(connection, reply, Arc::clone(&asked), Arc::clone(&open)));
            }
        });
        stub
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The settings of a model that it answers for.
    pub fn model(&self, provider: Provider, credentials: Credentials) -> ConfiguredModel {
        let endpoint = Some(self.url("/api").parse().unwrap());
        ConfiguredModel { endpoint, credentials, ..ConfiguredModel::new("test", provider, "test-1") }
    }

    pub fn requests(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// How many connections are held.
    pub fn open(&self) -> usize {
        *self.open.lock().unwrap()
    }
}

async fn serve(
    mut connection: TcpStream,
    reply: Reply,
    asked: Arc<Mutex<Vec<String>>>,
    open: Arc<Mutex<usize>>,
) {
    let request = read(&mut connection).await;
    asked.lock().unwrap().push(request);
    *open.lock().unwrap() += 1;
    match reply {
        Reply::Whole(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = connection.write_all(format!("{head}{body}").as_bytes()).await;
            let _ = connection.shutdown().await;
        }
        Reply::Stalled(body) => {
            let head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = connection.write_all(format!("{head}{body}").as_bytes()).await;
            // Until the other side goes.
            let _ = tokio::time::timeout(Duration::from_secs(30), connection.read(&mut [0])).await;
        }
        Reply::CutOff(body) => {
            let head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n";
            let _ = connection.write_all(format!("{head}{body}").as_bytes()).await;
        }
    }
    *open.lock().unwrap() -= 1;
}

async fn read(connection: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 8_192];
    loop {
        let count = connection.read(&mut piece).await.unwrap_or_default();
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if count == 0 {
                return text;
            }
            continue;
        };
        let mut length = head
            .lines()
            .filter_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
        if count == 0 || body.len() >= length.next_back().unwrap_or_default() {
            return text;
        }
    }
}
