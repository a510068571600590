//! Uploads that a client breaks off.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use h2::Reason;
use tempfile::TempDir;
use tokio::{net::TcpStream, task::yield_now, time::timeout};
use uuid::Uuid;

use super::{get, post, value};
use crate::{
    http::raw::Raw,
    support::server::{Server, config_with_http},
};

/// More than a document that is kept in the database.
const LARGE: usize = 200_000;
/// Less than that.
const SMALL: usize = 10;

async fn document(server: &Server) -> String {
    let key = format!("idempotency-key: {}", Uuid::new_v4());
    let begun = value(&post(server, "/v1/tasks", &[&key], r#"{"request": "x", "role": "analyst"}"#).await);
    format!("/v1/workspaces/{}/documents/a.txt", begun["task"]["task_id"].as_str().unwrap())
}

/// A server, and where it keeps the bytes of documents.
fn with_blobs() -> (Server, PathBuf, TempDir) {
    let (mut config, state) = (config_with_http(), tempfile::tempdir().unwrap());
    config.state.dir = Some(state.path().to_owned());
    (Server::with(config), state.path().join("blobs"), state)
}

/// How many files are below a directory.
fn files(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

/// Waits until there are as many files, as one is while an upload comes and stays if it is stored.
async fn has(blobs: &Path, count: usize) {
    let reached = async {
        while files(blobs) != count {
            yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), reached).await.unwrap_or_else(|_| panic!("never {count} files"));
}

/// hyper takes the one for the end of the body, and tonic the other.
#[tokio::test]
async fn half_an_upload_over_http2_is_no_document() {
    let (server, blobs, _state) = with_blobs();
    let reasons = [Reason::NO_ERROR, Reason::CANCEL, Reason::INTERNAL_ERROR];
    for (reason, size) in reasons.into_iter().flat_map(|reason| [(reason, SMALL), (reason, LARGE)]) {
        let path = document(&server).await;
        let socket = TcpStream::connect(server.http.unwrap()).await.unwrap();
        let (sender, connection) = h2::client::handshake(socket).await.unwrap();
        let connection = tokio::spawn(connection);
        let request = http::Request::put(format!("http://localhost{path}"))
            .header("content-type", "text/plain")
            .header("idempotency-key", Uuid::new_v4().to_string());
        let mut sender = sender.ready().await.unwrap();
        let (answer, mut body) = sender.send_request(request.body(()).unwrap(), false).unwrap();
        body.reserve_capacity(size);
        let mut left = size;
        while left > 0 {
            let capacity =
                std::future::poll_fn(|cx| body.poll_capacity(cx)).await.unwrap().unwrap().min(left);
            body.send_data(Bytes::from(vec![b'x'; capacity]), false).unwrap();
            left -= capacity;
        }
        has(&blobs, usize::from(size == LARGE)).await;
        body.send_reset(reason);
        assert!(answer.await.is_err(), "{reason:?}");
        has(&blobs, 0).await;
        // A small document would be stored within these.
        for _ in 0..50 {
            assert_eq!(get(&server, &path, &[]).await.status, 404, "{reason:?} {size}");
        }
        connection.abort();
    }
}

#[tokio::test]
async fn half_an_upload_over_http1_is_no_document() {
    let (server, blobs, _state) = with_blobs();
    for framing in ["content-length: 1000000", "transfer-encoding: chunked"] {
        let path = document(&server).await;
        let mut raw = Raw::connect(server.http.unwrap()).await;
        let key = Uuid::new_v4();
        let head = format!(
            "PUT {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\nidempotency-key: {key}\r\n{framing}\r\n\r\n"
        );
        raw.say(head).await;
        raw.say(format!("{LARGE:x}\r\n{}\r\n", "x".repeat(LARGE))).await;
        has(&blobs, 1).await;
        drop(raw);
        has(&blobs, 0).await;
        assert_eq!(get(&server, &path, &[]).await.status, 404);
    }
}
