//! Uploads that do not end well: nothing of them is stored.

use std::future;

use futures_util::{StreamExt, stream};
use rustix::process::{Resource, Rlimit, prlimit};
use tonic::Code;
use toolwire::{
    contract::proto::workspace::v1::{
        PutDocumentRequest, PutHeader, put_document_request::Part,
        workspace_service_client::WorkspaceServiceClient,
    },
    state::Store,
};

use super::{House, Person, hex, refused, root, said};
use crate::support::program::Program;

#[tokio::test]
async fn a_digest_that_differs_stores_nothing() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    for size in [10, 300_000] {
        let bytes = vec![7; size];
        let header = PutHeader { digest: hex(b"other"), ..riley.header("a.bin") };
        let found = refused(riley.put_with(header, &bytes).await);
        assert_eq!(found, said(Code::InvalidArgument, "DIGEST_MISMATCH"));
        assert_eq!(refused(riley.get("a.bin").await), said(Code::NotFound, "UNKNOWN_DOCUMENT"));
        assert_eq!((house.files().len(), house.count("SELECT COUNT(*) FROM blobs").await), (0, 0));
        let header = PutHeader { digest: hex(&bytes).to_uppercase(), ..riley.header("good.bin") };
        riley.put_with(header, &bytes).await.unwrap();
        riley.delete("good.bin", "").await.unwrap();
        std::fs::remove_dir_all(house.state.path().join("blobs")).ok();
        let mut change = house.state().change(toolwire::db::Durability::Process).await.unwrap();
        for table in ["DELETE FROM versions", "DELETE FROM documents", "DELETE FROM blobs"] {
            sqlx::query(table).execute(change.sqlite().unwrap()).await.unwrap();
        }
        change.commit().await.unwrap();
    }
}

#[tokio::test]
async fn a_stream_that_breaks_stores_nothing() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    let parts =
        [Part::Header(riley.header("a.bin")), Part::Chunk(vec![1; 300_000]), Part::Chunk(vec![2; 300_000])];
    let (sent, mut all_sent) = tokio::sync::mpsc::unbounded_channel();
    let parts = stream::iter(parts).chain(stream::once(async move {
        // The parts before this one were taken.
        sent.send(()).unwrap();
        future::pending().await
    }));
    let request = riley.request(parts.map(|part| PutDocumentRequest { part: Some(part) }));
    let mut client = riley.client.clone();
    let upload = tokio::spawn(async move { client.put_document(request).await });
    all_sent.recv().await.unwrap();
    while house.files().is_empty() {
        tokio::task::yield_now().await;
    }
    upload.abort();
    while !house.files().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(refused(riley.get("a.bin").await), said(Code::NotFound, "UNKNOWN_DOCUMENT"));
    assert_eq!(house.count("SELECT COUNT(*) FROM blobs").await, 0);
}

#[tokio::test]
async fn parts_in_another_order_and_pieces_that_are_too_long_are_refused() {
    let house = House::open();
    let riley = house.person("riley").await;
    let header = || Part::Header(riley.header("a.bin"));
    let refusal = said(Code::InvalidArgument, "INVALID_REQUEST");
    for parts in [
        vec![],
        vec![Part::Chunk(vec![1])],
        vec![header(), header()],
        vec![header(), Part::Chunk(vec![1; 512 * 1024 + 1])],
    ] {
        assert_eq!(refused(riley.put_parts(parts).await), refusal);
    }
    let too_large = PutHeader { size_bytes: (256 << 20) + 1, ..riley.header("a.bin") };
    let found = refused(riley.put_with(too_large, b"").await);
    assert_eq!(found, said(Code::ResourceExhausted, "QUOTA_EXCEEDED"));
    assert_eq!(house.count("SELECT COUNT(*) FROM documents").await, 0);
    assert_eq!(riley.put("empty", b"").await.unwrap().size_bytes, 0);
    assert_eq!(riley.get("empty").await.unwrap().1, b"");
}

#[tokio::test]
async fn quotas_are_kept_and_said() {
    use tonic_types::StatusExt;
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    riley.put("a.bin", b"one").await.unwrap();
    let set = async |statement: &'static str| {
        let mut change = house.state().change(toolwire::db::Durability::Process).await.unwrap();
        sqlx::query(statement).execute(change.sqlite().unwrap()).await.unwrap();
        change.commit().await.unwrap();
    };
    let exceeded = async |path: &str| {
        let status = riley.put(path, b"two").await.unwrap_err();
        let violation = status.get_details_quota_failure().unwrap().violations.remove(0);
        (status.code(), violation.subject)
    };
    let of_tree = (Code::ResourceExhausted, format!("workspace:{}", riley.task));
    set("UPDATE workspaces SET documents = 10000").await;
    assert_eq!(exceeded("b.bin").await, of_tree);
    riley.put("a.bin", b"another version is no other document").await.unwrap();
    set("UPDATE workspaces SET documents = 1, bytes = (1 << 30) - 2").await;
    assert_eq!(exceeded("a.bin").await, of_tree);
    set("UPDATE workspaces SET bytes = 0").await;
    set("INSERT INTO workspaces (root, user_id, bytes) VALUES ('other', 'riley', 5 * (1 << 30))").await;
    assert_eq!(exceeded("a.bin").await, (Code::ResourceExhausted, "user:riley".to_owned()));
    set("DELETE FROM workspaces WHERE root = 'other'").await;
    set("UPDATE documents SET version = 1000").await;
    assert_eq!(exceeded("a.bin").await, (Code::ResourceExhausted, "document:a.bin".to_owned()));
    assert!(riley.delete("a.bin", "").await.unwrap().deleted);
}

#[tokio::test]
async fn a_full_disk_is_said_and_nothing_is_stored_until_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let task = root(&Store::at(directory.path()), "demo", false).await;
    let program = Program::with_limited_files(&["--state", directory.path().to_str().unwrap()]).await;
    let client = WorkspaceServiceClient::new(program.channel().await);
    let demo = Person { client, name: "demo", task };
    demo.put("small.txt", b"small").await.unwrap();
    let limit = |bytes| {
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(Some(program.pid()), Resource::Fsize, limit).unwrap();
    };
    let large = vec![7; 300_000];
    limit(Some(100_000));
    let full = said(Code::Unavailable, "STATE_UNAVAILABLE");
    assert_eq!(refused(demo.put("large.bin", &large).await), full);
    assert_eq!(super::files(&directory.path().join("blobs")), Vec::<String>::new());
    assert_eq!(demo.get("small.txt").await.unwrap().1, b"small", "what is there can be read");
    assert_eq!(refused(demo.get("large.bin").await), said(Code::NotFound, "UNKNOWN_DOCUMENT"));
    limit(None);
    demo.put("large.bin", &large).await.unwrap();
    assert!(demo.get("large.bin").await.unwrap().1 == large);
}
