//! Renders a task: reads what its render is made from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thiserror::Error;

use super::{
    BudgetTooSmall, Rendered,
    given::{
        Body, Document, DocumentVersion, Event, Given, Listed, Note, Notes, Request, Stored, most_bytes,
    },
    history::{self, History},
    render,
};
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;
use toolwire_store::{
    Store,
    documents::Criteria,
    tasks::{Remembered, Task, TaskError},
    workspace::{ReadOptions, WorkspaceHandle, mime},
};
use toolwire_tokens as tokens;
use toolwire_tool::context::UserId;

/// So many notes of either kind are shown.
const NOTES: u32 = 50;
/// So many documents are listed, and one more, to know that there are more.
const LISTED: u32 = 51;
/// Media of more bytes in all are not read.
const MOST_MEDIA: u64 = 2 * 1024 * 1024;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// At most so many tokens.
    pub budget: u64,
    /// Types of media that the model takes.
    pub media_types: Vec<String>,
    /// The provider, whose opaque parts are returned.
    pub provider: String,
    pub secret: Vec<u8>,
}

/// Why a task cannot be rendered.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The timeline cannot be read.
    #[error(transparent)]
    Timeline(#[from] TaskError),
    /// The documents cannot be read.
    #[error(transparent)]
    Documents(#[from] DocumentRefusal),
    /// Even what must stay exceeds the budget.
    #[error(transparent)]
    Budget(#[from] BudgetTooSmall),
}

/// Renders a task of the user's, whose workspace this is.
pub async fn rendered(
    store: &Store,
    workspace: &WorkspaceHandle,
    (user, task): (&UserId, &Task),
    wish: Wish,
) -> Result<Rendered, RenderError> {
    let History { request, unread, events, before } =
        history::read(store, user, task, (wish.budget, &wish.provider)).await?;
    let documents = documents(workspace, &request, &events, &wish).await?;
    let remembered = store.task_memories(user, &task.id, NOTES).await?;
    let contents = contents(workspace).await?;
    let role = if task.role.is_empty() {
        String::new()
    } else {
        format!("You are the agent with the role {}.", task.role)
    };
    let bytes = documents.values().map(read_of).chain(events.iter().map(size)).sum();
    let work = move || {
        let notes = |notes: Vec<Remembered>| notes.into_iter().filter_map(note).collect();
        render(&Given {
            role: &role,
            contents: &contents,
            notes: &Notes { tree: notes(remembered.tree), user: notes(remembered.user) },
            request,
            before,
            unread,
            events: &events,
            documents: &documents,
            secret: &wish.secret,
            budget: wish.budget,
            media_types: &wish.media_types,
            provider: &wish.provider,
        })
    };
    Ok(offload::on_behalf(user.shared(), offload::if_large(bytes, work)).await?)
}

/// The bytes that were read of a document.
fn read_of(document: &Document) -> usize {
    match &document.content {
        Some(Stored::Text(text)) => text.len(),
        Some(Stored::Media(bytes)) => bytes.len(),
        None => 0,
    }
}

/// The bytes of an entry.
fn size(event: &Event) -> usize {
    match &event.body {
        Body::Called(called) => called.input.len() + called.outcome.content.len(),
        Body::Answered { outcome, .. } | Body::Decided { outcome, .. } => outcome.content.len(),
        Body::Said { text, opaque, .. } => text.len() + opaque.as_ref().map_or(0, |it| it.data.len()),
        Body::Asked { text, .. } => text.len(),
        Body::Silent => 0,
    }
}

/// What a call noted: its arguments are as the schema has them, unless they are of an earlier one.
fn note(remembered: Remembered) -> Option<Note> {
    let Remembered { input, tokens, untrusted } = remembered;
    let arguments: Value = serde_json::from_str(&input).ok()?;
    let text = arguments.get("note")?.as_str()?.to_owned();
    let tokens = tokens.unwrap_or_else(|| tokens::count(&text));
    Some(Note { text, tokens, is_untrusted: untrusted })
}

/// The documents that request and entries name: of each path the newest version with what it holds, those that were
/// named last first, as far as the budget reaches. Of the others it is known what they are.
async fn documents(
    workspace: &WorkspaceHandle,
    request: &Request,
    events: &[Event],
    wish: &Wish,
) -> Result<BTreeMap<DocumentVersion, Document>, DocumentRefusal> {
    let last_first: Vec<_> = events.iter().rev().flat_map(named_by).chain(&request.documents).collect();
    let mut newest = BTreeMap::<&str, u32>::new();
    for DocumentVersion { path, version } in &last_first {
        let known = newest.entry(path).or_default();
        *known = (*known).max(*version);
    }
    let mut left = Left { text: 2 * most_bytes(wish.budget), media: MOST_MEDIA };
    let (mut documents, mut seen) = (BTreeMap::new(), BTreeSet::new());
    for reference in last_first {
        if !seen.insert(reference) {
            continue;
        }
        let is_newest = newest.get(reference.path.as_str()) == Some(&reference.version);
        let left_of_all = is_newest.then_some(&mut left);
        if let Some(document) = document(workspace, reference, left_of_all, wish).await? {
            documents.insert(reference.clone(), document);
        }
    }
    Ok(documents)
}

/// How many bytes of documents may still be read.
struct Left {
    /// Twice the budget at first, since a token may have more bytes than most have.
    text: u64,
    media: u64,
}

fn named_by(event: &Event) -> &[DocumentVersion] {
    match &event.body {
        Body::Called(called) => &called.outcome.documents,
        Body::Answered { outcome, .. } | Body::Decided { outcome, .. } => &outcome.documents,
        Body::Asked { documents, .. } => documents,
        Body::Said { .. } | Body::Silent => &[],
    }
}

/// A version of a document; none if it cannot be read any longer.
async fn document(
    workspace: &WorkspaceHandle,
    reference: &DocumentVersion,
    left: Option<&mut Left>,
    wish: &Wish,
) -> Result<Option<Document>, DocumentRefusal> {
    let found = match workspace.at(&reference.path, reference.version).await {
        Ok(found) if !found.is_deleted() => found,
        Ok(_) | Err(DocumentRefusal::Unknown { .. } | DocumentRefusal::UnknownVersion { .. }) => {
            return Ok(None);
        }
        Err(refusal) => return Err(refusal),
    };
    let (size, mime_type) = (found.content.size, found.content.mime_type);
    let is_media = wish.media_types.contains(&mime_type);
    let is_text = mime::is_text(&mime_type) && size <= most_bytes(wish.budget);
    let left = left.filter(|_| is_media || is_text);
    let left = left.map(|left| if is_media { &mut left.media } else { &mut left.text });
    let content = match left.filter(|left| size <= **left) {
        Some(left) => {
            *left -= size;
            let options = ReadOptions { version: reference.version, ..ReadOptions::default() };
            let bytes = workspace.read(&reference.path, options).await?.1.all().await?;
            let text = |bytes| String::from_utf8(bytes).ok().map(Stored::Text);
            if is_media { Some(Stored::Media(bytes.into())) } else { text(bytes.into()) }
        }
        None => None,
    };
    let tokens = Some(found.content.tokens).filter(|_| !found.content.tokens_estimated);
    Ok(Some(Document { mime_type, size, tokens, summary: found.content.summary, content }))
}

/// Stands for the summary of a document that holds text from outside.
const FROM_OUTSIDE: &str = "text from outside, not summarised here";

async fn contents(workspace: &WorkspaceHandle) -> Result<Vec<Listed>, DocumentRefusal> {
    let found = workspace.list(&Criteria::default(), "", LISTED).await?;
    let listed = found.into_iter().map(|document| Listed {
        path: document.path,
        mime_type: document.content.mime_type,
        tokens: document.content.tokens,
        // Whoever is shown words from outside is tainted by them; a list taints nobody.
        summary: if document.content.untrusted { FROM_OUTSIDE.to_owned() } else { document.content.summary },
    });
    Ok(listed.collect())
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;
    use crate::tasks::render::{Message, blocks::Content, given::Outcome};
    use toolwire_base::{clock, digest::Digest};
    use toolwire_store::{
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
        store.append_message(&task.user, &task.id, &message, made, clock::wall()).await.unwrap();
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
            deadline: clock::wall() + Duration::from_hours(1),
            labels: BTreeMap::new(),
        }
    }

    #[tokio::test]
    async fn a_timeline_is_read_back_to_where_the_budget_ends_with_what_is_in_the_workspace() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::at(directory.path()));
        let user = User::new("riley".parse().unwrap());
        let new = root_of(&user);
        let task = store.create_root_task(&new, mutation("CreateTask"), clock::wall()).await.unwrap();
        let workspace = Workspace::new(&store).of_task(&user, &task.id).await.unwrap();
        let header = Header { path: "notes.md".to_owned(), ..Header::default() };
        workspace.put(header, "Revenue rose.".into()).await.unwrap();
        // Longer than what an entry keeps within it.
        let long = format!("Long: {}", "word ".repeat(20_000));
        for text in ["first", &long, "second", "third"] {
            said(&store, &task, Speaker::User, text).await;
            said(&store, &task, Speaker::Assistant, text).await;
        }
        let wish = |budget| Wish { budget, secret: b"s".to_vec(), ..Wish::default() };
        let whole = rendered(&*store, &workspace, (&user.id, &task), wish(100_000)).await.unwrap();
        let long = "Long: word w";
        let expected = ["Analyse it.", "first", "first", long, long, "second", "second", "third", "third"];
        assert_eq!((texts(&whole.messages), whole.cuts.len()), (expected.map(str::to_owned).to_vec(), 0));
        assert!(whole.system.starts_with("You are the agent with the role analyst."), "{}", whole.system);
        assert!(
            whole.system.contains("notes.md (text/markdown, 3 tokens): Revenue rose."),
            "{}",
            whole.system
        );
        let part = rendered(&*store, &workspace, (&user.id, &task), wish(1_000)).await.unwrap();
        assert_eq!(
            texts(&part.messages)[1..],
            ["[entries 1 t", "second", "third", "third"].map(str::to_owned)
        );
        assert_eq!(part.last_sequence, 8);
        let few = rendered(&*store, &workspace, (&user.id, &task), wish(10)).await;
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
            Event { sequence: 1, step: 0, position: 0, body: Body::Answered { answers: 1, outcome } }
        };
        let events = [answered("b.txt"), answered("a.txt")];
        for (budget, expected) in [(1_000, [true, true, false]), (2_000, [true; 3]), (700, [false; 3])] {
            let wish = Wish { budget, ..Wish::default() };
            let found = documents(&workspace, &request, &events, &wish).await.unwrap();
            let read = paths.map(|path| found[&reference(path)].content.is_some());
            assert_eq!(read, expected, "{budget}");
        }
    }

    #[tokio::test]
    async fn what_a_provider_wants_back_counts_and_that_of_others_is_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::at(directory.path()));
        let user = User::new("riley".parse().unwrap());
        let task =
            store.create_root_task(&root_of(&user), mutation("CreateTask"), clock::wall()).await.unwrap();
        for _ in 0..6 {
            let opaque = entry::Opaque { provider: "p".to_owned(), data: vec![7; 10_000] };
            let message = NewMessage {
                speaker: Speaker::Assistant,
                text: "word".to_owned(),
                opaque: Some(opaque),
                step_ref: StepRef::default(),
            };
            let made = mutation("AppendMessage");
            store.append_message(&task.user, &task.id, &message, made, clock::wall()).await.unwrap();
        }
        let read = async |provider: &str| {
            let read = history::read(&*store, &user.id, &task, (2_500, provider)).await.unwrap();
            let History { events, unread, .. } = read;
            let bytes: usize = events.iter().map(size).sum();
            (events.len(), unread, bytes)
        };
        assert_eq!(read("").await, (6, 0, 24));
        assert_eq!(read("p").await, (2, 4, 20_008));
    }
}
