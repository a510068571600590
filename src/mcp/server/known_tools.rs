//! A cache of what the face must know of a tool before it calls it.
//!
//! Per user, so that a user without a tool gets the same answers as for one that does not exist.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, RwLock},
};

use prost::Message;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Map, Value};
use tonic::{Code, Status};

use super::{media::Media, request::REQUEST_ID, services::Services};
use toolwire_contract::proto::v1::{GetToolRequest, ToolCategory, ToolDefinition, ToolView};
use toolwire_tool::context::UserId;

/// Maximum number of entries, one for each user and tool.
const MAX_KNOWN: usize = 65_536;
/// The annotation of parameters that travel as headers too.
const HEADER_ANNOTATION: &str = "x-mcp-header";

#[derive(Debug)]
pub(super) struct KnownTool {
    /// The digest of its definition.
    pub(super) digest: String,
    /// Whether its category is READ.
    pub(super) is_read: bool,
    /// Whether its input schema is published with a `request_id` beside its own parameters.
    pub(super) takes_request_id: bool,
    /// The names of its parameters, if it takes no others.
    pub(super) parameters: Option<HashSet<String>>,
    /// Which strings of its results are images and the like.
    pub(super) media: Media,
    /// Its input schema, if parameters of it travel as headers too.
    with_headers: Option<Arc<JsonObject>>,
}

#[derive(Debug, Default)]
pub(super) struct KnownTools(RwLock<HashMap<Key, Arc<KnownTool>>>);

/// A user, if there is one, and the name of a tool, behind those of the toolsets that narrow the user's tools.
type Key = (Option<UserId>, String);

/// A tool, or why it could not be looked up. `None` if the user may call no such tool.
pub(super) type Lookup = Result<Option<Arc<KnownTool>>, Status>;

impl KnownTools {
    /// The tool, looked up on a miss.
    ///
    /// A failed lookup is its failure: taken for a tool that does not exist, it would send the `request_id` of a model
    /// on as an argument, and refuse the state of a call that waits for a person.
    pub(super) async fn find(&self, services: &Services, name: &str) -> Lookup {
        match self.get(services, name) {
            Some(known) => Ok(Some(known)),
            // Boxed, since it is known for most calls.
            None => Box::pin(self.renew(services, name)).await,
        }
    }

    /// The tool, looked up again.
    pub(super) async fn renew(&self, services: &Services, name: &str) -> Lookup {
        let message = GetToolRequest { name: name.to_owned(), view: ToolView::FullJson.into() };
        let encoded = match services.tools().get_tool(message).await {
            Ok(answer) => answer.into_inner().tool,
            // The call itself is refused with near names.
            Err(status) if is_no_tool(&status) => return Ok(None),
            Err(status) => return Err(status),
        };
        let unreadable =
            |error| Status::internal(format!("the definition of {name} cannot be read: {error}"));
        let tool = Arc::new(KnownTool::of(&ToolDefinition::decode(&*encoded).map_err(unreadable)?));
        let mut known = self.0.write().expect("no holder panics");
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(key(services, name), Arc::clone(&tool));
        Ok(Some(tool))
    }

    /// The tool with its input schema, if it is known and parameters of it travel as headers too.
    pub(super) fn with_headers(&self, services: &Services, name: &str) -> Option<Tool> {
        let schema = self.get(services, name)?.with_headers.clone()?;
        Some(Tool::new_with_raw(name.to_owned(), None, schema))
    }

    fn get(&self, services: &Services, name: &str) -> Option<Arc<KnownTool>> {
        self.0.read().expect("no holder panics").get(&key(services, name)).cloned()
    }
}

/// The same user has other tools by another toolset, or by another token. No name holds a slash.
fn key(services: &Services, name: &str) -> Key {
    let name = match services.narrowed_user() {
        Some(user) => format!("{:?}/{:?}/{name}", user.toolset, user.bound_to),
        None => name.to_owned(),
    };
    (services.user(), name)
}

impl KnownTool {
    /// Whether parameters of it travel as headers too.
    pub(super) fn has_headers(&self) -> bool {
        self.with_headers.is_some()
    }

    fn of(definition: &ToolDefinition) -> Self {
        let input: JsonObject = serde_json::from_str(&definition.input_schema_json).unwrap_or_default();
        let parameters =
            || input.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let is_closed = input.get("additionalProperties") == Some(&Value::Bool(false));
        let is_read = definition.category() == ToolCategory::Read;
        // A parameter of that name is the tool's own.
        let has_own = parameters().any(|name| name == REQUEST_ID);
        let parameters = is_closed.then(|| parameters().cloned().collect());
        let output: Value = serde_json::from_str(&definition.output_schema_json).unwrap_or_default();
        Self {
            digest: definition.digest.clone(),
            is_read,
            takes_request_id: !is_read && !has_own,
            parameters,
            media: Media::of_schema(&output),
            with_headers: definition.input_schema_json.contains(HEADER_ANNOTATION).then(|| Arc::new(input)),
        }
    }
}

/// Whether the user may call no tool of the name, or the name cannot be that of a tool.
fn is_no_tool(status: &Status) -> bool {
    matches!(status.code(), Code::NotFound | Code::PermissionDenied | Code::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use tonic::body::Body;
    use tower::{BoxError, service_fn};

    use super::*;

    /// The services of a server that answers every request with this status.
    fn failing(status: &Status) -> Services {
        let status = status.clone();
        let answer = move |_: Request<Body>| {
            let response: Response<Body> = status.clone().into_http();
            async move { Ok::<_, BoxError>(response) }
        };
        Services::new(service_fn(answer), usize::MAX)
    }

    #[tokio::test]
    async fn a_failed_lookup_is_no_tool_that_does_not_exist() {
        let known = KnownTools::default();
        for status in [Status::not_found("no tool"), Status::permission_denied("not yours")] {
            assert!(known.find(&failing(&status), "pay").await.expect("no failure").is_none());
        }
        for status in [
            Status::unavailable("overloaded"),
            Status::resource_exhausted("too many calls"),
            Status::unauthenticated("no token"),
        ] {
            let failure = known.find(&failing(&status), "pay").await.expect_err("a failure");
            assert_eq!((failure.code(), failure.message()), (status.code(), status.message()));
        }
    }
}
