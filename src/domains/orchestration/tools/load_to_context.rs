//! `load_to_context`: the text of a document, from a line on, as much as a model should get at once.

use super::{
    task_workspace,
    window::{MOST, Window},
};
use crate::proto::v1::{LoadToContextInput, LoadToContextOutput};
use toolwire_store::workspace::{ReadOptions, mime};
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
        let mut window = Window::new(input.from_line.unwrap_or(1), input.lines);
        if mime::is_text(&document.content.mime_type) {
            let options = ReadOptions { version: document.version, ..ReadOptions::default() };
            let (_, mut pieces) = workspace.read(&document.path, options).await?;
            // Stops reading once the window is full: the document may be far larger.
            while let Some(piece) = pieces.next().await?
                && window.push(&piece)
            {}
        } else {
            let text = format!("{} is not text: pass its path on instead.", document.content.mime_type);
            provenance.warnings.push(text);
        }
        let shown = window.finish();
        if shown.is_line_cut {
            let text = format!("The line is longer than {MOST} bytes: only its beginning is shown.");
            provenance.warnings.push(text);
        }
        let data = LoadToContextOutput {
            path: document.path,
            version: document.version,
            mime_type: document.content.mime_type,
            token_count: document.content.tokens,
            summary: document.content.summary,
            content: shown.text,
            truncated: shown.next_line > 0,
            next_line: shown.next_line,
        };
        Ok(Reply { data, provenance })
    }
}
