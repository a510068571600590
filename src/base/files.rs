//! The data tree: manifests and data, embedded in the binary by the domains or read from a directory on disk.
//!
//! Not here: what the files mean, and when to look again.

mod embedded;
mod problem;

#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

pub use self::{
    embedded::{Embedded, PathTaken},
    problem::{Audience, Problem, Problems},
};
use crate::{digest::Digest, words::without_bom};

/// A tree of files. Paths in it are relative, with `/`.
#[derive(Clone, Debug)]
pub enum Tree {
    /// What domains embed in the binary. Never changes.
    Embedded(Embedded),
    Disk(PathBuf),
}

/// Identifies a state of a file as cheaply as one `stat` can. `None` if there is no such file.
pub type Stamp = Option<FileStamp>;

/// A state of a file. The inode distinguishes a file that replaced one of the same size and time. The time of its
/// status, which no program can set, distinguishes one that was rewritten and given its old time back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    modified: SystemTime,
    length: u64,
    /// When its status last changed, which a write does too.
    changed: SystemTime,
    /// Device and inode; zero where the system has none.
    identity: (u64, u64),
}

impl FileStamp {
    /// That of the file at a path, which may be a link to it; `None` if there is none.
    pub fn of_file(path: &Path) -> Option<Self> {
        Self::of(&fs::metadata(path).ok()?)
    }

    fn of(metadata: &fs::Metadata) -> Option<Self> {
        let (modified, length) = (metadata.modified().ok()?, metadata.len());
        let (changed, identity) = (changed(metadata).unwrap_or(modified), identity(metadata));
        Some(Self { modified, length, changed, identity })
    }

    /// How long ago the file was last written or replaced; `None` if that is in the future.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        now.duration_since(self.modified.max(self.changed)).ok()
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(unix)]
fn changed(metadata: &fs::Metadata) -> Option<SystemTime> {
    let seconds = Duration::from_secs(metadata.ctime().try_into().ok()?);
    Some(SystemTime::UNIX_EPOCH + seconds + Duration::from_nanos(metadata.ctime_nsec().try_into().ok()?))
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(not(unix))]
fn changed(_: &fs::Metadata) -> Option<SystemTime> {
    None
}

/// A file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {source}")]
pub struct ReadError {
    pub path: String,
    source: io::Error,
}

impl Tree {
    /// The text of a file, without a byte order mark; `None` if there is no such file.
    pub fn read(&self, path: &str) -> Result<Option<String>, ReadError> {
        let text = match self {
            Self::Embedded(files) => {
                files.get(path).and_then(|it| str::from_utf8(it).ok()).map(str::to_owned)
            }
            Self::Disk(root) => absent_is_none(path, fs::read_to_string(root.join(path)))?,
        };
        Ok(text.map(|text| match without_bom(&text) {
            bare if bare.len() < text.len() => bare.to_owned(),
            _ => text,
        }))
    }

    /// The content of a file that need not be text; `None` if there is no such file.
    pub fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, ReadError> {
        match self {
            Self::Embedded(files) => Ok(files.get(path).map(<[u8]>::to_vec)),
            Self::Disk(root) => absent_is_none(path, fs::read(root.join(path))),
        }
    }

    /// The files of a directory with the given extension, as paths in the tree, sorted. Empty without the directory.
    pub fn list(&self, directory: &str, extension: &str) -> Result<Vec<String>, ReadError> {
        let names = match self {
            Self::Embedded(files) => files.names(directory),
            Self::Disk(root) => disk_names(directory, &root.join(directory))?,
        };
        let is_wanted = |name: &String| Path::new(name).extension().is_some_and(|found| found == extension);
        let mut paths: Vec<_> =
            names.into_iter().filter(is_wanted).map(|name| format!("{directory}/{name}")).collect();
        paths.sort();
        Ok(paths)
    }

