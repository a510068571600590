//! Bytes on their way out, a piece at a time. Read whole, they are hashed on the way, and the last piece comes only if
//! the digest is right.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

use bytes::{Bytes, BytesMut};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use crate::StoreError;
use toolwire_base::digest::Digest;

/// Bytes are read in pieces of this size.
pub const CHUNK: usize = 64 * 1024;

/// Bytes on their way out.
#[derive(Debug)]
pub struct Source {
    digest: Digest,
    from: From,
    left: u64,
}

#[derive(Debug)]
enum From {
    Memory(Bytes),
    /// None while a piece is read.
    File(Option<Reading>),
}

#[derive(Debug)]
struct Reading {
    file: File,
    /// Of what was read, if all of it is.
    hash: Option<Sha256>,
}

/// Why bytes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// They are not those that were written, or not there.
    #[error("the bytes of {0} are damaged")]
    Damaged(Digest),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Source {
    /// Bytes that are in memory, the whole of them.
    pub fn of_bytes(digest: Digest, bytes: &Bytes, from: u64) -> Result<Self, ReadError> {
        if Digest::of_bytes(bytes) != digest {
            return Err(ReadError::Damaged(digest));
        }
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = bytes.slice(from..);
        Ok(Self { digest, left: bytes.len() as u64, from: From::Memory(bytes) })
    }

    /// Bytes of a file, which must have the stated size.
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
        let file = file.map_err(|error| why(&error, digest))?;
        let hash = (from == 0).then(Sha256::new);
        let from_file = From::File(Some(Reading { file, hash }));
        Ok(Self { digest, from: from_file, left: size.saturating_sub(from) })
    }

    /// The same, but at most so many bytes.
    #[must_use]
    pub fn limited(mut self, limit: u64) -> Self {
        if limit < self.left {
            self.left = limit;
            if let From::File(Some(reading)) = &mut self.from {
                reading.hash = None;
            }
        }
        self
    }

    /// The next piece, of 64 KiB unless it is the last one.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ReadError> {
        if self.left == 0 {
            return Ok(None);
        }
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(CHUNK);
        let is_last = self.left == length as u64;
        let piece = match &mut self.from {
            From::Memory(bytes) => bytes.split_to(length),
            From::File(reading) => {
                let taken = reading.take().ok_or(StoreError::Late)?;
                let digest = self.digest;
                let done = spawn_blocking(move || taken.piece(length, is_last.then_some(digest)));
                let done = done.await.map_err(|_| StoreError::Late)?;
                let (taken, piece) = done.map_err(|error| why(&error, digest))?;
                *reading = Some(taken);
                piece
            }
        };
        self.left -= length as u64;
        Ok(Some(piece))
    }

    /// All of it, for what is known to be small.
    pub async fn all(mut self) -> Result<Bytes, ReadError> {
        let mut all = BytesMut::new();
        while let Some(piece) = self.next().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all.freeze())
    }
}

impl Reading {
    /// The next piece. Of the last one it is known what the digest of all must be.
    fn piece(mut self, length: usize, digest: Option<Digest>) -> io::Result<(Self, Bytes)> {
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

fn why(error: &io::Error, digest: Digest) -> ReadError {
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
