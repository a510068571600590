//! Documents, small and large: what was acknowledged is there with its bytes, and no write makes two versions.

use std::collections::{BTreeMap, HashSet};

use futures_util::stream;
use tonic::Status;
use toolwire::{
    base::digest::Digest,
    contract::proto::workspace::v1::{
        DocumentVersion, GetDocumentRequest, ListVersionsRequest, PutDocumentRequest, PutHeader,
        get_document_response, put_document_request::Part,
    },
    tool::context::RequestId,
};

use super::Client;

const PATHS: [&str; 3] = ["notes.txt", "data/table.bin", "data/large.bin"];

/// A workspace a round, and what was written to it.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// The task, once it is known, and by what it is made.
    task: Option<(RequestId, Option<String>)>,
    /// What was acknowledged: the identifier and the digest of each version of a path.
    written: BTreeMap<&'static str, BTreeMap<u32, (String, String)>>,
    /// What is not known to be stored.
    pending: Option<RequestId>,
    pub(super) told: usize,
}

/// What a write of this identifier writes: one in three is in a file of its own.
fn content(id: RequestId) -> (&'static str, Vec<u8>) {
    let [first, second, ..] = *id.as_bytes();
    let path = PATHS[usize::from(first) % PATHS.len()];
    let length = if path == PATHS[2] { 70_000 } else { 100 };
    (path, vec![b'a' + second % 16; length])
}

impl Shelf {
    /// Writes until the server is gone.
    pub(super) async fn load(&mut self, client: &mut Client) -> Status {
        loop {
            if let Err(status) = self.put(client).await {
                return status;
            }
        }
    }

    /// Writes something new, or again what nobody acknowledged.
    async fn put(&mut self, client: &mut Client) -> Result<(), Status> {
        let task_id = self.task(client).await?;
        let id = *self.pending.get_or_insert_with(RequestId::generate);
        let (path, bytes) = content(id);
        let digest = Digest::of_bytes(&bytes).to_string();
        let header = PutHeader {
            task_id,
            path: path.to_owned(),
            why: id.to_string(),
            request_id: id.to_string(),
            ..PutHeader::default()
        };
        let chunks = bytes.chunks(40_000).map(|chunk| Part::Chunk(chunk.to_vec()));
        let parts: Vec<_> = [Part::Header(header)].into_iter().chain(chunks).collect();
        let parts = stream::iter(parts.into_iter().map(|part| PutDocumentRequest { part: Some(part) }));
        let put = client.documents.put_document(parts).await?.into_inner();
        let document = put.document.expect("a document");
        assert_eq!((document.path.as_str(), &document.digest), (path, &digest));
        let versions = self.written.entry(path).or_default();
        let before = versions.insert(document.version, (id.to_string(), digest));
        assert_eq!(before, None, "two writes have the version {}", document.version);
        self.pending = None;
        self.told += 1;
        Ok(())
    }

    async fn task(&mut self, client: &mut Client) -> Result<String, Status> {
        let (id, task) = self.task.get_or_insert_with(|| (RequestId::generate(), None));
        if task.is_none() {
            *task = Some(client.create("Write", *id).await?);
        }
        Ok(task.clone().expect("made above"))
    }

    /// Everything that was written is there once, and the next round has another workspace.
    pub(super) async fn verify(&mut self, client: &mut Client) {
        if self.pending.is_some() {
            self.put(client).await.expect("written again");
        }
        let Some((_, Some(task))) = self.task.take() else { return };
        for (path, told) in std::mem::take(&mut self.written) {
            let found = versions(client, &task, path).await;
            let numbers: Vec<_> = found.iter().map(|version| version.version).collect();
            assert_eq!(numbers, told.keys().copied().collect::<Vec<_>>(), "as many as were acknowledged");
            let ids: HashSet<_> = found.iter().map(|version| &version.why).collect();
            assert_eq!(ids.len(), found.len(), "{path} has a write twice");
            for version in &found {
                let (why, digest) = &told[&version.version];
                assert_eq!((&version.why, &version.digest), (why, digest), "{path} is not as it was told");
            }
            let last = found.last().expect("a version");
            let bytes = read(client, &task, path).await;
            assert_eq!(Digest::of_bytes(&bytes).to_string(), last.digest);
        }
        client.ends(&task, RequestId::generate()).await.expect("ended");
    }
}

/// All versions, the first one first.
async fn versions(client: &mut Client, task: &str, path: &str) -> Vec<DocumentVersion> {
    let (mut all, mut page_token) = (Vec::new(), String::new());
    loop {
        let (task_id, path) = (task.to_owned(), path.to_owned());
        let message = ListVersionsRequest { task_id, path, page_size: 100, page_token };
        let page = client.documents.list_versions(message).await.expect("listed").into_inner();
        all.extend(page.versions);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    all.sort_by_key(|version| version.version);
    all
}

async fn read(client: &mut Client, task: &str, path: &str) -> Vec<u8> {
    let (task_id, path) = (task.to_owned(), path.to_owned());
    let message = GetDocumentRequest { task_id, path, ..GetDocumentRequest::default() };
    let mut stream = client.documents.get_document(message).await.expect("there").into_inner();
    let mut bytes = Vec::new();
    while let Some(part) = stream.message().await.expect("whole") {
        if let Some(get_document_response::Part::Chunk(chunk)) = part.part {
            bytes.extend(chunk);
        }
    }
    bytes
}
