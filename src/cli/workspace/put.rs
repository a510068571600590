//! `toolwire workspace put`: writes a document, from a file or from standard input.

use std::path::{Path, PathBuf};

use clap::Args;
use tokio::fs::File;

use super::{show::View, tree_args::TreeArgs};
use crate::backend::Backend;
use toolwire_contract::proto::workspace::v1::PutHeader;
use toolwire_server::{client, console::Failure};
use toolwire_tool::context::RequestId;

/// Standard input, as the system names it.
const STDIN: &str = "/dev/stdin";

/// Writes a document: from a file, or else from standard input
#[derive(Debug, Args)]
pub(super) struct Put {
    #[command(flatten)]
    pub(super) which: TreeArgs,
    /// Where it goes
    #[arg(value_name = "PATH")]
    path: String,
    /// The file to read [default: standard input]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Its type [default: what it seems to be]
    #[arg(long = "type", value_name = "TYPE", default_value = "", hide_default_value = true)]
    mime_type: String,
    /// What it is, in your words
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Why it is written
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    why: String,
    /// Writes only if this is its etag; with *, only if there is no such document
    #[arg(long, value_name = "ETAG", default_value = "", hide_default_value = true)]
    etag: String,
    /// Recognises a repeat, so that it is written once [default: a new one]
    #[arg(long, value_name = "UUID")]
    request_id: Option<RequestId>,
}

impl Put {
    pub(super) async fn run(&self, backend: &Backend) -> Result<View, Failure> {
        let path = self.file.as_deref().unwrap_or(Path::new(STDIN));
        let unreadable = |error| Failure::Failed(format!("cannot read {}: {error}", path.display()));
        let file = File::open(path).await.map_err(unreadable)?;
        let known = file.metadata().await.map_err(unreadable)?;
        // The size of anything but a regular file says nothing.
        let size = if known.is_file() { known.len() } else { 0 };
        let written = backend.put_document(self.header(size), file).await;
        Ok(View::Document(Box::new(written.map_err(|status| client::refusal(&status))?)))
    }

    fn header(&self, size_bytes: u64) -> PutHeader {
        PutHeader {
            task_id: self.which.task.clone(),
            path: self.path.clone(),
            mime_type: self.mime_type.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            why: self.why.clone(),
            etag: self.etag.clone(),
            precondition: None,
            digest: String::new(),
            size_bytes,
            lease_token: 0,
            request_id: self.request_id.unwrap_or_else(RequestId::generate).to_string(),
        }
    }
}
