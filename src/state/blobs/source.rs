//! A reader of blobs, in chunks. A blob that is read whole is hashed on the way, and its last chunk is returned only if
//! the digest matches.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

use bytes::{Bytes, BytesMut};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::chunks::{CHUNK as STORED_CHUNK, Chunks};
use toolwire_base::digest::Digest;
use toolwire_db::StoreError;

/// Bytes that are returned at once.
pub const CHUNK: usize = 64 * 1024;

/// A blob that is being read.
#[derive(Debug)]
pub struct Source {
    digest: Digest,
    from: Origin,
    left: u64,
}

#[derive(Debug)]
enum Origin {
    Memory(Bytes),
    /// `None` while a chunk is read.
    File(Option<FileReader>),
    Chunks(ChunkReader),
}

#[derive(Debug)]
struct ChunkReader {
    chunks: Chunks,
    /// The next chunk, and the bytes to skip of it.
    number: u64,
    skip: usize,
    /// Bytes of a chunk that were not returned yet.
    rest: Bytes,
    /// The hash so far, if the blob is read whole.
    hash: Option<Sha256>,
}

#[derive(Debug)]
struct FileReader {
    file: File,
    /// The hash so far, if the blob is read whole.
    hash: Option<Sha256>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The bytes are missing, or are not those that were written.
    #[error("the bytes of {0} are damaged")]
    Damaged(Digest),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Source {
    /// Reads from memory. `bytes` is the whole blob.
    pub fn of_bytes(digest: Digest, bytes: &Bytes, from: u64) -> Result<Self, ReadError> {
        if Digest::of_bytes(bytes) != digest {
            return Err(ReadError::Damaged(digest));
        }
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = bytes.slice(from..);
        Ok(Self { digest, left: bytes.len() as u64, from: Origin::Memory(bytes) })
    }

    /// Reads from a file, which must have the given size.
    pub async fn of_file(digest: Digest, path: PathBuf, size: u64, from: u64) -> Result<Self, ReadError> {
        let opened = spawn_blocking(move || {
            let mut file = File::open(path)?;
            if file.metadata()?.len() != size {
                return Err(io::ErrorKind::InvalidData.into());
            }
            file.seek(SeekFrom::Start(from.min(size)))?;
            Ok(file)
        });
        let file: io::Result<File> = opened.await.map_err(|_| StoreError::Late)?;
        let file = file.map_err(|error| read_error(&error, digest))?;
        let hash = (from == 0).then(Sha256::new);
        let from_file = Origin::File(Some(FileReader { file, hash }));
        Ok(Self { digest, from: from_file, left: size.saturating_sub(from) })
    }

    /// Reads from chunks of a blob of the given size.
    pub(crate) fn of_chunks(digest: Digest, chunks: Chunks, size: u64, from: u64) -> Self {
        let hash = (from == 0).then(Sha256::new);
        let (number, skip) = (from / STORED_CHUNK as u64, from % STORED_CHUNK as u64);
        let skip = usize::try_from(skip).unwrap_or_default();
        let reader = ChunkReader { chunks, number, skip, rest: Bytes::new(), hash };
        Self { digest, from: Origin::Chunks(reader), left: size.saturating_sub(from) }
    }

    /// Limits the number of bytes to read, which disables the check of the digest if it cuts the blob.
    #[must_use]
    pub fn take(mut self, limit: u64) -> Self {
        if limit < self.left {
            self.left = limit;
            match &mut self.from {
                Origin::File(Some(reading)) => reading.hash = None,
                Origin::Chunks(reading) => reading.hash = None,
                Origin::File(None) | Origin::Memory(_) => {}
            }
        }
        self
    }

    /// The next chunk, of 64 KiB unless it is the last one; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ReadError> {
        if self.left == 0 {
            return Ok(None);
        }
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(CHUNK);
        let is_last = self.left == length as u64;
        let piece = match &mut self.from {
            Origin::Chunks(reading) => reading.read(length, self.digest, is_last).await?,
            Origin::Memory(bytes) => bytes.split_to(length),
            Origin::File(reading) => {
                let taken = reading.take().ok_or(StoreError::Late)?;
                let digest = self.digest;
                let done = spawn_blocking(move || taken.read_chunk(length, is_last.then_some(digest)));
                let done = done.await.map_err(|_| StoreError::Late)?;
                let (taken, piece) = done.map_err(|error| read_error(&error, digest))?;
                *reading = Some(taken);
                piece
            }
        };
        self.left -= length as u64;
        Ok(Some(piece))
    }

    /// Reads the rest into memory. For blobs that are known to be small.
    pub async fn all(mut self) -> Result<Bytes, ReadError> {
        let mut all = BytesMut::new();
        while let Some(piece) = self.next().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all.freeze())
    }
}

impl ChunkReader {
    /// The next bytes. If they are the last ones, checks the digest of the whole blob.
    async fn read(&mut self, length: usize, digest: Digest, is_last: bool) -> Result<Bytes, ReadError> {
        let damaged = || ReadError::Damaged(digest);
        let mut piece = BytesMut::new();
        while piece.len() < length {
            if self.rest.is_empty() {
                let chunk = self.chunks.read(&digest, self.number).await?.ok_or_else(damaged)?;
                self.number += 1;
                self.rest = Bytes::from(chunk);
                if self.skip >= self.rest.len() {
                    return Err(damaged());
                }
                let _ = self.rest.split_to(std::mem::take(&mut self.skip));
            }
            let part = self.rest.split_to(self.rest.len().min(length - piece.len()));
            piece.extend_from_slice(&part);
        }
        if let Some(hash) = &mut self.hash {
            hash.update(&piece);
            if is_last && hash.clone().finalize()[..] != digest.as_bytes()[..] {
                return Err(damaged());
            }
        }
        Ok(piece.freeze())
    }
}

impl FileReader {
    /// The next chunk. `digest` is given for the last one only, and is that of the whole blob.
    fn read_chunk(mut self, length: usize, digest: Option<Digest>) -> io::Result<(Self, Bytes)> {
        let mut piece = BytesMut::zeroed(length);
        self.file.read_exact(&mut piece)?;
        if let Some(hash) = &mut self.hash {
            hash.update(&piece);
        }
        match (&self.hash, digest) {
            (Some(hash), Some(digest)) if hash.clone().finalize()[..] != digest.as_bytes()[..] => {
                Err(io::ErrorKind::InvalidData.into())
            }
            _ => Ok((self, piece.freeze())),
        }
    }
}

fn read_error(error: &io::Error, digest: Digest) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
            ReadError::Damaged(digest)
        }
        _ => {
            let place = "the files of documents".to_owned();
            ReadError::Store(StoreError::Unavailable { place, cause: error.to_string() })
        }
    }
}
