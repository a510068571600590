//! The initial documents of a tree. They are written to its workspace before the tree exists, so that it is never seen
//! without them; if it is not started, they are deleted again.

use bytes::Bytes;

use toolwire_contract::DocumentRefusal;
use toolwire_state::workspace::{Header, ReadOptions, Workspace, WorkspaceHandle};
use toolwire_tool::context::{TaskId, User};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialDocument {
    /// Empty: the path of the copied document.
    pub path: String,
    pub content: Content,
    /// Empty: detected, or the type of the copied document.
    pub mime_type: String,
}

/// The source of a document's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// A document of another tree of the user's: `task_id/path`.
    CopyOf(String),
}

/// Writes documents to the workspace of a tree that is about to start, and returns their paths. Documents that an
/// earlier attempt has written are left as they are.
pub(super) async fn fill(
    workspace: &Workspace,
    user: &User,
    root: &TaskId,
    documents: Vec<InitialDocument>,
) -> Result<Vec<String>, DocumentRefusal> {
    let tree = workspace.of_new_tree(user, root);
    let mut paths = Vec::with_capacity(documents.len());
    for document in documents {
        let InitialDocument { path, content, mime_type } = document;
        let header = Header { path, mime_type, etag: "*".to_owned(), ..Header::default() };
        let (path, put) = match content {
            Content::Text(text) => {
                (header.path.clone(), tree.put(header, Bytes::from(text)).await.map(|_| ()))
            }
            Content::CopyOf(source) => copy(workspace, user, &tree, &source, header).await?,
        };
        match put {
            // An earlier attempt has written it. A source that cannot be read is an error above, whatever its refusal.
            Ok(()) | Err(DocumentRefusal::Exists { .. }) => paths.push(path),
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(paths)
}

/// Copies a document of another tree. Its bytes are stored once. Returns the path, and the outcome of the write apart
/// from errors of the source.
async fn copy(
    workspace: &Workspace,
    user: &User,
    tree: &WorkspaceHandle,
    source: &str,
    mut header: Header,
) -> Result<(String, Result<(), DocumentRefusal>), DocumentRefusal> {
    let (task, path) = source.split_once('/').unwrap_or((source, ""));
    let unknown = || DocumentRefusal::UnknownTask { task_id: task.chars().take(64).collect() };
    let from = workspace.of_task(user, &task.parse().map_err(|_| unknown())?).await?;
    let (document, mut bytes) = from.read(path, ReadOptions::default()).await?;
    if header.path.is_empty() {
        path.clone_into(&mut header.path);
    }
    if header.mime_type.is_empty() {
        header.mime_type.clone_from(&document.content.mime_type);
    }
    header.untrusted = document.content.untrusted;
    let path = header.path.clone();
    let put = async {
        let mut upload = tree.upload(header).await?;
        while let Some(piece) = bytes.next().await? {
            upload.write(piece).await?;
        }
        upload.finish().await.map(|_| ())
    };
    Ok((path, put.await))
}
