//! A writer of blobs: hashes while it writes, and spills to a file beyond 64 KiB, so that memory use is bounded.

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
    chunks::{CHUNK, Chunks, Upload},
    files::Files,
    pins::{Pin, Pins},
};
use toolwire_base::{clock, digest::Digest};
use toolwire_db::StoreError;

/// Blobs of at most this many bytes are stored in the database.
pub const MAX_INLINE_BYTES: usize = 64 * 1024;

/// A blob that is being written. If it is dropped before `finish`, it leaves nothing.
#[derive(Debug)]
pub struct Sink {
    place: Place,
    pins: Pins,
    taken: Buffer,
}

/// Where large blobs are written.
#[derive(Clone, Debug)]
pub enum Place {
    /// They stay in memory.
    Memory,
    Files(Files),
    Chunks(Chunks),
}

/// A stored blob that no row references yet.
#[derive(Clone, Debug)]
pub struct Stored {
    pub digest: Digest,
    pub size: u64,
    /// The bytes, if they belong in the row. `None`: they are in a file or in chunks.
    pub inline: Option<Bytes>,
    /// Protects the file until a row references it.
    pub pin: Option<Arc<Pin>>,
}

#[derive(Debug, Default)]
struct Buffer {
    hash: Sha256,
    size: u64,
    /// All bytes, while they are written to no other place.
    head: BytesMut,
    file: Option<TempFile>,
    upload: Option<Upload>,
}

/// A temporary file, deleted on drop unless it was moved to its final path.
#[derive(Debug)]
struct TempFile {
    path: PathBuf,
    file: File,
}

impl Sink {
    pub fn new(place: Place, pins: Pins) -> Self {
        Self { place, pins, taken: Buffer::default() }
    }

    pub fn size(&self) -> u64 {
        self.taken.size
    }

    pub fn digest(&self) -> Digest {
        digest(self.taken.hash.clone())
    }

    pub async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        let is_small = self.taken.file.is_none()
            && self.taken.upload.is_none()
            && self.taken.head.len() + bytes.len() <= MAX_INLINE_BYTES;
        let files = match &self.place {
            Place::Files(files) if !is_small => files.clone(),
            Place::Chunks(chunks) if !is_small => return self.taken.upload(chunks, &bytes).await,
            _ => {
                self.taken.keep(&bytes);
                return Ok(());
            }
        };
        let mut taken = std::mem::take(&mut self.taken);
        // Hashing and writing block: on this thread they would delay other tasks.
        let done = spawn_blocking(move || {
            let done = taken.spill(&files, &bytes).map_err(|error| files.failed(&error));
            (taken, done)
        });
        let (taken, done) = done.await.map_err(|_| StoreError::Late)?;
        self.taken = taken;
        done
    }

    /// Completes the blob: its file, if any, is synced and at its final path when this returns.
    pub async fn finish(self) -> Result<Stored, StoreError> {
        let Self { place, pins, taken } = self;
        let Buffer { hash, size, head, file, upload } = taken;
        let digest = digest(hash);
        if let Some(mut upload) = upload {
            if !head.is_empty() {
                upload.add(&head).await?;
            }
            upload.finish(&digest, size).await?;
            return Ok(Stored { digest, size, inline: None, pin: None });
        }
        let (Some(file), Place::Files(files)) = (file, place) else {
            return Ok(Stored { digest, size, inline: Some(head.freeze()), pin: None });
        };
        let pin = pins.pin(digest);
        let moved = spawn_blocking(move || {
            file.move_to(&files, &files.of(&digest)).map_err(|error| files.failed(&error))?;
            Ok(pin)
        });
        let pin: Result<_, StoreError> = moved.await.map_err(|_| StoreError::Late)?;
        Ok(Stored { digest, size, inline: None, pin: Some(Arc::new(pin?)) })
    }
}

impl Buffer {
    fn keep(&mut self, bytes: &[u8]) {
        self.count(bytes);
        self.head.extend_from_slice(bytes);
    }

    fn spill(&mut self, files: &Files, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            let mut file = TempFile::create(files)?;
            file.file.write_all(&std::mem::take(&mut self.head))?;
            self.file = Some(file);
        }
        let unfinished = self.file.as_mut().expect("made above");
        unfinished.file.write_all(bytes)?;
        self.count(bytes);
        Ok(())
    }

    /// Writes whole chunks; `head` has the bytes of the next one.
    async fn upload(&mut self, chunks: &Chunks, bytes: &[u8]) -> Result<(), StoreError> {
        if self.upload.is_none() {
            self.upload = Some(chunks.begin().await?);
        }
        self.keep(bytes);
        while self.head.len() >= CHUNK {
            let chunk = self.head.split_to(CHUNK);
            self.upload.as_mut().expect("made above").add(&chunk).await?;
        }
        Ok(())
    }

    fn count(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
    }
}

impl TempFile {
    fn create(files: &Files) -> io::Result<Self> {
        let folder = files.unfinished();
        create_directory(&folder)?;
        let path = folder.join(Uuid::new_v4().simple().to_string());
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        Ok(Self { path, file })
    }

    /// Syncs the content before the rename and the directories after it, so that no crash leaves a name without its
    /// content. The modification time is set to now, since the sweep skips recent files; a file that is replaced had
    /// the same bytes.
    fn move_to(self, files: &Files, path: &Path) -> io::Result<()> {
        self.file.set_modified(clock::wall())?;
        self.file.sync_all()?;
        let folder = path.parent().expect("it is in a folder of two digits");
        create_directory(folder)?;
        fs::rename(&self.path, path)?;
        for folder in [folder, &files.unfinished(), files.root()] {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // After the move nothing has this name.
        let _ = fs::remove_file(&self.path);
    }
}

fn digest(hash: Sha256) -> Digest {
    Digest::from_bytes(&hash.finalize()).expect("SHA-256 has 32 bytes")
}

/// Creates a directory with mode 0700, and its ancestors.
fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
