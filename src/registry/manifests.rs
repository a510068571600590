//! Where manifests come from: directories of one tree or several, and whether they have changed.

use std::time::{Duration, SystemTime};

use crate::{
    clock,
    digest::Digest,
    files::{Stamp, Tree},
};

/// A file written so recently may be written again without its stamp telling.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// Where manifests come from.
#[derive(Clone, Debug)]
pub struct Manifests {
    places: Vec<(Tree, String)>,
}

/// What identifies a state of the files as cheaply as a `stat` each can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamps(Vec<(String, Stamp)>);

/// The files at one moment.
pub(super) struct Contents {
    pub(super) files: Vec<Content>,
    pub(super) digest: Digest,
    /// `None` while a file is too young for its stamp to be trusted.
    pub(super) stamps: Option<Stamps>,
}

/// One file, or why it could not be read.
pub(super) struct Content {
    pub(super) path: String,
    pub(super) text: Result<String, String>,
}

impl Manifests {
    /// The manifests in the tree's directory `tools`.
    pub fn new(tree: Tree) -> Self {
        Self { places: vec![(tree, "tools".to_owned())] }
    }

    /// The same, and those in another directory.
    pub fn with(mut self, tree: Tree, directory: impl Into<String>) -> Self {
        self.places.push((tree, directory.into()));
        self
    }

    pub(super) fn stamps(&self) -> Stamps {
        let paths = self.places.iter().flat_map(|(tree, directory)| {
            let paths = tree.list(directory, "json").unwrap_or_default();
            // The directory too: an empty one and none are not the same.
            paths.into_iter().chain([directory.clone()]).map(move |path| (tree.stamp(&path), path))
        });
        Stamps(paths.map(|(stamp, path)| (path, stamp)).collect())
    }

    pub(super) fn read(&self) -> Contents {
        // Stamps first: what is written after them is seen by the next look.
        let (stamps, now) = (self.stamps(), clock::wall());
        let files: Vec<_> =
            self.places.iter().flat_map(|(tree, directory)| read_directory(tree, directory)).collect();
        let texts = files.iter().flat_map(|file| match &file.text {
            Ok(text) | Err(text) => [file.path.as_str(), text],
        });
        Contents { digest: Digest::of_parts(texts), stamps: stamps.settled(now), files }
    }
}

impl Stamps {
    fn settled(self, now: SystemTime) -> Option<Self> {
        let is_settled = |stamp: &Stamp| {
            stamp.is_none_or(|(modified, _)| {
                now.duration_since(modified).is_ok_and(|age| age >= SETTLES_AFTER)
            })
        };
        self.0.iter().all(|(_, stamp)| is_settled(stamp)).then_some(self)
    }
}

fn read_directory(tree: &Tree, directory: &str) -> Vec<Content> {
    match tree.list(directory, "json") {
        Ok(_) if !tree.has_directory(directory) => {
            let reason = "there is no such directory; manifests belong there, one <name>.json a tool";
            vec![Content { path: directory.to_owned(), text: Err(reason.to_owned()) }]
        }
        Ok(paths) => paths.into_iter().map(|path| read_file(tree, path)).collect(),
        Err(error) => vec![Content { path: directory.to_owned(), text: Err(error.to_string()) }],
    }
}

fn read_file(tree: &Tree, path: String) -> Content {
    let text = match tree.read(&path) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err("the file is gone or not UTF-8".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    Content { path, text }
}
