//! What the face must know of a tool before it calls it, kept from call to call.
//!
//! Kept for each user, so that a user without a tool gets the same answers as for one that does not exist.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};

use prost::Message;
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use super::{media::Media, request::REQUEST_ID, services::Services};
use toolwire_contract::proto::v1::{GetToolRequest, ToolCategory, ToolDefinition, ToolView};
use toolwire_tool::context::UserId;

/// Tools of users that are kept.
const MAX_KNOWN: usize = 65_536;
/// The annotation of parameters that travel as headers too.
const HEADER_ANNOTATION: &str = "x-mcp-header";

#[derive(Debug)]
pub(super) struct KnownTool {
    /// The digest of its definition.
    pub(super) digest: String,
    /// Whether it changes nothing.
    pub(super) is_read: bool,
    /// Whether a model may write the key of a call among its arguments.
    pub(super) takes_key: bool,
    /// Which strings of its results are images and the like.
    pub(super) media: Media,
    /// Its input schema, if parameters of it travel as headers too.
    with_headers: Option<Arc<JsonObject>>,
}

#[derive(Debug, Default)]
pub(super) struct KnownTools(RwLock<HashMap<Key, Arc<KnownTool>>>);

/// A user, if there is one, and the name of a tool.
type Key = (Option<UserId>, String);

impl KnownTools {
    /// The tool, looked up if it is not known. `None` if the user may call no such tool.
    pub(super) async fn find(&self, services: &Services, name: &str) -> Option<Arc<KnownTool>> {
        match self.get(services, name) {
            Some(known) => Some(known),
            None => self.renew(services, name).await,
        }
    }

    /// The tool, looked up again.
    pub(super) async fn renew(&self, services: &Services, name: &str) -> Option<Arc<KnownTool>> {
        let message = GetToolRequest { name: name.to_owned(), view: ToolView::FullJson.into() };
        let answer = services.tools().get_tool(message).await.ok()?.into_inner();
        let tool = Arc::new(KnownTool::of(&ToolDefinition::decode(&*answer.tool).ok()?));
        let mut known = self.0.write().expect("no holder panics");
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert((services.user(), name.to_owned()), Arc::clone(&tool));
        Some(tool)
    }

    /// The tool with its input schema, if it is known and parameters of it travel as headers too.
    pub(super) fn with_headers(&self, services: &Services, name: &str) -> Option<Tool> {
        let schema = self.get(services, name)?.with_headers.clone()?;
        Some(Tool::new_with_raw(name.to_owned(), None, schema))
    }

    fn get(&self, services: &Services, name: &str) -> Option<Arc<KnownTool>> {
        let key = (services.user(), name.to_owned());
        self.0.read().expect("no holder panics").get(&key).cloned()
    }
}

impl KnownTool {
    fn of(definition: &ToolDefinition) -> Self {
        let input = &definition.input_schema_json;
        let parse = || serde_json::from_str::<JsonObject>(input).ok();
        let schema = input.contains(HEADER_ANNOTATION).then(parse).flatten();
        let has_own =
            |schema: JsonObject| schema.get("properties").is_some_and(|it| it.get(REQUEST_ID).is_some());
        let is_read = definition.category() == ToolCategory::Read;
        // A parameter of that name is the tool's own.
        let has_own = input.contains(REQUEST_ID) && parse().is_some_and(has_own);
        let output: Value = serde_json::from_str(&definition.output_schema_json).unwrap_or_default();
        Self {
            digest: definition.digest.clone(),
            is_read,
            takes_key: !is_read && !has_own,
            media: Media::of_schema(&output),
            with_headers: schema.map(Arc::new),
        }
    }
}
