//! The manifest files: directories of one or several trees, and the detection of changes.

use std::time::{Duration, SystemTime};

use super::cooperative::Pace;
use toolwire_base::{
    clock,
    digest::Digest,
    files::{FileStamp, Stamp, Tree},
};

/// The age from which a file's stamp is trusted: a younger file may be written again with the same stamp.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// Approximate microseconds to stat a file, and to read it.
const LOOKED_AT: u32 = 2;
const READ: u32 = 12;

/// The directories of manifests.
#[derive(Clone, Debug)]
pub struct Manifests {
    places: Vec<(Tree, String)>,
}

/// The files and their stamps, which identify their state at the cost of one `stat` each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listing(Vec<Listed>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    directory: Stamp,
    /// In order of path, or the reason why they cannot be listed.
    files: Result<Vec<(String, Stamp)>, String>,
}

/// The contents of all files at one moment.
pub(super) struct Contents {
    pub(super) files: Vec<Content>,
    pub(super) digest: Digest,
    /// `None` while the stamp of a file cannot be trusted.
    pub(super) listing: Option<Listing>,
}

pub(super) struct Content {
    pub(super) place: Place,
    pub(super) text: Text,
    pub(super) digest: Digest,
    /// `None` while it cannot be trusted.
    pub(super) stamp: Stamp,
}

/// The location of a file: the index of its directory, and its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    directory: usize,
    pub(super) path: String,
}

/// The text of a file.
pub(super) enum Text {
    /// Not read, because it has not changed.
    Unchanged,
    Read(String),
    /// Why it could not be read.
    Unreadable(String),
}

impl Manifests {
    /// The manifests in the tree's directory `tools`.
    pub fn new(tree: Tree) -> Self {
        Self { places: vec![(tree, "tools".to_owned())] }
    }

    /// Adds another directory.
    pub fn with(mut self, tree: Tree, directory: impl Into<String>) -> Self {
        self.places.push((tree, directory.into()));
        self
    }

    pub(super) fn list(&self, pace: &Pace) -> Listing {
        Listing(self.places.iter().map(|(tree, directory)| list_directory(tree, directory, pace)).collect())
    }

    pub(super) fn read_all(&self) -> Contents {
        let pace = Pace::alone();
        self.read(self.list(&pace), &pace, |_, _| None)
    }

    /// Reads the listed files, except those whose digest `known` returns for their place and stamp.
    pub(super) fn read(
        &self,
        listing: Listing,
        pace: &Pace,
        known: impl Fn(&Place, FileStamp) -> Option<Digest>,
    ) -> Contents {
        // Taken after the stamps: the next listing sees what is written from now on.
        let now = clock::wall();
        let mut files = Vec::new();
        for (directory, (listed, (tree, path))) in listing.0.iter().zip(&self.places).enumerate() {
            let at = |path: &String| Place { directory, path: path.clone() };
            match &listed.files {
                Err(reason) => files.push(Content::new(at(path), Text::Unreadable(reason.clone()), None)),
                Ok(paths) => files.extend(paths.iter().map(|(path, stamp)| {
                    let (file, stamp) = (at(path), settled(*stamp, now));
                    if let Some(digest) = stamp.and_then(|stamp| known(&file, stamp)) {
                        return Content { place: file, text: Text::Unchanged, digest, stamp };
                    }
                    pace.record(READ);
                    Content::new(file, read(tree, path), stamp)
                })),
            }
        }
        let parts = files.iter().flat_map(|it| [it.place.path.as_bytes(), it.digest.as_bytes()]);
        Contents { digest: Digest::of_parts(parts), listing: listing.settled(now), files }
    }
}

impl Content {
    fn new(place: Place, text: Text, stamp: Stamp) -> Self {
        let digest = match &text {
            Text::Unchanged => Digest::of_bytes(&[]),
            Text::Read(text) | Text::Unreadable(text) => Digest::of_bytes(text.as_bytes()),
        };
        Self { place, text, digest, stamp }
    }
}

impl Listing {
    fn settled(self, now: SystemTime) -> Option<Self> {
        let is_settled = |stamp: &Stamp| stamp.is_none() || settled(*stamp, now).is_some();
        let files = |listed: &Listed| {
            listed.files.iter().flatten().all(|(_, stamp)| is_settled(stamp)) && is_settled(&listed.directory)
        };
        self.0.iter().all(files).then_some(self)
    }
}

fn settled(stamp: Stamp, now: SystemTime) -> Stamp {
    stamp.filter(|stamp| stamp.age(now).is_some_and(|age| age >= SETTLES_AFTER))
}

fn list_directory(tree: &Tree, directory: &str, pace: &Pace) -> Listed {
    let files = match tree.list(directory, "json") {
        // Embedded without samples there is none, and no path that could be wrong.
        Ok(_) if matches!(tree, Tree::Disk(_)) && !tree.has_directory(directory) => {
            Err("there is no such directory; manifests belong there, one <name>.json a tool".to_owned())
        }
        Ok(paths) => Ok(read_stamps(tree, paths, pace)),
        Err(error) => Err(error.to_string()),
    };
    Listed { directory: tree.stamp(directory), files }
}

fn read_stamps(tree: &Tree, paths: Vec<String>, pace: &Pace) -> Vec<(String, Stamp)> {
    let stamp = |path: String| {
        pace.record(LOOKED_AT);
        let stamp = tree.stamp(&path);
        (path, stamp)
    };
    paths.into_iter().map(stamp).collect()
}

fn read(tree: &Tree, path: &str) -> Text {
    match tree.read(path) {
        Ok(Some(text)) => Text::Read(text),
        Ok(None) => Text::Unreadable("the file is gone or not UTF-8".to_owned()),
        Err(error) => Text::Unreadable(error.to_string()),
    }
}
