//! A user's tools as providers of models take them.

use std::{collections::BTreeSet, sync::Arc};

use strum::VariantArray as _;

use super::{Filter, Listing, Tools, request, shared_export::Exported};
use toolwire_base::{digest::Digest, offload};
use toolwire_contract::{Refusal, near::did_you_mean};
use toolwire_engine::{
    exports::{self, Format, Options},
    model::READ_RESULT,
    registry::{RegisteredTool, Status},
};
use toolwire_tool::context::User;

/// Maximum size of an export in bytes: clients accept messages of 4 MiB.
const MAX_BYTES: usize = 3 * 1024 * 1024;
/// Estimated size of a tool in an export, in bytes.
const OF_A_TOOL: usize = 2 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportRequest {
    pub format: String,
    /// Selects the strict form, if the format has one.
    pub strict: bool,
    /// Only tools with all of these tags.
    pub tags: Vec<String>,
}

impl Tools {
    /// The tools that a user may call, declared in a format, in order of name. An export of all tools is cached; one of
    /// a part is made each time.
    pub async fn export(&self, user: &User, wanted: ExportRequest) -> Result<Arc<Exported>, Refusal> {
        let ExportRequest { format, strict, tags } = wanted;
        let format = parse_format(&format)?;
        let filter = Filter::with_tags(request::tags("tags", tags)?);
        let tools = self.list(user, filter);
        let on_network: BTreeSet<_> = self.limits.budgets().into_iter().map(|source| source.name).collect();
        let bytes = tools.snapshot().tools().len() * OF_A_TOOL;
        let kept = tools.cache_key(&format!("{format:?} {strict} {on_network:?}"));
        let snapshot = Arc::clone(tools.snapshot());
        let options = Options { strict, on_network };
        let work = move || {
            let tools = if format == Format::Mcp { with_read_result(tools) } else { tools.collect() };
            let exported = export_tools(format, &tools, &options);
            (exported.export.json.len(), Arc::new(exported))
        };
        let exported = match kept {
            Some(key) => self.exports.get_or_make(&snapshot, key, bytes, work).await,
            None => offload::if_large(bytes, work).await.1,
        };
        let length = exported.export.json.len();
        if length > MAX_BYTES {
            let what = format!(
                "must name fewer tools: the export has {length} bytes, and at most {MAX_BYTES} fit into an answer"
            );
            return Err(request::refuse("tags", "max_length", &what));
        }
        Ok(exported)
    }
}

/// The tools of a listing and `read_result`, whatever their tags: long results of them are cut over MCP, and a client
/// offers its model only what is listed.
fn with_read_result(listing: Listing) -> Vec<Arc<RegisteredTool>> {
    let is_callable = |tool: &Arc<RegisteredTool>| !matches!(tool.definition.status, Status::Disabled(_));
    let read_result = listing
        .visible(READ_RESULT)
        .filter(|tool| is_callable(tool) && tool.definition.provider().is_none())
        .cloned();
    let mut tools: Vec<_> = listing.collect();
    if let Some(read_result) = read_result
        && tools.iter().any(is_callable)
        && let Err(place) = tools.binary_search_by(|tool| tool.definition.name.as_str().cmp(READ_RESULT))
    {
        tools.insert(place, read_result);
    }
    tools
}

fn export_tools(format: Format, tools: &[Arc<RegisteredTool>], options: &Options) -> Exported {
    let definitions: Vec<_> = tools.iter().map(|tool| &tool.definition).collect();
    let mut export = exports::export(format, &definitions, options);
    if tools.is_empty() {
        export.notes.push("there is no tool with all of these tags that you may call".to_owned());
    }
    let digest = Digest::of_parts(std::iter::once(&export.json).chain(&export.notes));
    Exported { export, digest }
}

fn parse_format(name: &str) -> Result<Format, Refusal> {
    let unknown = || {
        let names: Vec<_> = Format::VARIANTS.iter().map(Format::into_str).collect();
        let hint = did_you_mean(name, names.iter().copied());
        request::refuse("format", "enum", &format!("must be one of: {}{hint}", names.join(", ")))
    };
    name.parse().map_err(|_| unknown())
}
