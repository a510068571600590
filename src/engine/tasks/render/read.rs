//! Reads the input of a render from the stores, and renders it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thiserror::Error;

use super::{
    BudgetTooSmall, Rendering,
    history::{self, History},
    input::{
        Body, Document, DocumentContent, DocumentSummary, DocumentVersion, Event, Note, Notes, RenderInput,
        Request, max_bytes,
    },
    render,
};
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;
use toolwire_state::{
    Store,
    documents::Criteria,
    tasks::{SavedNote, Task, TaskError},
    workspace::{ReadOptions, WorkspaceHandle, mime},
};
use toolwire_tokens as tokens;
use toolwire_tool::context::UserId;

/// Maximum number of rendered notes of each kind.
const MAX_NOTES: u32 = 50;
/// Number of documents read for the list: one more than is listed, to detect that there are more.
const LISTED_DOCUMENTS: u32 = 51;
/// Maximum size in bytes of all media that are read.
const MAX_MEDIA: u64 = 2 * 1024 * 1024;
/// Replaces the summary of a document that contains text from outside.
const FROM_OUTSIDE: &str = "text from outside, not summarised here";

#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// Maximum number of tokens.
    pub budget: u64,
    /// MIME types of media that the model accepts.
    pub media_types: Vec<String>,
    /// The provider, which gets its own opaque data back.
    pub provider: String,
    /// Keys the nonces of frames.
    pub secret: Vec<u8>,
}

