//! Whether the files at the path of the state are those that are open: a commit to files that were deleted, moved or
//! replaced would be lost with the process. Not here: what becomes of such a commit.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// What SQLite adds to the name of its file: the write-ahead log and its index, shared by all processes.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// The files of an open state.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    paths: [PathBuf; SUFFIXES.len()],
    /// Those that were there at the first check, which follows a write.
    opened: Mutex<[Option<Identity>; SUFFIXES.len()]>,
}

/// The file at the path of the state is not the one that is open.
#[derive(Debug)]
pub(crate) struct Replaced(PathBuf);

/// Device and inode.
type Identity = (u64, u64);

impl OpenFiles {
    pub(super) fn at(path: &Path) -> Self {
        let with = |suffix: &str| {
            let mut path = path.as_os_str().to_owned();
            path.push(suffix);
            path.into()
        };
        Self { paths: SUFFIXES.map(with), opened: Mutex::default() }
    }

    /// Fails if another file, or none, is at the path of one that is open. It costs three `stat`s.
    pub(crate) fn check(&self) -> io::Result<()> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        for (opened, path) in opened.iter_mut().zip(&self.paths) {
            let found = identity(path);
            if opened.is_some() && *opened != found {
                return Err(io::Error::new(io::ErrorKind::NotFound, Replaced(path.clone())));
            }
            *opened = found;
        }
        Ok(())
    }

    /// Expects another log: SQLite deletes it with the last connection, and a new one makes its own.
    pub(super) fn forget_log(&self) {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened[1..].fill(None);
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Other systems do not delete or replace a file that is open.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was deleted, moved or replaced while it is open", self.0.display())
    }
}

impl std::error::Error for Replaced {}
