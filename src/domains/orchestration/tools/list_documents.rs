//! `list_documents`: what is in the workspace, by path.

use super::task_workspace;
use crate::proto::v1::{DocumentsOutput, ListDocumentsInput};
use toolwire_state::documents::Criteria;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct ListDocuments;

impl Tool for ListDocuments {
    const NAME: &'static str = "list_documents";
    type Input = ListDocumentsInput;
    type Output = DocumentsOutput;

    fn services() -> Required {
        task_workspace::services()
    }

    async fn execute(
        &self,
        input: ListDocumentsInput,
        context: &ToolContext,
    ) -> Result<Reply<DocumentsOutput>, Unfinished> {
        let workspace = task_workspace::workspace(context).await?;
        let limit = input.limit.unwrap_or(50);
        let criteria = Criteria {
            path_prefix: input.path_prefix.unwrap_or_default(),
            tags: input.tags,
            mime_type: input.mime_type.unwrap_or_default(),
            created_by: input.created_by.unwrap_or_default(),
            ..Criteria::default()
        };
        let mut found = workspace.list(&criteria, "", limit + 1).await?;
        let truncated = found.len() > limit as usize;
        found.truncate(limit as usize);
        let provenance = task_workspace::provenance_of_all(&found);
        let documents =
            found.into_iter().map(|document| task_workspace::line(document, String::new())).collect();
        Ok(Reply { data: DocumentsOutput { documents, truncated }, provenance })
    }
}
