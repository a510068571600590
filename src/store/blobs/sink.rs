//! Bytes on their way in: hashed as they come; from 64 KiB on they go to a file at once, so that a few pieces are in
//! memory.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::{Bytes, BytesMut};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::{
    files::Files,
    pins::{Pin, Pins},
};
use crate::StoreError;
use toolwire_base::{clock, digest::Digest};

/// Bytes up to here are kept in the database.
pub const SMALL: usize = 64 * 1024;

/// Bytes on their way in. Dropped before its end, it leaves nothing.
#[derive(Debug)]
pub struct Sink {
    /// Where large ones go. None: they stay in memory.
    files: Option<Files>,
    pins: Pins,
    taken: Taken,
}

/// Bytes that are kept, though nothing names them yet.
#[derive(Clone, Debug)]
pub struct Stored {
    pub digest: Digest,
    pub size: u64,
    /// All of them if they are to go into the database. None: they are in a file.
    pub inline: Option<Bytes>,
    /// Holds their file, while a row is to name it.
    pub pin: Option<Arc<Pin>>,
}

#[derive(Debug, Default)]
struct Taken {
    hash: Sha256,
    size: u64,
    /// All of them while there is no file.
    head: BytesMut,
    file: Option<Unfinished>,
}

/// A file that goes when it is dropped, unless it was moved to its place.
#[derive(Debug)]
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Sink {
    /// Large bytes go into these files, or stay in memory if there are none.
    pub fn new(files: Option<Files>, pins: Pins) -> Self {
        Self { files, pins, taken: Taken::default() }
    }

    pub fn size(&self) -> u64 {
        self.taken.size
    }

    pub fn digest(&self) -> Digest {
        digest(self.taken.hash.clone())
    }

    pub async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        let is_small = self.taken.file.is_none() && self.taken.head.len() + bytes.len() <= SMALL;
        let files = match &self.files {
            Some(files) if !is_small => files.clone(),
            _ => {
                self.taken.keep(&bytes);
                return Ok(());
            }
        };
        let mut taken = std::mem::take(&mut self.taken);
        // Hashing and writing so much would hold up others.
        let done = spawn_blocking(move || {
            let done = taken.spill(&files, &bytes).map_err(|error| files.failed(&error));
            (taken, done)
        });
        let (taken, done) = done.await.map_err(|_| StoreError::Late)?;
        self.taken = taken;
        done
    }

    /// The digest of all that came, once their file, if any, is at its place and on the disk.
    pub async fn finish(self) -> Result<Stored, StoreError> {
        let Self { files, pins, taken } = self;
        let Taken { hash, size, head, file } = taken;
        let digest = digest(hash);
        let (Some(file), Some(files)) = (file, files) else {
            return Ok(Stored { digest, size, inline: Some(head.freeze()), pin: None });
        };
        let pin = pins.pin(digest);
        let moved = spawn_blocking(move || {
            file.moved_to(&files, &files.of(&digest)).map_err(|error| files.failed(&error))?;
            Ok(pin)
        });
        let pin: Result<_, StoreError> = moved.await.map_err(|_| StoreError::Late)?;
        Ok(Stored { digest, size, inline: None, pin: Some(Arc::new(pin?)) })
    }
}

impl Taken {
    fn keep(&mut self, bytes: &[u8]) {
        self.count(bytes);
        self.head.extend_from_slice(bytes);
    }

    fn spill(&mut self, files: &Files, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            let mut file = Unfinished::create(files)?;
            file.file.write_all(&std::mem::take(&mut self.head))?;
            self.file = Some(file);
        }
        let unfinished = self.file.as_mut().expect("made above");
        unfinished.file.write_all(bytes)?;
        self.count(bytes);
        Ok(())
    }

    fn count(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
    }
}

impl Unfinished {
    fn create(files: &Files) -> io::Result<Self> {
        let folder = files.unfinished();
        make(&folder)?;
        let path = folder.join(Uuid::new_v4().simple().to_string());
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        Ok(Self { path, file })
    }

    /// On the disk before it has its name, and its name on the disk before anything says so. The time of change is now:
    /// the sweep leaves young files alone, and a file of these bytes that was there already is as young.
    fn moved_to(self, files: &Files, path: &Path) -> io::Result<()> {
        self.file.set_modified(clock::wall())?;
        self.file.sync_all()?;
        let folder = path.parent().expect("it is in a folder of two digits");
        make(folder)?;
        fs::rename(&self.path, path)?;
        for folder in [folder, &files.unfinished(), files.root()] {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After the move there is nothing of this name.
        let _ = fs::remove_file(&self.path);
    }
}

fn digest(hash: Sha256) -> Digest {
    Digest::from_bytes(&hash.finalize()).expect("SHA-256 has 32 bytes")
}

/// Makes a directory that only this user can read, with those above it.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
