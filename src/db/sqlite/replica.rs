//! Liveness of the processes that own recorded work. Each process holds a file lock, which the operating system
//! releases when the process ends in any way: a lease without renewals.

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use tokio::sync::watch;
use uuid::Uuid;

use crate::{StoreError, location::Location};

/// The directory of the lock files, within the state directory.
pub(crate) const DIRECTORY: &str = "processes";

/// The identity of this process among those that share the state.
#[derive(Debug)]
pub(crate) struct Replica {
    id: Arc<str>,
    held: Mutex<Option<(File, PathBuf)>>,
    /// When this process became visible to others; `None` before it holds its lock.
    seen_since: watch::Sender<Option<SystemTime>>,
}

impl Default for Replica {
    fn default() -> Self {
        Self {
            id: Uuid::new_v4().simple().to_string().into(),
            held: Mutex::default(),
            seen_since: watch::Sender::new(None),
        }
    }
}

impl Replica {
    /// The name of this process: a random UUID.
    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    /// Returns the name of this process after acquiring its lock, which makes it visible to other processes from now
    /// on. Fails if the lock file cannot be created.
    pub(crate) fn id(&self, location: &Location, now: SystemTime) -> Result<&str, StoreError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none()
            && let Some(path) = path(location, &self.id)
        {
            let file = hold(&path).map_err(|error| StoreError::Unavailable {
                place: path.display().to_string(),
                cause: error.to_string(),
            })?;
            *held = Some((file, path));
            self.seen_since.send_replace(Some(now));
        }
        Ok(&self.id)
    }

    /// Notes that this process is visible to others, in another way than by a file.
    pub(crate) fn show(&self, now: SystemTime) {
        self.seen_since.send_replace(Some(now));
    }

    /// Waits until this process is visible to others. Before that it owns no recorded work.
    pub(crate) async fn wait_until_seen(&self) {
        let _ = self.seen_since.subscribe().wait_for(Option::is_some).await;
    }

    /// When this process became visible to others.
    pub(crate) fn seen_since(&self) -> Option<SystemTime> {
        *self.seen_since.borrow()
    }

    /// Whether the process of this name has ended.
    pub(crate) fn is_gone(&self, location: &Location, id: &str) -> bool {
        if *id == *self.id {
            return false;
        }
        // A state in memory has no other process.
        path(location, id).is_none_or(|path| !is_held(&path))
    }

    /// Number of other live processes of this state; 1 if the directory cannot be read.
    pub(crate) fn peers(&self, location: &Location) -> usize {
        let Location::Directory(directory) = location else { return 0 };
        match fs::read_dir(directory.join(DIRECTORY)) {
            Ok(files) => {
                files.flatten().filter(|file| file.file_name() != *self.id && is_held(&file.path())).count()
            }
            // Without the directory there are none. On any other error, such as too many open files, assume one: a
            // cancellation request that is never answered only costs a wait, but one that is never made is lost.
            Err(error) => usize::from(error.kind() != io::ErrorKind::NotFound),
        }
    }

    /// Removes the lock file of a process that has ended.
    pub(crate) fn forget(location: &Location, id: &str) {
        if let Some(path) = path(location, id) {
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some((_, path)) = self.held.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let _ = fs::remove_file(path);
        }
    }
}

fn path(location: &Location, id: &str) -> Option<PathBuf> {
    match location {
        Location::Directory(directory) => Some(directory.join(DIRECTORY).join(id)),
        Location::Postgres(_) | Location::Memory | Location::Unavailable(_) => None,
    }
}

/// Whether a process holds the lock of a file. Tests with a shared lock, so that concurrent tests do not mistake each
/// other for the holder.
fn is_held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn hold(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        // This may run before the state is opened; the state's directory must be accessible to this user only.
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let file = File::create(path)?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_directory_cannot_be_read_there_may_be_another_process() {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::Directory(directory.path().to_owned());
        assert_eq!(Replica::default().peers(&location), 0, "no directory");
        fs::write(directory.path().join(DIRECTORY), "").unwrap();
        assert_eq!(Replica::default().peers(&location), 1, "a file in its place");
    }

    #[test]
    fn a_process_is_there_until_it_lets_go_of_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::Directory(directory.path().to_owned());
        let (one, other) = (Replica::default(), Replica::default());
        let id = one.id(&location, SystemTime::UNIX_EPOCH).unwrap().to_owned();
        assert!(!other.is_gone(&location, &id) && !one.is_gone(&location, &id));
        assert!(other.is_gone(&location, "of-nobody"));
        assert_eq!((other.peers(&location), one.peers(&location)), (1, 0));
        drop(one);
        assert!(other.is_gone(&location, &id) && other.peers(&location) == 0);
    }
}
