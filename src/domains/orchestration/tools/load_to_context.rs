//! `load_to_context`: the text of a document, from a line on, as much as a model should get at once.

use super::{
    task_workspace,
    window::{Excerpt, MAX_BYTES, Window},
};
use crate::proto::v1::{LoadToContextInput, LoadToContextOutput};
use toolwire_contract::ToolError;
use toolwire_state::{
    documents::Document,
    workspace::{ReadOptions, WorkspaceHandle, mime},
};
use toolwire_tool::{
    Reply, Tool,
    argument::required,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct LoadToContext;

impl Tool for LoadToContext {
    const NAME: &'static str = "load_to_context";
    type Input = LoadToContextInput;
    type Output = LoadToContextOutput;

    fn services() -> Required {
        task_workspace::services()
    }

    async fn execute(
        &self,
        input: LoadToContextInput,
        context: &ToolContext,
    ) -> Result<Reply<LoadToContextOutput>, Unfinished> {
        let path = required("path", input.path.as_deref())?;
        let workspace = task_workspace::workspace(context).await?;
        let document = task_workspace::document(&workspace, path, input.version.unwrap_or_default()).await?;
        let mut provenance = task_workspace::provenance_of(&document);
        let window = Window::new(input.from_line.unwrap_or(1), input.lines);
        let excerpt = if mime::is_text(&document.content.mime_type) {
            read(&workspace, &document, window).await?
        } else {
            let text = format!("{} is not text: pass its path on instead.", document.content.mime_type);
            provenance.warnings.push(text);
            window.finish()
        };
        if excerpt.is_line_cut {
            let text = format!("The line is longer than {MAX_BYTES} bytes: only its beginning is shown.");
            provenance.warnings.push(text);
        }
        let data = LoadToContextOutput {
            path: document.path,
            version: document.version,
            mime_type: document.content.mime_type,
            token_count: document.content.tokens,
            summary: document.content.summary,
            content: excerpt.text,
            truncated: excerpt.next_line > 0,
            next_line: excerpt.next_line,
        };
        Ok(Reply { data, provenance })
    }
}

/// Reads a document until the window is full: it may be far larger.
async fn read(
    workspace: &WorkspaceHandle,
    document: &Document,
    mut window: Window,
) -> Result<Excerpt, ToolError> {
    let options = ReadOptions { version: document.version, ..ReadOptions::default() };
    let (_, mut pieces) = workspace.read(&document.path, options).await?;
    while let Some(piece) = pieces.next().await?
        && window.push(&piece)
    {}
    Ok(window.finish())
}
