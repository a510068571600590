//! One file of a manifest: read with its own problems, or known from the last look.

use std::sync::Arc;

use super::kept::Kept;
use crate::registry::{
    assemble::RegisteredTool,
    manifest::Manifest,
    manifests::{Content, Text},
    problem::Report,
    words::Category,
};
use toolwire_contract::ToolName;

/// A file and what it declares, if it could be read.
pub(super) struct Read {
    pub(super) file: Content,
    pub(super) found: Option<Found>,
    pub(super) report: Report,
}

/// What a file declares.
pub(super) enum Found {
    Manifest(Box<Manifest>),
    /// The tool that was made of the same text.
    Tool(Arc<RegisteredTool>),
}

/// What no two manifests may both say, and what depends on others.
pub(super) struct Stated<'a> {
    pub(super) file: &'a str,
    pub(super) name: &'a ToolName,
    pub(super) intents: &'a [String],
    pub(super) depends_on: &'a [String],
    pub(super) requires_confirmation: bool,
    /// Whether carrying a call out again, with the same arguments, changes nothing more.
    pub(super) is_repeatable: bool,
    pub(super) is_cached: bool,
}

impl Read {
    /// Reads a file, unless the tool of it is kept.
    pub(super) fn file(mut file: Content, kept: &Kept) -> Self {
        let mut report = Report::new(&file.place.path);
        let found = match (kept.tool(&file), std::mem::replace(&mut file.text, Text::Unchanged)) {
            (Some(tool), _) => Some(Found::Tool(tool)),
            (None, Text::Read(text)) => {
                let manifest = Manifest::read(&file.place.path, &text, &mut report);
                manifest.map(|it| Found::Manifest(Box::new(it)))
            }
            (None, Text::Unreadable(reason)) => {
                report.add("", "unreadable", reason);
                None
            }
            (None, Text::Unchanged) => unreachable!("only what is kept is not read"),
        };
        Self { file, found, report }
    }

    /// What is stated, and where to report what is wrong with it.
    pub(super) fn parts(&mut self) -> Option<(Stated<'_>, &mut Report)> {
        let stated = match self.found.as_ref()? {
            Found::Manifest(it) => Stated {
                file: &it.file,
                name: &it.name,
                intents: &it.intents,
                depends_on: &it.depends_on,
                requires_confirmation: it.requires_confirmation,
                is_repeatable: it.idempotent || it.category == Category::Read,
                is_cached: it.cache.is_some(),
            },
            Found::Tool(tool) => {
                let it = &tool.definition;
                Stated {
                    file: &it.file,
                    name: &it.name,
                    intents: &it.intents,
                    depends_on: &it.depends_on,
                    requires_confirmation: it.requires_confirmation,
                    is_repeatable: it.idempotent || it.category == Category::Read,
                    is_cached: it.cache.is_some(),
                }
            }
        };
        Some((stated, &mut self.report))
    }
}
