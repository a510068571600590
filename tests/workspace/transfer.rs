//! Large documents: in and out in pieces, from any byte on, in bounded memory.

use std::{fs, sync::Arc};

use crate::support::state;
use futures_util::stream;
use sha2::{Digest as _, Sha256};
use tonic::{Code, Request};
use toolwire::{
    contract::proto::workspace::v1::{
        GetDocumentRequest, PutDocumentRequest, PutHeader, get_document_response, put_document_request::Part,
        workspace_service_client::WorkspaceServiceClient,
    },
    state::Store,
};

use super::{House, hex, refused, root, said};
use crate::support::program::Program;

const MIB: usize = 1024 * 1024;

/// Bytes that look like nothing, the same each time.
fn piece(number: usize) -> Vec<u8> {
    let mut seed = number as u64 + 1;
    let word = std::iter::repeat_with(move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed.to_le_bytes()
    });
    word.take(512 * 1024 / 8).flatten().collect()
}

#[tokio::test]
async fn a_download_goes_on_from_any_byte() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    let bytes: Vec<u8> = (0..3).flat_map(piece).collect();
    for (path, bytes) in [("large.bin", &bytes[..]), ("small.bin", &bytes[..1_000])] {
        riley.put(path, bytes).await.unwrap();
        for (offset, limit) in [(0, 10), (1, 0), (999, 0), (1_000, 0), (500, 7)] {
            let (from, limited) = (usize::try_from(offset).unwrap(), usize::try_from(limit).unwrap());
            let end = if limit == 0 { bytes.len() } else { from + limited };
            let wanted = GetDocumentRequest { offset, limit, ..riley.wanted(path) };
            let (document, part) = riley.get_with(wanted).await.unwrap();
            assert!(part == bytes[from..end.min(bytes.len())], "{path} from {offset}");
            assert_eq!(document.size_bytes, bytes.len() as u64);
        }
        let beyond = GetDocumentRequest { offset: 100_000_000, ..riley.wanted(path) };
        assert_eq!(refused(riley.get_with(beyond).await), said(Code::InvalidArgument, "INVALID_REQUEST"));
    }
    // The large one is a file, the small one is not.
    assert_eq!(house.files(), [hex(&bytes)]);
}

#[tokio::test]
async fn the_same_bytes_are_kept_once() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    let bytes = piece(0);
    riley.put("a.bin", &bytes).await.unwrap();
    riley.put("b.bin", &bytes).await.unwrap();
    assert_eq!(house.files().len(), 1);
    assert_eq!(house.count("SELECT uses FROM blobs").await, 2);
    assert!(riley.get("b.bin").await.unwrap().1 == bytes);
}

#[tokio::test]
async fn a_damaged_file_is_data_loss_of_that_version_alone() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    let (one, two) = (piece(1), piece(2));
    riley.put("a.bin", &one).await.unwrap();
    riley.put("a.bin", &two).await.unwrap();
    let path = |bytes: &[u8]| {
        let name = hex(bytes);
        house.state.path().join("blobs").join(&name[..2]).join(name)
    };
    let mut damaged = two.clone();
    damaged[300_000] ^= 1;
    fs::write(path(&two), &damaged).unwrap();
    assert_eq!(refused(riley.get("a.bin").await), said(Code::DataLoss, "DOCUMENT_DAMAGED"));
    fs::write(path(&two), &damaged[..9]).unwrap();
    assert_eq!(refused(riley.get("a.bin").await), said(Code::DataLoss, "DOCUMENT_DAMAGED"));
    fs::remove_file(path(&two)).unwrap();
    assert_eq!(refused(riley.get("a.bin").await), said(Code::DataLoss, "DOCUMENT_DAMAGED"));
    let first = GetDocumentRequest { version: 1, ..riley.wanted("a.bin") };
    assert!(riley.get_with(first).await.unwrap().1 == one);
}

#[tokio::test]
async fn a_state_in_memory_keeps_large_documents_too() {
    use toolwire::state::workspace::{Header, ReadOptions, Workspace};
    let state = Arc::new(state::fresh());
    let task = root(&state, "riley", false).await.parse().unwrap();
    let user = toolwire::tool::context::User::new("riley".parse().unwrap());
    let room = Workspace::new(&state).of_task(&user, &task).await.unwrap();
    let header = Header { path: "a.bin".to_owned(), ..Header::default() };
    let bytes = piece(0);
    room.put(header, bytes.clone().into()).await.unwrap();
    let (_, content) = room.read("a.bin", ReadOptions::default()).await.unwrap();
    assert!(content.all().await.unwrap() == bytes);
}

#[tokio::test]
async fn without_a_place_for_the_state_documents_are_said_to_be_unavailable() {
    let state = Arc::new(Store::unavailable("there is no home directory"));
    let user = toolwire::tool::context::User::new("riley".parse().unwrap());
    let workspace = toolwire::state::workspace::Workspace::new(&state);
    let refusal = workspace.of_task(&user, &toolwire::tool::context::TaskId::generate()).await.unwrap_err();
    assert_eq!(
        refused(Err::<(), _>(toolwire::contract::Refusal::from(refusal).into())),
        said(Code::Unavailable, "STATE_UNAVAILABLE")
    );
}

/// A server in a process of its own, so that its memory is its own.
#[tokio::test]
async fn a_hundred_mebibytes_pass_in_and_out_in_bounded_memory() {
    const PIECES: usize = 200;
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().to_str().unwrap();
    let task = {
        let state = state::at(directory.path());
        root(&state, "demo", false).await
    };
    let program = Program::start(directory.path(), &[], &[("TOOLWIRE_STATE", state)]).await;
    let mut client = WorkspaceServiceClient::new(program.channel().await);
    let mut pass = async |path: &str, pieces: usize| {
        let header = PutHeader {
            task_id: task.clone(),
            path: path.to_owned(),
            request_id: toolwire::tool::context::RequestId::generate().to_string(),
            ..PutHeader::default()
        };
        let parts = (0..=pieces).map(move |number| match number {
            0 => PutDocumentRequest { part: Some(Part::Header(header.clone())) },
            number => PutDocumentRequest { part: Some(Part::Chunk(piece(number))) },
        });
        let answer = client.put_document(Request::new(stream::iter(parts))).await.unwrap();
        let digest = answer.into_inner().document.unwrap().digest;
        let wanted =
            GetDocumentRequest { task_id: task.clone(), path: path.to_owned(), ..Default::default() };
        let mut parts = client.get_document(wanted).await.unwrap().into_inner();
        let (mut hash, mut size) = (Sha256::new(), 0);
        while let Some(message) = parts.message().await.unwrap() {
            if let get_document_response::Part::Chunk(chunk) = message.part.unwrap() {
                hash.update(&chunk);
                size += chunk.len();
            }
        }
        (digest, data_encoding::HEXLOWER.encode(&hash.finalize()), size)
    };
    // What is allocated once is part of no document.
    for round in 0..4 {
        pass(&format!("warm-{round}.bin"), 20).await;
    }
    let before = program.peak_memory_kib();
    let (written, read, size) = pass("large.bin", PIECES).await;
    // The kernel counts in steps, so that it may even say less than before.
    let grown = program.peak_memory_kib().saturating_sub(before);
    println!("memory grew by {grown} KiB");
    assert_eq!((&written, size), (&read, PIECES * MIB / 2));
    assert!(grown <= 8 * 1024, "{grown} KiB more than for 10 MiB");
}
