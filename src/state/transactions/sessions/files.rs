//! Exclusive use of sessions, across all processes that share the state: a locked file per session, which the operating
//! system releases when the process ends in any way. Not here: turns of this process (`toolwire_agent::active_turns`).

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use crate::sessions::{SessionGuard, SessionLock};
use toolwire_base::digest::Digest;
use toolwire_db::StoreError;
use toolwire_tool::context::{RequestId, SessionId, UserId};

/// The directory of the lock files, within the state directory.
const DIRECTORY: &str = "running";

/// A locked file, which is removed before it is unlocked.
#[derive(Debug)]
struct Locked {
    _file: File,
    path: PathBuf,
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Acquires a session for one turn, unless another process holds it.
pub(super) fn hold(
    directory: Option<&Path>,
    user: &UserId,
    session: &SessionId,
    turn_id: RequestId,
) -> Result<SessionLock, StoreError> {
    // A state in memory has no other process, and a state without a location fails where it is used.
    let Some(directory) = directory else {
        return Ok(SessionLock::Acquired(SessionGuard { guard: None }));
    };
    let name = Digest::of_parts([user.as_str(), session.as_str()]).to_string();
    let path = directory.join(DIRECTORY).join(name);
    lock(&path, turn_id).map_err(|error| StoreError::Unavailable {
        place: path.display().to_string(),
        cause: error.to_string(),
    })
}

fn lock(path: &Path, turn_id: RequestId) -> io::Result<SessionLock> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    loop {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut name = String::new();
                file.read_to_string(&mut name)?;
                return Ok(SessionLock::HeldBy(name));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The previous holder may have removed the file after it was opened here.
        let is_there =
            fs::metadata(path).is_ok_and(|it| file.metadata().is_ok_and(|own| own.ino() == it.ino()));
        if is_there {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(turn_id.to_string().as_bytes())?;
            let locked = Locked { _file: file, path: path.to_owned() };
            return Ok(SessionLock::Acquired(SessionGuard { guard: Some(Box::new(locked)) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_one_turns_until_it_lets_go() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (RequestId::generate(), RequestId::generate());
        let take = |session: &str, turn| {
            hold(Some(directory.path()), &"riley".parse().unwrap(), &session.parse().unwrap(), turn).unwrap()
        };
        let SessionLock::Acquired(held) = take("s", first) else { panic!("nobody else has it") };
        let SessionLock::HeldBy(name) = take("s", second) else { panic!("another has it") };
        assert_eq!(name, first.to_string());
        assert!(matches!(take("t", second), SessionLock::Acquired(_)));
        drop(held);
        assert!(matches!(take("s", second), SessionLock::Acquired(_)));
        // Nothing is left of those that ended.
        assert_eq!(fs::read_dir(directory.path().join(DIRECTORY)).unwrap().count(), 0);
    }
}
