//! What a crash leaves is taken away in its time, and nothing else is.

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::support::state;
use bytes::Bytes;
use toolwire::{
    base::{clock, digest::Digest},
    db::sql,
    state::{
        Store,
        blobs::Swept,
        workspace::{Header, ReadOptions, Workspace, WorkspaceHandle},
    },
    tool::context::TaskId,
};

use super::{files, root};

const HOUR: Duration = Duration::from_hours(1);

async fn room(state: &Arc<Store>) -> WorkspaceHandle {
    let task = root(state, "riley", false).await.parse().unwrap();
    let user = toolwire::tool::context::User::new("riley".parse().unwrap());
    Workspace::new(state).of_task(&user, &task).await.unwrap()
}

fn large(filler: u8) -> Bytes {
    Bytes::from(vec![filler; 100_000])
}

async fn put(room: &WorkspaceHandle, path: &str, bytes: Bytes) {
    room.put(Header { path: path.to_owned(), ..Header::default() }, bytes).await.unwrap();
}

/// As if it were last changed so long ago.
fn age(path: &Path, by: Duration) {
    let changed = clock::wall() - by;
    File::options().write(true).open(path).unwrap().set_modified(changed).unwrap();
}

fn path_of(directory: &Path, bytes: &[u8]) -> std::path::PathBuf {
    let name = Digest::of_bytes(bytes).to_string();
    directory.join("blobs").join(&name[..2]).join(name)
}

#[tokio::test]
async fn a_crash_between_rename_and_commit_leaves_an_orphan_that_is_swept() {
    let directory = tempfile::tempdir().unwrap();
    let state = Arc::new(Store::at(directory.path()));
    let room = room(&state).await;
    put(&room, "kept.bin", large(1)).await;
    // The bytes are at their place, and the process ends before any row names them.
    let mut sink = state.begin_blob().await.unwrap();
    sink.write(large(2)).await.unwrap();
    sink.finish().await.unwrap();
    assert_eq!(files(directory.path()).iter().filter(|name| name.len() == 64).count(), 2);
    let sweep = async |now: SystemTime| state.at_time(now).sweep_blobs().await.unwrap();
    assert_eq!(sweep(clock::wall() + 23 * HOUR).await, Swept::default(), "it may be named yet");
    let swept = sweep(clock::wall() + 25 * HOUR).await;
    assert_eq!(swept, Swept { orphans: 1, ..Swept::default() });
    let (_, content) = room.read("kept.bin", ReadOptions::default()).await.unwrap();
    assert_eq!(content.all().await.unwrap(), large(1));
    // The repeat stores it.
    put(&room, "again.bin", large(2)).await;
    assert!(path_of(directory.path(), &large(2)).exists());
}

#[tokio::test]
async fn a_crash_before_the_rename_leaves_a_file_that_is_swept() {
    let directory = tempfile::tempdir().unwrap();
    let state = Arc::new(Store::at(directory.path()));
    put(&room(&state).await, "kept.bin", large(1)).await;
    let unfinished = directory.path().join("blobs/tmp/left");
    fs::write(&unfinished, b"half").unwrap();
    assert_eq!(state.at_time(clock::wall()).sweep_blobs().await.unwrap(), Swept::default());
    age(&unfinished, 2 * HOUR);
    let swept = state.at_time(clock::wall()).sweep_blobs().await.unwrap();
    assert_eq!(swept, Swept { unfinished: 1, ..Swept::default() });
    assert!(!unfinished.exists());
}

#[tokio::test]
async fn bytes_that_no_version_names_any_more_are_swept() {
    let directory = tempfile::tempdir().unwrap();
    let state = Arc::new(Store::at(directory.path()));
    let room = room(&state).await;
    let (user, tree) = (toolwire::tool::context::User::new("riley".parse().unwrap()), TaskId::generate());
    let never = Workspace::new(&state).of_new_tree(&user, &tree);
    put(&never, "a.bin", large(1)).await;
    put(&never, "b.txt", Bytes::from_static(b"small")).await;
    put(&room, "c.txt", Bytes::from_static(b"small")).await;
    state.abandon_documents(&tree).await.unwrap();
    let path = path_of(directory.path(), &large(1));
    age(&path, 25 * HOUR);
    let swept = state.at_time(clock::wall() + 25 * HOUR).sweep_blobs().await.unwrap();
    assert_eq!(swept, Swept { rows: 1, orphans: 1, unfinished: 0 });
    assert!(!path.exists());
    let (_, content) = room.read("c.txt", ReadOptions::default()).await.unwrap();
    assert_eq!(content.all().await.unwrap(), "small");
}

#[tokio::test]
async fn a_version_whose_bytes_were_taken_away_meanwhile_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let state = Arc::new(Store::at(directory.path()));
    let room = room(&state).await;
    put(&room, "a.bin", large(1)).await;
    // A row that names a file that is gone: the next write of these bytes brings them back.
    fs::remove_file(path_of(directory.path(), &large(1))).unwrap();
    put(&room, "b.bin", large(1)).await;
    let (_, content) = room.read("a.bin", ReadOptions::default()).await.unwrap();
    assert_eq!(content.all().await.unwrap(), large(1));
}

/// A tree has its documents before it begins, so a crash in between leaves documents of a tree that nobody knows.
#[tokio::test]
async fn documents_of_a_tree_that_never_began_are_swept_after_a_day() {
    let directory = tempfile::tempdir().unwrap();
    let state = Arc::new(state::at(directory.path()));
    let user = toolwire::tool::context::User::new("riley".parse().unwrap());
    let begun = room(&state).await;
    put(&begun, "kept.md", "kept".into()).await;
    let never = Workspace::new(&state).of_new_tree(&user, &TaskId::generate());
    put(&never, "a.md", "never".into()).await;
    let paths = async || -> Vec<String> {
        state::rows(&state, sql!("SELECT path FROM documents ORDER BY path")).await
    };
    let soon = clock::wall() + 23 * HOUR;
    assert!(!state.at_time(soon).sweep_documents().await.unwrap());
    assert_eq!(paths().await, ["a.md", "kept.md"]);
    while state.at_time(clock::wall() + 25 * HOUR).sweep_documents().await.unwrap() {}
    assert_eq!(paths().await, ["kept.md"]);
    let workspaces: i64 = state::row(&state, "SELECT count(*) FROM workspaces").await;
    assert_eq!(workspaces, 1);
}
