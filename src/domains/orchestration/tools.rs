//! The tools that execute code: on documents of the workspace, in the web, and by other models.

mod ask_data;
mod ask_model;
mod list_documents;
mod load_to_context;
mod read_result;
mod search_documents;
mod search_web;
mod task_workspace;
mod window;
mod write_file;

use std::sync::Arc;

pub use ask_data::AskData;
pub use ask_model::{AskClaude, AskGpt};
pub use list_documents::ListDocuments;
pub use load_to_context::LoadToContext;
pub use read_result::ReadResult;
pub use search_documents::SearchDocuments;
pub use search_web::SearchWeb;
pub use write_file::WriteFile;

use toolwire_tool::{Executor, erase};

/// The tools that the domain `orchestration` offers beside those that are a manifest alone.
pub(super) fn all() -> Vec<Arc<dyn Executor>> {
    vec![
        erase(AskClaude),
        erase(AskData),
        erase(AskGpt),
        erase(ListDocuments),
        erase(LoadToContext),
        erase(SearchDocuments),
        erase(SearchWeb),
        erase(WriteFile),
    ]
}
