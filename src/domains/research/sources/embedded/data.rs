//! The files of `research/`, read again for each request.

use std::io;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::sources::universe::Universe;
use toolwire_base::{files::Tree, words::bytes_without_bom};

/// The directory in the tree.
pub(super) const ROOT: &str = "research";

/// The files, and what all of them are about.
#[derive(Debug)]
pub(super) struct Data {
    tree: Tree,
    pub(super) universe: Universe,
}

impl Data {
    /// Reads only the universe, without which the tree is not the right one.
    pub(super) fn load(tree: Tree) -> io::Result<Self> {
        let path = format!("{ROOT}/universe.json");
        let text = tree.read(&path).map_err(io::Error::other)?;
        let text = text.ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("missing {}", tree.display(&path)))
        })?;
        let universe = Universe::parse(&text).map_err(io::Error::other)?;
        Ok(Self { tree, universe })
    }

    /// The instant that the data was recorded for.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.universe.recorded_at().into()
    }

    /// A file below `research/`. Parts of the path may come from a request, so only plain names are found.
    pub(super) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let is_plain = path.split('/').all(is_plain_name);
        if !is_plain {
            return None;
        }
        self.tree.read_bytes(&format!("{ROOT}/{path}")).unwrap_or_else(|error| {
            tracing::error!(%error, "embedded source");
            None
        })
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file of JSON. One that cannot be read is none, and logged.
    pub(super) fn json(&self, path: &str) -> Option<Value> {
        serde_json::from_slice(bytes_without_bom(&self.bytes(path)?))
            .inspect_err(|error| tracing::error!(%path, %error, "embedded source"))
            .ok()
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['\\', ':', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_directory() {
        let data = Data::load(Tree::Embedded(crate::data::files())).unwrap();
        assert!(data.bytes("universe.json").is_some());
        assert!(data.bytes("yahoo/chart/M&M.NS.json").is_some());
        for path in ["../brokerage/user_master.json", "yahoo/../universe.json", "/universe.json", "a\\b", ""]
        {
            assert!(data.bytes(path).is_none(), "{path:?}");
        }
    }
}
