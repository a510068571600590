//! `toolwire workspace`: the documents that the tasks of a tree share.

mod put;
mod show;
mod tree_args;

use clap::{Args, Subcommand};
use futures_util::StreamExt;

use self::{put::Put, show::View, tree_args::TreeArgs};
use super::{
    backend::{Backend, into_answer},
    ids, json,
    signals::unless_interrupted,
};
use toolwire_contract::proto::workspace::v1::{
    DeleteDocumentRequest, Document, DocumentFilter, DocumentVersion, GetDocumentRequest,
    ListDocumentsRequest, ListVersionsRequest, SearchDocumentsRequest, get_document_response::Part,
};
use toolwire_server::{
    client,
    console::{self, Failure, Reader},
    domain::Domain,
};

/// Page size of requests.
const PAGE: i32 = 1_000;

/// Lists, reads, writes and finds the documents that the tasks of a tree share
#[derive(Debug, Args)]
pub(super) struct Workspace {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Ls(Ls),
    Cat(Cat),
    Put(Put),
    Search(Search),
    Versions(Versions),
    Rm(Rm),
}

/// Lists documents by path
#[derive(Debug, Args)]
struct Ls {
    #[command(flatten)]
    which: TreeArgs,
    /// Lists only paths that begin with PATH
    #[arg(long, value_name = "PATH", default_value = "")]
    prefix: String,
    /// Lists only documents with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Lists only documents of this type, such as text/csv or image/*
    #[arg(long = "type", value_name = "TYPE", default_value = "")]
    mime_type: String,
    /// Lists deleted documents too
    #[arg(long)]
    deleted: bool,
}

/// Prints the bytes of a document; with --json what is known of it, and its blocks
#[derive(Debug, Args)]
struct Cat {
    #[command(flatten)]
    which: TreeArgs,
    /// The document
    #[arg(value_name = "PATH")]
    path: String,
    /// The version [default: the last one]
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    version: u32,
}

/// Finds documents by words, "phrases" and -not
#[derive(Debug, Args)]
struct Search {
    #[command(flatten)]
    which: TreeArgs,
    /// What to find
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: String,
    /// Finds only documents with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Maximum number of results
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(i32).range(1..=100))]
    limit: i32,
}

/// Lists the versions of a document, the newest first
#[derive(Debug, Args)]
struct Versions {
    #[command(flatten)]
    which: TreeArgs,
    /// The document
    #[arg(value_name = "PATH")]
    path: String,
}

/// Deletes a document: earlier versions stay
#[derive(Debug, Args)]
struct Rm {
    #[command(flatten)]
    which: TreeArgs,
    /// The document
    #[arg(value_name = "PATH")]
    path: String,
    /// Deletes it only if this is its etag
    #[arg(long, value_name = "ETAG", default_value = "")]
    etag: String,
}

impl Workspace {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        unless_interrupted(self.carry_out(domains)).await
    }

    async fn carry_out(mut self, domains: &[Domain]) -> Result<(), Failure> {
        let which = match &mut self.action {
            Action::Ls(Ls { which, .. })
            | Action::Cat(Cat { which, .. })
            | Action::Put(Put { which, .. })
            | Action::Search(Search { which, .. })
            | Action::Versions(Versions { which, .. })
            | Action::Rm(Rm { which, .. }) => which,
        };
        let backend: Backend = which.connection.open_with_state(domains).await?;
        which.task = ids::task(&backend, &which.task).await?;
        let as_json = which.json;
        let shown = match &self.action {
            Action::Ls(ls) => ls.run(&backend).await?,
            Action::Cat(cat) => return cat.run(&backend).await,
            Action::Put(put) => put.run(&backend).await?,
            Action::Search(search) => search.run(&backend).await?,
            Action::Versions(versions) => versions.run(&backend).await?,
            Action::Rm(rm) => rm.run(&backend).await?,
        };
        if as_json { console::json_lines(shown.json()) } else { shown.print() }
    }
}

impl Ls {
    async fn run(&self, backend: &Backend) -> Result<View, Failure> {
        let filter = DocumentFilter {
            path_prefix: self.prefix.clone(),
            tags: self.tags.clone(),
            mime_type: self.mime_type.clone(),
            deleted: self.deleted,
            ..DocumentFilter::default()
        };
        let (mut all, mut page_token): (Vec<Document>, _) = (Vec::new(), String::new());
        loop {
            let (task_id, filter) = (self.which.task.clone(), Some(filter.clone()));
            let request = ListDocumentsRequest { task_id, filter, page_size: PAGE, page_token };
            let page = into_answer(backend.documents().list_documents(request)).await?;
            all.extend(page.documents);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(View::Documents(all));
            }
        }
    }
}

impl Cat {
    async fn run(&self, backend: &Backend) -> Result<(), Failure> {
        let request = GetDocumentRequest {
            task_id: self.which.task.clone(),
            path: self.path.clone(),
            version: self.version,
            blocks: self.which.json,
            metadata_only: self.which.json,
            ..GetDocumentRequest::default()
        };
        let mut parts = into_answer(backend.documents().get_document(request)).await?;
        // A terminal is shown a text, of which a chunk may end within a character.
        let mut text = Vec::new();
        while let Some(message) = parts.next().await {
            match message.map_err(|status| client::refusal(&status))?.part {
                Some(Part::Chunk(chunk)) if console::is_shown() => text.extend_from_slice(&chunk),
                Some(Part::Chunk(chunk)) if console::bytes(&chunk)? == Reader::Gone => return Ok(()),
                Some(Part::Document(document)) if self.which.json => {
                    console::json(&json::document(&document))?;
                }
                _ => {}
            }
        }
        console::bytes(&text).map(|_| ())
    }
}

impl Search {
    async fn run(&self, backend: &Backend) -> Result<View, Failure> {
        let request = SearchDocumentsRequest {
            task_id: self.which.task.clone(),
            query: self.query.clone(),
            filter: Some(DocumentFilter { tags: self.tags.clone(), ..DocumentFilter::default() }),
            page_size: self.limit,
        };
        let found = into_answer(backend.documents().search_documents(request)).await?;
        if found.any_word {
            console::say("no document has all the words; these have any of them");
        }
        Ok(View::Hits(found.hits))
    }
}

impl Versions {
    async fn run(&self, backend: &Backend) -> Result<View, Failure> {
        let (mut all, mut page_token): (Vec<DocumentVersion>, _) = (Vec::new(), String::new());
        loop {
            let (task_id, path) = (self.which.task.clone(), self.path.clone());
            let request = ListVersionsRequest { task_id, path, page_size: PAGE, page_token };
            let page = into_answer(backend.documents().list_versions(request)).await?;
            all.extend(page.versions);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(View::Versions(all));
            }
        }
    }
}

impl Rm {
    async fn run(&self, backend: &Backend) -> Result<View, Failure> {
        let (task_id, path, etag) = (self.which.task.clone(), self.path.clone(), self.etag.clone());
        let request = DeleteDocumentRequest { task_id, path, etag, precondition: None };
        let deleted = backend.delete_document(request).await.map_err(|status| client::refusal(&status))?;
        Ok(View::Document(Box::new(deleted)))
    }
}
