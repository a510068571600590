//! A cache of assembled tools by file: a file that has not changed is not assembled again. Tools are kept if their file
//! has no problems of its own, even if it conflicts with others.

use std::{collections::HashMap, sync::Arc};

use crate::registry::{
    assemble::RegisteredTool,
    manifests::{Content, Place, Text},
};
use toolwire_base::{
    digest::Digest,
    files::{FileStamp, Stamp},
};

/// Assembled tools by file, for a fixed set of executors, messages and choices.
#[derive(Debug, Default)]
pub(in crate::registry) struct FileCache(HashMap<Place, Entry>);

#[derive(Debug)]
struct Entry {
    digest: Digest,
    stamp: Stamp,
    tool: Arc<RegisteredTool>,
}

impl FileCache {
    /// The digest of a kept file, if its stamp shows that it was not written since it was read.
    pub(in crate::registry) fn digest(&self, place: &Place, stamp: FileStamp) -> Option<Digest> {
        self.0.get(place).filter(|entry| entry.stamp == Some(stamp)).map(|entry| entry.digest)
    }

    /// Updates the stamps of files that were written with the same content.
    pub(in crate::registry) fn refresh(&mut self, files: &[Content]) {
        for file in files {
            if let Some(entry) = self.0.get_mut(&file.place).filter(|entry| entry.digest == file.digest) {
                entry.stamp = file.stamp;
            }
        }
    }

    /// The tool that was assembled from the same content.
    pub(super) fn tool(&self, file: &Content) -> Option<Arc<RegisteredTool>> {
        let entry = self.0.get(&file.place).filter(|entry| entry.digest == file.digest)?;
        (!matches!(file.text, Text::Unreadable(_))).then(|| Arc::clone(&entry.tool))
    }

    pub(super) fn keep(&mut self, file: Content, tool: Arc<RegisteredTool>) {
        let Content { place, digest, stamp, .. } = file;
        self.0.insert(place, Entry { digest, stamp, tool });
    }

    pub(super) fn with_capacity(files: usize) -> Self {
        Self(HashMap::with_capacity(files))
    }
}
