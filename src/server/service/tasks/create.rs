//! Creates roots.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::json;

use super::{MAX_DOCUMENTS, MAX_REQUEST_LENGTH, Tasks, check_length, mutation, text};
use crate::service::request::refuse;
use toolwire_contract::{Refusal, ToolName};
use toolwire_engine::tasks::{Content, InitialDocument};
use toolwire_state::tasks::{DEFAULT_TIMEOUT, MAX_TIMEOUT, NewRoot, Task};
use toolwire_tool::context::{RequestId, TaskId, User};

/// Maximum number of labels, and maximum length of their keys and values in bytes.
const MAX_LABELS: usize = 16;
const MAX_LABEL_LENGTH: usize = 256;

/// Maximum length of the text of an initial document, in bytes.
const MAX_TEXT_LENGTH: usize = 262_144;

/// The tool that is recorded for a root that no tool creates.
const TOOL: &str = "CreateTask";

/// A root to create.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTask {
    /// The work to do.
    pub request: String,
    /// The role that is to work on it. Empty: the caller drives it.
    pub role: String,
    pub documents: Vec<InitialDocument>,
    /// The time until its deadline.
    pub timeout: Option<Duration>,
    pub labels: BTreeMap<String, String>,
}

impl Tasks {
    /// Creates a root. A repeat returns the same one.
    pub async fn create(
        &self,
        user: &User,
        new: NewTask,
        request_id: Option<RequestId>,
    ) -> Result<Task, Refusal> {
        check(&new)?;
        let timeout = timeout(new.timeout)?;
        let documents: Vec<_> = new.documents.iter().map(canonical).collect();
        let content = json!([new.request, new.role, new.labels, timeout.as_millis().to_string(), documents]);
        let mutation = mutation("CreateTask", request_id, &content)?;
        let root = NewRoot {
            id: TaskId::generate(),
            user: user.id.clone(),
            tool: TOOL.to_owned(),
            request: new.request,
            role: new.role,
            documents: Vec::new(),
            timeout,
            labels: new.labels,
        };
        self.0.orchestrator.create(root, new.documents, mutation).await
    }
}

/// The text of a document in the digest of its request. It must stay the same across releases, since the digest is
/// stored.
fn canonical(document: &InitialDocument) -> String {
    let InitialDocument { path, content, mime_type } = document;
    let content = match content {
        Content::Text(text) => format!("Text({text:?})"),
        Content::CopyOf(source) => format!("CopyOf({source:?})"),
    };
    format!("Initial {{ path: {path:?}, content: {content}, mime_type: {mime_type:?} }}")
}

fn check(new: &NewTask) -> Result<(), Refusal> {
    text("request", &new.request, MAX_REQUEST_LENGTH)?;
    if !new.role.is_empty() {
        role("role", &new.role)?;
    }
    if new.documents.len() > MAX_DOCUMENTS {
        let what = format!("must have at most {MAX_DOCUMENTS} elements");
        return Err(refuse("documents", "max_items", &what));
    }
    let mut paths = BTreeSet::new();
    for document in &new.documents {
        let path = match &document.content {
            Content::CopyOf(of) if document.path.is_empty() => {
                of.split_once('/').map_or("", |(_, path)| path)
            }
            _ => document.path.as_str(),
        };
        if !paths.insert(path) {
            let what = format!("must name each path once, and name {path:?} twice");
            return Err(refuse("documents", "unique", &what));
        }
        if let Content::Text(text) = &document.content {
            check_length("documents.text", text, MAX_TEXT_LENGTH)?;
        }
    }
    if new.labels.len() > MAX_LABELS {
        return Err(refuse("labels", "max_properties", &format!("must have at most {MAX_LABELS} entries")));
    }
    for (key, value) in &new.labels {
        check_length("labels", key, MAX_LABEL_LENGTH)?;
        check_length("labels", value, MAX_LABEL_LENGTH)?;
    }
    Ok(())
}

/// A role has the form of a tool's name.
pub(super) fn role<'a>(field: &str, role: &'a str) -> Result<&'a str, Refusal> {
    if role.parse::<ToolName>().is_ok() {
        return Ok(role);
    }
    let what = "must be a name such as analyst: lower-case letters, digits and _, a letter first, at most 64";
    Err(refuse(field, "pattern", what))
}

fn timeout(asked: Option<Duration>) -> Result<Duration, Refusal> {
    match asked {
        None => Ok(DEFAULT_TIMEOUT),
        Some(timeout) if timeout.is_zero() => Err(refuse("timeout", "minimum", "must be more than nothing")),
        Some(timeout) if timeout > MAX_TIMEOUT => {
            let days = MAX_TIMEOUT.as_secs() / 86_400;
            Err(refuse("timeout", "maximum", &format!("must be at most {days} days")))
        }
        Some(timeout) => Ok(timeout),
    }
}
