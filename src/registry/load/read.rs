//! One file of a manifest, read with its own problems.

use crate::registry::{manifest::Manifest, manifests::Content, problem::Report};

/// A file and the manifest in it, if it could be read.
pub(super) struct Read {
    pub(super) manifest: Option<Manifest>,
    pub(super) report: Report,
}

impl Read {
    /// Reads a file.
    pub(super) fn file(file: &Content) -> Self {
        let mut report = Report::new(&file.path);
        let manifest = match &file.text {
            Ok(text) => Manifest::read(&file.path, text, &mut report),
            Err(reason) => {
                report.add("", "unreadable", reason);
                None
            }
        };
        Self { manifest, report }
    }

    /// The manifest, and where to report what is wrong with it.
    pub(super) fn parts(&mut self) -> Option<(&Manifest, &mut Report)> {
        self.manifest.as_ref().map(|manifest| (manifest, &mut self.report))
    }
}
