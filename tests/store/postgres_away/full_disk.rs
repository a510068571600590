//! A disk without room: tables that are empty yet are links to `/dev/full`, where every write finds none.

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown, symlink},
    path::{Path, PathBuf},
};

use super::*;

/// The files of the empty tables of the state.
const EMPTY_TABLES: &str = "SELECT pg_relation_filepath(c.oid) FROM pg_class c \
                            JOIN pg_namespace n ON n.oid = c.relnamespace \
                            WHERE n.nspname = 'toolwire' AND c.relkind = 'r' AND pg_relation_size(c.oid) = 0";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_whose_disk_is_full_refuses_writes_and_is_used_when_there_is_room() {
    let Some(mut cluster) = Cluster::start(40) else { return };
    let world = World::over(cluster.address()).await;
    let files: Vec<String> = state::rows(&world.store, sql!("{..EMPTY_TABLES}")).await;
    let files: Vec<PathBuf> = files.into_iter().map(|file| cluster.data().join(file)).collect();
    let mut replace = |with: &dyn Fn(&Path)| {
        cluster.stop();
        for file in &files {
            fs::remove_file(file).unwrap();
            with(file);
        }
        cluster.start_again();
    };
    replace(&|file| symlink("/dev/full", file).unwrap());
    let id = RequestId::generate();
    let is_full = async || {
        let _ = world.write(id, "0s").await;
        matches!(*world.store.last_error().borrow(), Some(StoreError::Full { .. }))
    };
    state::until(is_full).await;
    world.is_refused(id).await;
    let error = world.store.last_error().borrow().clone().unwrap().to_string();
    assert!(error.contains("No space left on device") && error.contains("Make room"), "{error}");
    replace(&|file| {
        fs::write(file, []).unwrap();
        let owner = file.parent().unwrap().metadata().unwrap();
        chown(file, Some(owner.uid()), Some(owner.gid())).unwrap();
    });
    world.writes_again(id).await;
    assert_eq!(world.count().await, 2);
}
