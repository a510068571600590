//! `tools/list`: the user's tools in order of name, a page at a time.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use rmcp::{
    ErrorData,
    model::{CacheScope, ListToolsResult, Tool},
};
use serde::Deserialize;

use super::{outcome, services::Services};
use toolwire_contract::{ToolName, proto::v1::ExportToolsRequest};

/// How long a client may use a list, in milliseconds.
pub(super) const TTL_MS: u64 = 60_000;
/// Maximum number of decoded lists in the cache; users with the same permissions share one.
const KEPT: usize = 8;

/// The lists that were decoded last, by their text.
#[derive(Debug, Default)]
pub(super) struct Listings(Mutex<VecDeque<(String, Arc<[Tool]>)>>);

#[derive(Deserialize)]
struct Exported {
    tools: Vec<Tool>,
}

impl Listings {
    /// The page that begins behind the cursor, which is the name of the last tool before it, so that tools that come or
    /// go in between move no other.
    pub(super) async fn page(
        &self,
        services: &Services,
        tags: &[String],
        cursor: Option<&str>,
        size: usize,
    ) -> Result<ListToolsResult, ErrorData> {
        if cursor.is_some_and(|cursor| cursor.parse::<ToolName>().is_err()) {
            let what = "this cursor is not one of this server: list without one";
            return Err(ErrorData::invalid_params(what, None));
        }
        let request = ExportToolsRequest { format: "mcp".to_owned(), strict: false, tags: tags.to_vec() };
        let answer = services.tools().export_tools(request).await;
        let text = answer.map_err(|status| outcome::protocol_error(&status))?.into_inner().json;
        Ok(page(&self.decode(text)?, cursor, size))
    }

    fn decode(&self, text: String) -> Result<Arc<[Tool]>, ErrorData> {
        let mut kept = self.0.lock().expect("no holder panics");
        if let Some((_, tools)) = kept.iter().find(|(known, _)| *known == text) {
            return Ok(Arc::clone(tools));
        }
        let unreadable =
            |error| ErrorData::internal_error(format!("the list of tools cannot be read: {error}"), None);
        let exported: Exported = serde_json::from_str(&text).map_err(unreadable)?;
        let tools: Arc<[Tool]> = exported.tools.into();
        kept.truncate(KEPT - 1);
        kept.push_front((text, Arc::clone(&tools)));
        Ok(tools)
    }
}

fn page(tools: &[Tool], cursor: Option<&str>, size: usize) -> ListToolsResult {
    let begin = cursor.map_or(0, |cursor| tools.partition_point(|tool| &*tool.name <= cursor));
    let rest = &tools[begin..];
    let page = &rest[..size.min(rest.len())];
    let mut result = ListToolsResult::with_all_items(page.to_vec());
    if page.len() < rest.len() {
        result.next_cursor = page.last().map(|tool| tool.name.to_string());
    }
    (result.ttl_ms, result.cache_scope) = (Some(TTL_MS), Some(CacheScope::Private));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&'static str]) -> Vec<Tool> {
        names.iter().map(|name| Tool::new(*name, "", serde_json::Map::new())).collect()
    }

    #[test]
    fn pages_go_on_behind_the_last_name_whatever_came_or_went() {
        let names =
            |page: &ListToolsResult| page.tools.iter().map(|it| it.name.to_string()).collect::<Vec<_>>();
        let first = page(&tools(&["a", "b", "c", "d"]), None, 2);
        assert_eq!((names(&first), first.next_cursor.as_deref()), (vec!["a".into(), "b".into()], Some("b")));
        let second = page(&tools(&["a", "bb", "c", "d"]), Some("b"), 3);
        assert_eq!((names(&second).len(), second.next_cursor), (3, None));
        assert_eq!(page(&tools(&["a"]), Some("z"), 2).tools.len(), 0);
    }
}
