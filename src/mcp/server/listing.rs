//! `tools/list`: the user's tools in order of name, a page at a time.
//!
//! A page is a part of the text that the server exports, which is the same for users with the same permissions. Over
//! HTTP it is sent as it stands; elsewhere it is decoded for rmcp, which encodes it again.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use rmcp::{
    ErrorData,
    model::{CacheScope, ListToolsResult, Tool},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{outcome, services::Services};
use toolwire_contract::{ToolName, proto::v1::ExportToolsRequest};

/// How long a client may use a list, in milliseconds.
pub(super) const TTL_MS: u64 = 60_000;
/// Maximum number of lists in the cache; users with the same permissions share one.
const CACHED: usize = 8;

/// The lists that were read last.
#[derive(Debug, Default)]
pub(super) struct Listings(Mutex<VecDeque<Arc<Listing>>>);

/// A list of tools as text, and where each tool stands in it.
#[derive(Debug)]
struct Listing {
    text: String,
    tools: Vec<(String, Range<usize>)>,
}

/// A page of a list.
#[derive(Debug)]
pub(super) struct Page {
    listing: Arc<Listing>,
    /// The tools on it, separated by commas.
    text: Range<usize>,
    /// The cursor of the next page, unless this is the last one.
    next: Option<String>,
}

/// Receives the page of a response, whose result then has no tools: they are written into its encoded body.
pub(super) type EncodedPage = OnceLock<Page>;

#[derive(Deserialize)]
struct Exported<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
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
    ) -> Result<Page, ErrorData> {
        if cursor.is_some_and(|cursor| cursor.parse::<ToolName>().is_err()) {
            let what = "this cursor is not one of this server: list without one";
            return Err(ErrorData::invalid_params(what, None));
        }
        Ok(self.of(services, tags).await?.page(cursor, size))
    }

    /// A tool as a list of all of them has it. `None` if there is none that can be called.
    pub(super) async fn tool(&self, services: &Services, name: &str) -> Result<Option<Value>, ErrorData> {
        let listing = self.of(services, &[]).await?;
        listing.tool(name).map(serde_json::from_str).transpose().map_err(|error| unreadable(&error))
    }

    /// The list of the tools with these tags.
    async fn of(&self, services: &Services, tags: &[String]) -> Result<Arc<Listing>, ErrorData> {
        let request = ExportToolsRequest { format: "mcp".to_owned(), strict: false, tags: tags.to_vec() };
        let answer = services.tools().export_tools(request).await;
        let text = answer.map_err(|status| outcome::protocol_error(&status))?.into_inner().json;
        self.find(text).map_err(|error| unreadable(&error))
    }

    fn find(&self, text: String) -> serde_json::Result<Arc<Listing>> {
        // Compared and parsed without the lock: a list may have megabytes.
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(listing) = cached.into_iter().find(|listing| listing.text == text) {
            return Ok(listing);
        }
        let listing = Arc::new(Listing::parse(text)?);
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.truncate(CACHED - 1);
        cached.push_front(Arc::clone(&listing));
        Ok(listing)
    }
}

impl Listing {
    fn parse(text: String) -> serde_json::Result<Self> {
        let exported: Exported = serde_json::from_str(&text)?;
        let place = |tool: &RawValue| {
            let begin = tool.get().as_ptr().addr() - text.as_ptr().addr();
            let named: Named = serde_json::from_str(tool.get())?;
            Ok((named.name, begin..begin + tool.get().len()))
        };
        let tools = exported.tools.into_iter().map(place).collect::<serde_json::Result<_>>()?;
        Ok(Self { text, tools })
    }

    fn tool(&self, name: &str) -> Option<&str> {
        let at = self.tools.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(&self.text[self.tools[at].1.clone()])
    }

    fn page(self: Arc<Self>, cursor: Option<&str>, size: usize) -> Page {
        let begin = cursor.map_or(0, |cursor| self.tools.partition_point(|(name, _)| &**name <= cursor));
        let rest = &self.tools[begin..];
        let page = &rest[..size.min(rest.len())];
        let (text, last) = match page {
            [] => (0..0, None),
            [(_, first), ..] => {
                let (name, last) = &page[page.len() - 1];
                (first.start..last.end, Some(name))
            }
        };
        let next = last.filter(|_| page.len() < rest.len()).cloned();
        Page { listing: Arc::clone(&self), text, next }
    }
}

impl Page {
    fn text(&self) -> &str {
        &self.listing.text[self.text.clone()]
    }

    /// The result with the tools, decoded.
    pub(super) fn decode(self) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<Tool> =
            serde_json::from_str(&format!("[{}]", self.text())).map_err(|error| unreadable(&error))?;
        Ok(self.result(tools))
    }

    /// The result without the tools.
    pub(super) fn without_tools(&self) -> ListToolsResult {
        self.result(Vec::new())
    }

    fn result(&self, tools: Vec<Tool>) -> ListToolsResult {
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor.clone_from(&self.next);
        (result.ttl_ms, result.cache_scope) = (Some(TTL_MS), Some(CacheScope::Private));
        result
    }

    /// The encoded response to which the result without tools has become, with the tools.
    pub(super) fn write_into(&self, response: &str) -> Option<String> {
        // Not within a text, where quotation marks are escaped.
        let (before, after) = response.split_once(r#""tools":[]"#)?;
        Some([before, r#""tools":["#, self.text(), "]", after].concat())
    }
}

fn unreadable(error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the list of tools cannot be read: {error}"), None)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn listing(names: &[&str]) -> Arc<Listing> {
        let tools: Vec<_> = names.iter().map(|name| json!({"inputSchema": {}, "name": name})).collect();
        Arc::new(Listing::parse(json!({"tools": tools}).to_string()).unwrap())
    }

    #[test]
    fn pages_go_on_behind_the_last_name_whatever_came_or_went() {
        let names = |page: Page| {
            let result = page.decode().unwrap();
            result.tools.iter().map(|it| it.name.to_string()).collect::<Vec<_>>()
        };
        let first = listing(&["a", "b", "c", "d"]).page(None, 2);
        assert_eq!((first.next.clone().as_deref(), names(first)), (Some("b"), vec!["a".into(), "b".into()]));
        let second = listing(&["a", "bb", "c", "d"]).page(Some("b"), 3);
        assert_eq!((second.next.clone(), names(second).len()), (None, 3));
        assert!(names(listing(&["a"]).page(Some("z"), 2)).is_empty());
    }

    #[test]
    fn an_encoded_page_is_the_response_that_a_decoded_one_becomes() {
        let page = || listing(&["a", "b", "c"]).page(Some("a"), 1);
        let encoded = json!({"id": "\"tools\":[]", "result": page().without_tools()}).to_string();
        let encoded: Value = serde_json::from_str(&page().write_into(&encoded).unwrap()).unwrap();
        assert_eq!(encoded, json!({"id": "\"tools\":[]", "result": page().decode().unwrap()}));
    }
}
