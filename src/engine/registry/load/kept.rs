//! The tools of manifests that nothing is wrong with by themselves, whatever the others say: a file that has not
//! changed is not made into a tool again.

use std::{collections::HashMap, sync::Arc, time::SystemTime};

use crate::registry::{
    assemble::RegisteredTool,
    manifests::{Content, Place, Text},
};
use toolwire_base::{digest::Digest, files::Stamp};

/// By file. For one set of executors, messages and choices.
#[derive(Debug, Default)]
pub(in crate::registry) struct Kept(HashMap<Place, Entry>);

#[derive(Debug)]
struct Entry {
    digest: Digest,
    stamp: Stamp,
    tool: Arc<RegisteredTool>,
}

impl Kept {
    /// The digest of a file whose tool is kept, if it has not been written since it was read.
    pub(in crate::registry) fn digest(&self, place: &Place, stamp: (SystemTime, u64)) -> Option<Digest> {
        self.0.get(place).filter(|entry| entry.stamp == Some(stamp)).map(|entry| entry.digest)
    }

    /// Takes over since when the files have not been written.
    pub(in crate::registry) fn refresh(&mut self, files: &[Content]) {
        for file in files {
            if let Some(entry) = self.0.get_mut(&file.place).filter(|entry| entry.digest == file.digest) {
                entry.stamp = file.stamp;
            }
        }
    }

    /// The tool that was made of what the file says.
    pub(super) fn tool(&self, file: &Content) -> Option<Arc<RegisteredTool>> {
        let entry = self.0.get(&file.place).filter(|entry| entry.digest == file.digest)?;
        (!matches!(file.text, Text::Unreadable(_))).then(|| Arc::clone(&entry.tool))
    }

    pub(super) fn keep(&mut self, file: Content, tool: Arc<RegisteredTool>) {
        let Content { place, digest, stamp, .. } = file;
        self.0.insert(place, Entry { digest, stamp, tool });
    }

    /// Nothing, with room for so many.
    pub(super) fn with_capacity(files: usize) -> Self {
        Self(HashMap::with_capacity(files))
    }
}