/// Why a task cannot be rendered.
#[derive(Debug, Error)]
pub enum RenderError {
    #[error(transparent)]
    Timeline(#[from] TaskError),
    #[error(transparent)]
    Documents(#[from] DocumentRefusal),
    #[error(transparent)]
    Budget(#[from] BudgetTooSmall),
}

/// Renders a task of the user from its timeline and workspace.
pub async fn render_task(
    store: &Store,
    workspace: &WorkspaceHandle,
    (user, task): (&UserId, &Task),
    options: RenderOptions,
) -> Result<Rendering, RenderError> {
    let History { request, unread, events, before } =
        history::read(store, user, task, options.budget, &options.provider).await?;
    let documents = documents(workspace, &request, &events, &options).await?;
    let remembered = store.task_memories(user, &task.id, MAX_NOTES).await?;
    let contents = contents(workspace).await?;
    let role = describe_role(task);
    // Counting tokens is work of the processor: a large input is rendered on another thread.
    let bytes = documents.values().map(content_size).chain(events.iter().map(text_size)).sum();
    let work = move || {
        let notes = |notes: Vec<SavedNote>| notes.into_iter().filter_map(note).collect();
        render(&RenderInput {
            role: &role,
            contents: &contents,
            notes: &Notes { tree: notes(remembered.tree), user: notes(remembered.user) },
            request,
            before,
            unread,
            events: &events,
            documents: &documents,
            secret: &options.secret,
            budget: options.budget,
            media_types: &options.media_types,
            provider: &options.provider,
        })
    };
    Ok(offload::on_behalf(user.shared(), offload::if_large(bytes, work)).await?)
}

fn describe_role(task: &Task) -> String {
    match task.role.as_str() {
        "" => String::new(),
        role => format!("You are the agent with the role {role}."),
    }
}

/// Size of a document's content in bytes, if it was read.
fn content_size(document: &Document) -> usize {
    match &document.content {
        Some(DocumentContent::Text(text)) => text.len(),
        Some(DocumentContent::Media(bytes)) => bytes.len(),
        None => 0,
    }
}

/// Size of an event's texts in bytes.
fn text_size(event: &Event) -> usize {
    match &event.body {
        Body::Call(called) => called.input.len() + called.outcome.content.len(),
        Body::Answer { outcome, .. } | Body::Decision { outcome, .. } => outcome.content.len(),
        Body::Message { text, opaque, .. } => text.len() + opaque.as_ref().map_or(0, |it| it.data.len()),
        Body::Question { text, .. } => text.len(),
        Body::Other => 0,
    }
}

/// The note in a call's arguments; `None` if they were recorded under an earlier, incompatible schema.
fn note(remembered: SavedNote) -> Option<Note> {
    let SavedNote { input, tokens, untrusted } = remembered;
    let arguments: Value = serde_json::from_str(&input).ok()?;
    let text = arguments.get("note")?.as_str()?.to_owned();
    let tokens = tokens.unwrap_or_else(|| tokens::count(&text));
    Some(Note { text, tokens, is_untrusted: untrusted })
}

/// The documents that the request and the events refer to. The newest version of each path is read with its content
/// while the budget lasts, starting with the last reference; of the others only the metadata.
async fn documents(
    workspace: &WorkspaceHandle,
    request: &Request,
    events: &[Event],
    options: &RenderOptions,
) -> Result<BTreeMap<DocumentVersion, Document>, DocumentRefusal> {
    let last_first: Vec<_> = events.iter().rev().flat_map(documents_of).chain(&request.documents).collect();
    let mut newest = BTreeMap::<&str, u32>::new();
    for DocumentVersion { path, version } in &last_first {
        let known = newest.entry(path).or_default();
        *known = (*known).max(*version);
    }
    let mut rest = RemainingBytes { text: 2 * max_bytes(options.budget), media: MAX_MEDIA };
    let (mut documents, mut seen) = (BTreeMap::new(), BTreeSet::new());
    for reference in last_first {
        if !seen.insert(reference) {
            continue;
        }
        let is_newest = newest.get(reference.path.as_str()) == Some(&reference.version);
        let rest = is_newest.then_some(&mut rest);
        if let Some(document) = document(workspace, reference, rest, options).await? {
            documents.insert(reference.clone(), document);
        }
    }
    Ok(documents)
}

/// The number of bytes of documents that may still be read.
struct RemainingBytes {
    /// Initially twice the budget, since a token may have more bytes than the average.
    text: u64,
    media: u64,
}

fn documents_of(event: &Event) -> &[DocumentVersion] {
    match &event.body {
        Body::Call(called) => &called.outcome.documents,
        Body::Answer { outcome, .. } | Body::Decision { outcome, .. } => &outcome.documents,
        Body::Question { documents, .. } => documents,
        Body::Message { .. } | Body::Other => &[],
    }
}

/// A version of a document; `None` if it no longer exists.
async fn document(
    workspace: &WorkspaceHandle,
    reference: &DocumentVersion,
    rest: Option<&mut RemainingBytes>,
    options: &RenderOptions,
) -> Result<Option<Document>, DocumentRefusal> {
    let found = match workspace.at(&reference.path, reference.version).await {
        Ok(found) if !found.is_deleted() => found,
        Ok(_) | Err(DocumentRefusal::Unknown { .. } | DocumentRefusal::UnknownVersion { .. }) => {
            return Ok(None);
        }
        Err(refusal) => return Err(refusal),
    };
    let (size, mime_type) = (found.content.size, found.content.mime_type);
    let is_media = options.media_types.contains(&mime_type);
    let is_text = mime::is_text(&mime_type) && size <= max_bytes(options.budget);
    let rest = rest.filter(|_| is_media || is_text);
    let rest = rest.map(|rest| if is_media { &mut rest.media } else { &mut rest.text });
    let content = match rest.filter(|rest| size <= **rest) {
        Some(rest) => {
            *rest -= size;
            let version = ReadOptions { version: reference.version, ..ReadOptions::default() };
            let bytes = workspace.read(&reference.path, version).await?.1.all().await?;
            let text = |bytes| String::from_utf8(bytes).ok().map(DocumentContent::Text);
            if is_media { Some(DocumentContent::Media(bytes.into())) } else { text(bytes.into()) }
        }
        None => None,
    };
    let tokens = Some(found.content.tokens).filter(|_| !found.content.tokens_estimated);
    Ok(Some(Document { mime_type, size, tokens, summary: found.content.summary, content }))
}

async fn contents(workspace: &WorkspaceHandle) -> Result<Vec<DocumentSummary>, DocumentRefusal> {
    let found = workspace.list(&Criteria::default(), "", LISTED_DOCUMENTS).await?;
    let listed = found.into_iter().map(|document| DocumentSummary {
        path: document.path,
        mime_type: document.content.mime_type,
        tokens: document.content.tokens,
        // Rendering a summary from outside would taint the task, and a mere list must not.
        summary: if document.content.untrusted { FROM_OUTSIDE.to_owned() } else { document.content.summary },
    });
    Ok(listed.collect())
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;
    use crate::tasks::render::{Message, blocks::Content, input::Outcome};
    use toolwire_base::digest::Digest;
    use toolwire_state::{
        tasks::{
            Mutation, NewMessage, NewRoot, StepRef,
            entry::{self, Speaker},
        },
        workspace::{Header, Workspace},
    };
    use toolwire_tool::context::{RequestId, TaskId, User};

    fn mutation(method: &'static str) -> Mutation {
        Mutation { method, request_id: RequestId::generate(), digest: Digest::of_bytes(b"x") }
    }

    async fn said(store: &Store, task: &Task, speaker: Speaker, text: &str) {
        let message =
            NewMessage { speaker, text: text.to_owned(), opaque: None, step_ref: StepRef::default() };
        let made = mutation("AppendMessage");
        store.append_message(&task.user, &task.id, &message, made).await.unwrap();
    }

    fn texts(messages: &[Message]) -> Vec<String> {
        let of = |content: &Content| match content {
            Content::Text(text) => text.chars().take(12).collect(),
            other => format!("{other:?}"),
        };
        messages.iter().flat_map(|message| &message.blocks).map(|block| of(&block.content)).collect()
    }

    fn root_of(user: &User) -> NewRoot {
        NewRoot {
            id: TaskId::generate(),
            user: user.id.clone(),
            tool: "start_task".to_owned(),
            request: "Analyse it.".to_owned(),
            role: "analyst".to_owned(),
            documents: Vec::new(),
            timeout: Duration::from_hours(1),
            labels: BTreeMap::new(),
        }
    }

    #[tokio::test]
    async fn a_timeline_is_read_back_to_where_the_budget_ends_with_what_is_in_the_workspace() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::at(directory.path()));
        let user = User::new("riley".parse().unwrap());
        let new = root_of(&user);
        let task = store.create_root_task(&new, mutation("CreateTask")).await.unwrap();
        let workspace = Workspace::new(&store).of_task(&user, &task.id).await.unwrap();
        let header = Header { path: "notes.md".to_owned(), ..Header::default() };
        workspace.put(header, "Revenue rose.".into()).await.unwrap();
        // Longer than what an entry keeps within it.
        let long = format!("Long: {}", "word ".repeat(20_000));
        for text in ["first", &long, "second", "third"] {
            said(&store, &task, Speaker::User, text).await;
            said(&store, &task, Speaker::Assistant, text).await;
        }
        let options = |budget| RenderOptions { budget, secret: b"s".to_vec(), ..RenderOptions::default() };
        let whole = render_task(&store, &workspace, (&user.id, &task), options(100_000)).await.unwrap();
        let long = "Long: word w";
        let expected = ["Analyse it.", "first", "first", long, long, "second", "second", "third", "third"];
        assert_eq!((texts(&whole.messages), whole.cuts.len()), (expected.map(str::to_owned).to_vec(), 0));
        assert!(whole.system.starts_with("You are the agent with the role analyst."), "{}", whole.system);
        assert!(
            whole.system.contains("notes.md (text/markdown, 3 tokens): Revenue rose."),
            "{}",
            whole.system
        );
        let part = render_task(&store, &workspace, (&user.id, &task), options(1_000)).await.unwrap();
        assert_eq!(
            texts(&part.messages)[1..],
            ["[entries 1 t", "second", "third", "third"].map(str::to_owned)
        );
        assert_eq!(part.last_sequence, 8);
        let few = render_task(&store, &workspace, (&user.id, &task), options(10)).await;
        assert!(matches!(few, Err(RenderError::Budget(_))), "{few:?}");
    }

    fn reference(path: &str) -> DocumentVersion {
        DocumentVersion { path: path.to_owned(), version: 1 }
    }

    #[tokio::test]
    async fn of_many_documents_those_named_last_are_read_and_no_more_than_the_budget() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::at(directory.path()));
        let (user, task) = (User::new("riley".parse().unwrap()), TaskId::generate());
        let workspace = Workspace::new(&store).of_new_tree(&user, &task);
        let paths = ["a.txt", "b.txt", "c.txt"];
        for path in paths {
            let header = Header { path: path.to_owned(), ..Header::default() };
            workspace.put(header, "x".repeat(3_000).into()).await.unwrap();
        }
        let request = Request { documents: vec![reference("c.txt")], ..Request::default() };
        let answered = |path| {
            let outcome = Outcome { documents: vec![reference(path)], ..Outcome::default() };
            Event { sequence: 1, step: 0, position: 0, body: Body::Answer { answers: 1, outcome } }
        };
        let events = [answered("b.txt"), answered("a.txt")];
        for (budget, expected) in [(1_000, [true, true, false]), (2_000, [true; 3]), (700, [false; 3])] {
            let options = RenderOptions { budget, ..RenderOptions::default() };
            let found = documents(&workspace, &request, &events, &options).await.unwrap();
            let read = paths.map(|path| found[&reference(path)].content.is_some());
            assert_eq!(read, expected, "{budget}");
        }
    }

    #[tokio::test]
    async fn what_a_provider_wants_back_counts_and_that_of_others_is_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::at(directory.path()));
        let user = User::new("riley".parse().unwrap());
        let task = store.create_root_task(&root_of(&user), mutation("CreateTask")).await.unwrap();
        for _ in 0..6 {
            let opaque = entry::Opaque { provider: "p".to_owned(), data: vec![7; 10_000] };
            let message = NewMessage {
                speaker: Speaker::Assistant,
                text: "word".to_owned(),
                opaque: Some(opaque),
                step_ref: StepRef::default(),
            };
            let made = mutation("AppendMessage");
            store.append_message(&task.user, &task.id, &message, made).await.unwrap();
        }
        let read = async |provider: &str| {
            let read = history::read(&store, &user.id, &task, 2_500, provider).await.unwrap();
            let History { events, unread, .. } = read;
            let bytes: usize = events.iter().map(text_size).sum();
            (events.len(), unread, bytes)
        };
        assert_eq!(read("").await, (6, 0, 24));
        assert_eq!(read("p").await, (2, 4, 20_008));
    }
}
