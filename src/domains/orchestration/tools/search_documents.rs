//! `search_documents`: documents of the workspace that have some words.

use super::task_workspace;
use crate::proto::v1::{DocumentsOutput, SearchDocumentsInput};
use toolwire_state::documents::Criteria;
use toolwire_tool::{
    Reply, Tool,
    argument::required,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct SearchDocuments;

impl Tool for SearchDocuments {
    const NAME: &'static str = "search_documents";
    type Input = SearchDocumentsInput;
    type Output = DocumentsOutput;

    fn services() -> Required {
        task_workspace::services()
    }

    async fn execute(
        &self,
        input: SearchDocumentsInput,
        context: &ToolContext,
    ) -> Result<Reply<DocumentsOutput>, Unfinished> {
        let query = required("query", input.query.as_deref())?;
        let workspace = task_workspace::workspace(context).await?;
        let limit = input.limit.unwrap_or(10) as usize;
        let criteria = Criteria { tags: input.tags, ..Criteria::default() };
        let mut found = workspace.search(query, &criteria, limit + 1).await?;
        let truncated = found.hits.len() > limit;
        found.hits.truncate(limit);
        let mut provenance = task_workspace::provenance_of_all(found.hits.iter().map(|hit| &hit.document));
        if found.any_word {
            provenance.warnings.push("No document has all of the words: these have some of them.".to_owned());
        }
        let documents =
            found.hits.into_iter().map(|hit| task_workspace::line(hit.document, hit.snippet)).collect();
        Ok(Reply { data: DocumentsOutput { documents, truncated }, provenance })
    }
}
