//! Files of a state that are deleted, moved or replaced while it is open.

use std::{fs, path::Path};

use toolwire::{
    contract::ErrorCode,
    db::StoreError,
    state::{
        Store,
        cool_downs::{CoolDown, CoolDowns},
    },
};

use super::{SECOND, in_sqlite, now};

const FILES: [&str; 3] = ["toolwire.db", "toolwire.db-wal", "toolwire.db-shm"];

async fn write(store: &Store) -> Result<(), StoreError> {
    let cool_down = CoolDown { code: ErrorCode::Blocked, reason: "r".to_owned(), until: now() + SECOND };
    store.begin("s", None, &cool_down).await.map(drop)
}

fn move_all(from: &Path, to: &Path) {
    for name in FILES {
        fs::rename(from.join(name), to.join(name)).unwrap();
    }
}

#[tokio::test]
async fn a_write_to_files_that_were_moved_away_is_not_acknowledged() {
    let (store, directory) = in_sqlite();
    let elsewhere = tempfile::tempdir().unwrap();
    write(&store).await.unwrap();
    assert_eq!(store.check_files(), Ok(()));
    move_all(directory.path(), elsewhere.path());
    // Seen without a write too.
    assert!(matches!(store.check_files(), Err(StoreError::Replaced { .. })));
    let error = write(&store).await.unwrap_err();
    assert_eq!(store.last_error().borrow().as_ref(), Some(&error));
    assert!(error.to_string().contains("toolwire.db was deleted, moved or replaced"), "{error}");
    assert!(store.probe().await.is_err());
    move_all(elsewhere.path(), directory.path());
    store.probe().await.unwrap();
    write(&store).await.unwrap();
    assert_eq!(*store.last_error().borrow(), None);
}

#[tokio::test]
async fn each_file_of_the_state_counts_and_so_does_a_copy_in_its_place() {
    for name in FILES {
        for is_replaced in [false, true] {
            let (store, directory) = in_sqlite();
            write(&store).await.unwrap();
            let path = directory.path().join(name);
            let content = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            if is_replaced {
                // Another file first, so that the copy does not get the inode of the original.
                fs::write(directory.path().join("other"), "").unwrap();
                fs::write(&path, content).unwrap();
            }
            let error = write(&store).await.unwrap_err();
            assert!(matches!(error, StoreError::Replaced { .. }), "{name}, {is_replaced}: {error:?}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
