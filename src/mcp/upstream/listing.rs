//! What an MCP server lists, and as what it is offered.

use rmcp::{
    model::{
        ClientRequest, Extensions, ListToolsRequest, ListToolsRequestMethod, PaginatedRequestParams,
        ServerResult, Tool,
    },
    service::PeerRequestOptions,
};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    bounds::{LIST, MAX_PAGES, TIMEOUT},
    connection::{ConnectError, Connection, Session},
    error_words::words,
    target::Target,
};
use toolwire_base::digest::Digest;
use toolwire_contract::{
    convert, json,
    proto::{host::v1 as wire, v1},
};
use toolwire_hosts::bounds::MAX_OFFERS;

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

/// Connects to a server, lists its tools, and ends the connection.
pub async fn list_once(target: &Target) -> Result<Vec<ListedTool>, ConnectError> {
    // Large: it holds either transport.
    let session = Box::pin(Session::open(target)).await?;
    let listed = list(&session.connection).await;
    session.end().await;
    listed
}

/// All pages of a list, in order of name.
pub(crate) async fn list(connection: &Connection) -> Result<Vec<ListedTool>, ConnectError> {
    let listed = timeout(LIST, list_pages(connection)).await;
    let mut tools =
        listed.map_err(|_| ConnectError::List(format!("no answer in {} s", LIST.as_secs())))??;
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    // Duplicate names are ambiguous: the first wins.
    tools.dedup_by(|one, other| one.name == other.name);
    if tools.len() > MAX_OFFERS {
        let count = tools.len();
        return Err(ConnectError::List(format!(
            "at most {MAX_OFFERS} tools are taken, and these are {count}"
        )));
    }
    Ok(tools)
}

async fn list_pages(connection: &Connection) -> Result<Vec<ListedTool>, ConnectError> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = list_page(connection, cursor).await?;
        tools.extend(page.0);
        cursor = page.1;
        if cursor.is_none() {
            return Ok(tools);
        }
        if tools.len() > 2 * MAX_OFFERS {
            break;
        }
    }
    Err(ConnectError::List(format!("at most {MAX_OFFERS} tools are taken, on {MAX_PAGES} pages")))
}

/// Not by `Peer::list_tools`, which may answer from a cache.
async fn list_page(
    connection: &Connection,
    cursor: Option<String>,
) -> Result<(Vec<ListedTool>, Option<String>), ConnectError> {
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let request = ListToolsRequest { method: ListToolsRequestMethod, params, extensions: Extensions::new() };
    let request = ClientRequest::ListToolsRequest(request);
    let failed = |error: rmcp::ServiceError| ConnectError::List(words(&error));
    let options = PeerRequestOptions::with_timeout(LIST);
    let handle = connection.peer.send_request_with_option(request, options).await.map_err(failed)?;
    match handle.await_response().await.map_err(failed)? {
        ServerResult::ListToolsResult(page) => {
            Ok((page.tools.iter().map(ListedTool::new).collect(), page.next_cursor))
        }
        // One tool that is malformed makes the whole page something else to rmcp.
        ServerResult::CustomResult(page) => Ok(read_leniently(&page.0, connection)),
        _ => Err(ConnectError::List("the answer is no list of tools".to_owned())),
    }
}

fn read_leniently(page: &Value, connection: &Connection) -> (Vec<ListedTool>, Option<String>) {
    let tools = page["tools"].as_array().into_iter().flatten();
    let read = |tool: &Value| match serde_json::from_value::<Tool>(tool.clone()) {
        Ok(tool) => Some(ListedTool::new(&tool)),
        Err(error) => {
            let name = tool["name"].as_str().unwrap_or_default();
            if connection.shared.is_new_malformed(name) {
                tracing::warn!(tool = ?name, %error, "a tool of an MCP server is malformed and left out");
            }
            None
        }
    };
    (tools.filter_map(read).collect(), page["nextCursor"].as_str().map(str::to_owned))
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

    /// It offered without anything that its server says, so that no model reads what no person has accepted.
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
