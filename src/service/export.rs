//! A user's tools as providers of models take them.

use std::sync::Arc;

use super::{Filter, Tools, request};
use crate::{
    context::User,
    contract::{Refusal, near::did_you_mean},
    exports::{self, Export, Format, Options},
    offload,
    registry::RegisteredTool,
};

/// The longest export, in bytes: clients stop at 4 MiB.
const LONGEST: usize = 3 * 1024 * 1024;
/// About so many bytes a tool has in an export.
const OF_A_TOOL: usize = 2 * 1024;

/// What is to be exported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The name of the format.
    pub format: String,
    /// In the strict form, where the format has one.
    pub strict: bool,
    /// Only tools with all of these tags.
    pub tags: Vec<String>,
}

impl Tools {
    /// The tools that a user may call, declared in a format, in order of name.
    pub async fn export(&self, user: &User, wanted: Wanted) -> Result<Export, Refusal> {
        let Wanted { format, strict, tags } = wanted;
        let format = named(&format)?;
        let filter = Filter::tagged(request::tags("tags", tags)?);
        let tools: Vec<Arc<RegisteredTool>> = self.list(user, filter).collect();
        let is_empty = tools.is_empty();
        let on_network = self.limits.budgets().into_iter().map(|source| source.name).collect();
        let options = Options { strict, on_network };
        let work = move || {
            let definitions: Vec<_> = tools.iter().map(|tool| &tool.definition).collect();
            exports::export(format, &definitions, &options)
        };
        let mut export = offload::if_large(self.registry.snapshot().tools().len() * OF_A_TOOL, work).await;
        if export.json.len() > LONGEST {
            let what = format!(
                "must name fewer tools: the export has {} bytes, and at most {LONGEST} fit into an answer",
                export.json.len()
            );
            return Err(request::refuse("tags", "max_length", &what));
        }
        if is_empty {
            export.notes.push("there is no tool with all of these tags that you may call".to_owned());
        }
        Ok(export)
    }
}

fn named(name: &str) -> Result<Format, Refusal> {
    let unknown = || {
        let names = Format::ALL.map(Format::name);
        let hint = did_you_mean(name, names.into_iter());
        request::refuse("format", "enum", &format!("must be one of: {}{hint}", names.join(", ")))
    };
    Format::from_name(name).ok_or_else(unknown)
}
