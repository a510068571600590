//! Whether the process that began something is still there. Each holds a lock on a file of its own, which the system
//! gives back when the process ends, however it ends: so nothing has to be written while it lives.

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

use super::place::Place;
use crate::{clock, store::StoreError};

/// The directory of the files within that of the state.
const DIRECTORY: &str = "processes";

/// This process, to others.
#[derive(Debug)]
pub(super) struct Replica {
    id: Arc<str>,
    held: Mutex<Option<(File, PathBuf)>>,
    /// Since when others see that it is there.
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
    /// Its name.
    pub(super) fn name(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    /// Its name. From now on others see that it is there.
    pub(super) fn id(&self, place: &Place) -> Result<&str, StoreError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none()
            && let Some(path) = path(place, &self.id)
        {
            let now = clock::wall();
            let file = hold(&path).map_err(|error| StoreError::Unavailable {
                place: path.display().to_string(),
                cause: error.to_string(),
            })?;
            *held = Some((file, path));
            self.seen_since.send_replace(Some(now));
        }
        Ok(&self.id)
    }

    /// Waits until others see that this process is there: before that it carries out nothing that they know of.
    pub(super) async fn seen(&self) {
        let _ = self.seen_since.subscribe().wait_for(Option::is_some).await;
    }

    /// The time before which no other process saw this one.
    pub(super) fn seen_since(&self) -> Option<SystemTime> {
        *self.seen_since.borrow()
    }

    /// Whether the process of a name has ended.
    pub(super) fn is_gone(&self, place: &Place, id: &str) -> bool {
        if *id == *self.id {
            return false;
        }
        // In memory there is no other process.
        path(place, id).is_none_or(|path| !is_held(&path))
    }

    /// How many other processes are there.
    pub(super) fn peers(&self, place: &Place) -> usize {
        let Place::Directory(directory) = place else { return 0 };
        // Without the directory nobody is there.
        let files = fs::read_dir(directory.join(DIRECTORY)).into_iter().flatten().flatten();
        files.filter(|file| file.file_name() != *self.id && is_held(&file.path())).count()
    }

    /// Clears away what a process has left that is gone.
    pub(super) fn forget(place: &Place, id: &str) {
        if let Some(path) = path(place, id) {
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

fn path(place: &Place, id: &str) -> Option<PathBuf> {
    match place {
        Place::Directory(directory) => Some(directory.join(DIRECTORY).join(id)),
        Place::Memory | Place::Nowhere(_) => None,
    }
}

/// Whether a process holds the lock of a file. A shared lock asks, so that two processes that ask at once do not take
/// each other for the holder.
fn is_held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn hold(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        // It may come before the state itself is opened, whose directory is this user's only.
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
    fn a_process_is_there_until_it_lets_go_of_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::Directory(directory.path().to_owned());
        let (one, other) = (Replica::default(), Replica::default());
        let id = one.id(&place).unwrap().to_owned();
        assert!(!other.is_gone(&place, &id) && !one.is_gone(&place, &id));
        assert!(other.is_gone(&place, "of-nobody"));
        assert_eq!((other.peers(&place), one.peers(&place)), (1, 0));
        drop(one);
        assert!(other.is_gone(&place, &id) && other.peers(&place) == 0);
    }
}