    /// The digest of the files below a directory, by their paths in the tree and their contents: the same embedded and
    /// on disk.
    pub fn digest(&self, directory: &str) -> Digest {
        let mut files = match self {
            Self::Embedded(files) => files.below(directory),
            Self::Disk(root) => disk_files(directory, &root.join(directory)),
        };
        files.sort();
        Digest::of_parts(files.into_iter().flat_map(|(path, content)| [path.into_bytes(), content]))
    }

    /// Whether there is such a directory.
    pub fn has_directory(&self, path: &str) -> bool {
        match self {
            Self::Embedded(files) => files.has_directory(path),
            Self::Disk(root) => root.join(path).is_dir(),
        }
    }

    /// The stamp of a file: one `stat` on disk; always `None` when embedded, where nothing changes.
    pub fn stamp(&self, path: &str) -> Stamp {
        let Self::Disk(root) = self else { return None };
        FileStamp::of_file(&root.join(path))
    }

    /// The location of a file for people: its path on disk, or its name within the binary.
    pub fn display(&self, path: &str) -> String {
        match self {
            Self::Embedded(_) => format!("(embedded) {path}"),
            Self::Disk(root) => root.join(path).display().to_string(),
        }
    }
}

/// The visible files below a directory. What cannot be read counts as absent: the error is reported by whatever reads
/// it later.
fn disk_files(path: &str, directory: &Path) -> Vec<(String, Vec<u8>)> {
    let names = disk_names(path, directory).unwrap_or_default().into_iter();
    let entries = names.map(|name| (format!("{path}/{name}"), directory.join(name)));
    let files = entries.flat_map(|(path, on_disk)| {
        if on_disk.is_dir() {
            disk_files(&path, &on_disk)
        } else {
            fs::read(&on_disk).map(|content| (path, content)).into_iter().collect()
        }
    });
    files.collect()
}

fn disk_names(path: &str, directory: &Path) -> Result<Vec<String>, ReadError> {
    let Some(entries) = absent_is_none(path, fs::read_dir(directory))? else { return Ok(Vec::new()) };
    // Editors and ConfigMaps leave hidden files beside the real ones.
    let visible = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(visible.filter(|name| !name.starts_with('.')).collect())
}

fn absent_is_none<T>(path: &str, result: io::Result<T>) -> Result<Option<T>, ReadError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ReadError { path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_of_the_same_time_and_size_is_another() {
        let root = tempfile::tempdir().expect("a directory");
        let (tree, old) = (Tree::Disk(root.path().to_owned()), SystemTime::UNIX_EPOCH);
        let write = |name: &str, content: &str| {
            fs::write(root.path().join(name), content).expect("written");
            let file = fs::File::options().write(true).open(root.path().join(name)).expect("there");
            file.set_modified(old).expect("set");
        };
        write("a", "one");
        write("b", "two");
        let before = tree.stamp("a");
        assert_eq!(tree.stamp("a"), before);
        fs::rename(root.path().join("b"), root.path().join("a")).expect("replaced");
        assert_ne!(tree.stamp("a"), before);
        // It was replaced after the time that it has.
        assert_eq!(tree.stamp("a").and_then(|stamp| stamp.age(old)), None);
    }

    #[test]
    fn a_digest_is_the_same_embedded_and_on_disk() {
        let embedded = Embedded::of([("a/x", b"1"), ("a/b/y", b"2"), ("a-b/z", b"3")]);
        let digests = [tempfile::tempdir(), tempfile::tempdir()].map(|root| {
            let root = root.expect("a directory");
            for (path, content) in [("a/x", "1"), ("a/b/y", "2"), ("a-b/z", "3"), ("a/.x.swp", "4")] {
                let file = root.path().join(path);
                fs::create_dir_all(file.parent().expect("below the root")).expect("created");
                fs::write(file, content).expect("written");
            }
            Tree::Disk(root.path().to_owned()).digest("a")
        });
        assert_eq!(digests, [Tree::Embedded(embedded.clone()).digest("a"); 2]);
        let other = Embedded::of([("a/x", b"1"), ("a/b/y", b"3")]);
        assert_ne!(Tree::Embedded(other).digest("a"), Tree::Embedded(embedded).digest("a"));
    }
}
