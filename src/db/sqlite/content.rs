//! Detects a lost database: a file of 0 bytes beside other files of the state, or a write-ahead log without its
//! database. SQLite would treat both as a new database and delete the log.

use std::{ffi::OsStr, fs, io, path::Path};

use super::replica;
use crate::location::FILE;

/// The content of a state directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// No database, or an empty file in which one is about to be created.
    Nothing,
    /// A non-empty file. SQLite validates it.
    Database,
    /// The database is lost, for this reason.
    Lost(&'static str),
}

/// Inspects names and sizes only, before SQLite opens anything.
pub fn inspect(directory: &Path) -> io::Result<Content> {
    match size(&directory.join(FILE))? {
        Some(1..) => Ok(Content::Database),
        Some(0) if has_others(directory)? => {
            Ok(Content::Lost("the file has 0 bytes, and other files of a state are beside it"))
        }
        None if size(&directory.join(format!("{FILE}-wal")))?.is_some_and(|bytes| bytes > 0) => {
            Ok(Content::Lost("the file is missing, and its log toolwire.db-wal is there"))
        }
        Some(0) | None => Ok(Content::Nothing),
    }
}

fn size(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ignores what may exist before the first page of a new database is written: the rollback journal, the lock files of
/// processes, and what a file system has at its root.
fn has_others(directory: &Path) -> io::Result<bool> {
    let journal = format!("{FILE}-journal");
    let earlier = [FILE, &journal, replica::DIRECTORY, "lost+found"].map(OsStr::new);
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if !earlier.contains(&name.as_os_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_0_bytes_is_a_new_one_only_where_nothing_else_is() {
        let directory = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &str| fs::write(directory.path().join(name), bytes).unwrap();
        let found = || inspect(directory.path()).unwrap();
        assert_eq!(found(), Content::Nothing);
        put(FILE, "");
        put("toolwire.db-journal", "");
        fs::create_dir(directory.path().join("processes")).unwrap();
        assert_eq!(found(), Content::Nothing);
        for other in ["toolwire.db-wal", "toolwire.db-shm", "a-file-of-somebody"] {
            put(other, "");
            assert!(matches!(found(), Content::Lost(_)), "{other}");
            fs::remove_file(directory.path().join(other)).unwrap();
        }
        fs::create_dir(directory.path().join("blobs")).unwrap();
        assert!(matches!(found(), Content::Lost(_)));
        put(FILE, "x");
        assert_eq!(found(), Content::Database);
    }

    #[test]
    fn a_log_without_its_file_is_a_loss_unless_it_is_empty() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("toolwire.db-wal");
        fs::write(&log, "").unwrap();
        assert_eq!(inspect(directory.path()).unwrap(), Content::Nothing);
        fs::write(&log, "frames").unwrap();
        assert!(matches!(inspect(directory.path()).unwrap(), Content::Lost(_)));
    }
}
