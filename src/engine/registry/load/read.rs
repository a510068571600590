//! One file of a manifest: read, with its own problems, or kept from the last load.

use std::sync::Arc;

use super::file_cache::FileCache;
use crate::registry::{
    assemble::RegisteredTool,
    manifest::Manifest,
    manifests::{Content, Text},
    problem::Report,
};

/// A file and its declaration, if it could be read.
pub(super) struct Read {
    pub(super) file: Content,
    pub(super) found: Option<Parsed>,
    pub(super) report: Report,
}

pub(super) enum Parsed {
    Manifest(Box<Manifest>),
    /// The tool kept from the same text.
    Tool(Arc<RegisteredTool>),
}

impl Read {
    /// Parses a file, unless its tool is kept.
    pub(super) fn file(mut file: Content, cache: &FileCache) -> Self {
        let mut report = Report::new(&file.place.path);
        let found = match (cache.tool(&file), std::mem::replace(&mut file.text, Text::Unchanged)) {
            (Some(tool), _) => Some(Parsed::Tool(tool)),
            (None, Text::Read(text)) => {
                let manifest = Manifest::read(&file.place.path, &text, &mut report);
                manifest.map(|it| Parsed::Manifest(Box::new(it)))
            }
            (None, Text::Unreadable(reason)) => {
                report.add("", "unreadable", reason);
                None
            }
            (None, Text::Unchanged) => unreachable!("only what is kept is not read"),
        };
        Self { file, found, report }
    }

    /// The manifest of the file, and its report.
    pub(super) fn parts(&mut self) -> Option<(&Manifest, &mut Report)> {
        let manifest = match self.found.as_ref()? {
            Parsed::Manifest(manifest) => manifest,
            Parsed::Tool(tool) => &*tool.definition,
        };
        Some((manifest, &mut self.report))
    }
}
