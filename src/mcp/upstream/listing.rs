//! What an MCP server lists, and as what it is offered.

use std::collections::HashSet;

use rmcp::{
    model::{
        ClientRequest, Extensions, ListToolsRequest, ListToolsRequestMethod, ListToolsResult,
        PaginatedRequestParams, ServerResult, Tool,
    },
    service::PeerRequestOptions,
};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    bounds::{LIST, MAX_LEFT_OUT, MAX_LIST, MAX_PAGES, TIMEOUT},
    connect_error::ConnectError,
    connection::{Connection, Session},
    greeting::Greeting,
    reading,
    target::Target,
};
use toolwire_base::digest::Digest;
use toolwire_contract::{
    convert, json,
    proto::{host::v1 as wire, v1},
};
use toolwire_providers::bounds::MAX_OFFERS;

/// A tool as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// Its server's name for it.
    pub name: String,
    /// All that a person accepts of it, as JSON: name, title, description, schemas and annotations.
    pub text: String,
    /// Of the text, whatever the order of its members.
    pub digest: Digest,
    title: String,
    description: String,
    input: String,
    output: String,
}

/// What a server lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct List {
    /// In order of name.
    pub(crate) tools: Vec<ListedTool>,
    /// What is not taken of it, in words.
    pub(crate) left_out: Vec<String>,
}

/// Connects to a server, lists its tools, and ends the connection.
pub async fn list_once(target: &Target) -> Result<Vec<ListedTool>, ConnectError> {
    // Large: it holds either transport.
    let session = Box::pin(Session::open(target, &Greeting::default())).await?;
    let listed = list(&session.connection).await;
    session.end().await;
    let list = listed?;
    for what in &list.left_out {
        tracing::warn!(what, "an entry of the list of an MCP server is left out");
    }
    Ok(list.tools)
}

/// All pages of a list. What is odd in it is left out.
pub(crate) async fn list(connection: &Connection) -> Result<List, ConnectError> {
    let listed = timeout(LIST, list_pages(connection)).await;
    let mut list = listed.map_err(|_| ConnectError::list(format!("no answer in {} s", LIST.as_secs())))??;
    list.tools.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(list)
}

async fn list_pages(connection: &Connection) -> Result<List, ConnectError> {
    let (mut list, mut cursor) = (List::default(), None);
    let (mut names, mut cursors, mut bytes) = (HashSet::new(), HashSet::new(), 0);
    let cut = |mut list: List, why: &str| {
        list.left_out.push(format!("the rest of the list: {why}"));
        Ok(list)
    };
    for _ in 0..MAX_PAGES {
        let mut page = list_page(connection, cursor).await?;
        list.left_out.extend(reading::take_left_out(&mut page));
        list.left_out.truncate(MAX_LEFT_OUT);
        let (is_empty, known) = (page.tools.is_empty(), names.len());
        for tool in &page.tools {
            // Duplicate names are ambiguous: the first wins.
            if names.contains(&tool.name) {
                continue;
            }
            let tool_read = ListedTool::new(tool);
            bytes += tool_read.text.len();
            if names.len() == MAX_OFFERS || bytes > MAX_LIST {
                return cut(list, &format!("at most {MAX_OFFERS} tools of {MAX_LIST} bytes are taken"));
            }
            names.insert(tool.name.clone());
            list.tools.push(tool_read);
        }
        // Some end it by an empty cursor.
        let Some(next) = page.next_cursor.filter(|it| !it.is_empty()) else { return Ok(list) };
        let has_repeated = !is_empty && names.len() == known;
        if !cursors.insert(next.clone()) || has_repeated {
            return cut(list, "its pages repeat");
        }
        cursor = Some(next);
    }
    cut(list, &format!("at most {MAX_PAGES} pages are taken"))
}

/// Not by `Peer::list_tools`, which may answer from a cache.
async fn list_page(connection: &Connection, cursor: Option<String>) -> Result<ListToolsResult, ConnectError> {
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let request = ListToolsRequest { method: ListToolsRequestMethod, params, extensions: Extensions::new() };
    let request = ClientRequest::ListToolsRequest(request);
    let options = PeerRequestOptions::with_timeout(LIST);
    let handle = connection.peer.send_request_with_option(request, options).await;
    let answer = handle.map_err(|error| ConnectError::of_list(&error))?.await_response().await;
    match answer.map_err(|error| ConnectError::of_list(&error))? {
        ServerResult::ListToolsResult(page) => Ok(page),
        _ => Err(ConnectError::list("the answer is no list of tools")),
    }
}

impl ListedTool {
    fn new(tool: &Tool) -> Self {
        let mut accepted = Map::new();
        let mut add = |key: &str, value: Option<Value>| {
            accepted.extend(value.map(|value| (key.to_owned(), value)));
        };
        let (title, description) = (tool.title.clone(), tool.description.as_deref());
        add("name", Some(json!(tool.name)));
        add("title", title.as_ref().map(|it| json!(it)));
        add("description", description.map(|it| json!(it)));
        add("inputSchema", Some(json!(*tool.input_schema)));
        add("outputSchema", tool.output_schema.as_deref().map(|it| json!(it)));
        add("annotations", tool.annotations.as_ref().map(|it| json!(it)));
        Self {
            name: tool.name.to_string(),
            digest: Digest::of_bytes(json::canonical(&accepted).as_bytes()),
            text: Value::Object(accepted).to_string(),
            title: title.unwrap_or_default(),
            description: description.unwrap_or_default().to_owned(),
            input: json!(*tool.input_schema).to_string(),
            output: tool.output_schema.as_deref().map(|it| json!(it).to_string()).unwrap_or_default(),
        }
    }

    /// Its offer under `name`. Annotations are ignored: the operator alone classifies it as a read.
    pub fn offer(&self, name: &str, is_read: bool) -> wire::Offer {
        wire::Offer {
            title: self.title.clone(),
            description: self.description.clone(),
            input_schema_json: self.input.clone(),
            output_schema_json: self.output.clone(),
            ..without_words(name, is_read)
        }
    }

    /// Its offer without any text of its server, so that no model reads what no person has accepted.
    pub fn offer_unread(name: &str, is_read: bool, provider: &str) -> wire::Offer {
        let description = format!("A tool of the MCP server {provider}, which a person has to accept first.");
        wire::Offer { description, ..without_words(name, is_read) }
    }
}

fn without_words(name: &str, is_read: bool) -> wire::Offer {
    let (category, level) = if is_read {
        (v1::ToolCategory::Read, v1::ConsequenceLevel::Low)
    } else {
        (v1::ToolCategory::SideEffect, v1::ConsequenceLevel::High)
    };
    wire::Offer {
        name: name.to_owned(),
        category: category.into(),
        consequence_level: level.into(),
        timeout: Some(convert::duration(TIMEOUT)),
        ..wire::Offer::default()
    }
}
