//! One document: its versions, what is said of it, and what is refused.

use serde_json::Value;
use tonic::Code;
use tonic_types::StatusExt;
use toolwire::{
    contract::{
        DocumentRefusal,
        json::from_struct,
        proto::workspace::v1::{
            Document, DocumentFilter, GetDocumentRequest, ListDocumentsRequest, ListVersionsRequest,
            PutHeader, Tags, UpdateMetadataRequest,
        },
    },
    state::workspace::Header,
    tool::context::User,
};

use super::{House, Person, hex, refused, said, task};

const REPORT: &[u8] = b"# Sales\n\nSales rose by a third in the third quarter. The north did best.\n";

impl Person {
    async fn update(&self, update: UpdateMetadataRequest) -> Result<Document, tonic::Status> {
        let update = UpdateMetadataRequest { task_id: self.task.clone(), ..update };
        let answer = self.client.clone().update_metadata(self.request(update)).await?;
        Ok(answer.into_inner().document.unwrap())
    }

    async fn versions(&self, path: &str, page_size: i32, page_token: &str) -> (Vec<u32>, String) {
        let request = ListVersionsRequest {
            task_id: self.task.clone(),
            path: path.to_owned(),
            page_size,
            page_token: page_token.to_owned(),
        };
        let page = self.client.clone().list_versions(self.request(request)).await.unwrap().into_inner();
        (page.versions.into_iter().map(|it| it.version).collect(), page.next_page_token)
    }
}

#[tokio::test]
async fn a_document_comes_back_with_every_field() {
    let house = House::open();
    let riley = house.person("riley").await;
    let header = PutHeader {
        description: Some("The final one".to_owned()),
        tags: vec!["Q3".to_owned(), "analysis".to_owned()],
        why: "asked for".to_owned(),
        ..riley.header("reports/q3.md")
    };
    let written = riley.put_with(header, REPORT).await.unwrap();
    let wanted = GetDocumentRequest { blocks: true, ..riley.wanted("reports/q3.md") };
    let (document, bytes) = riley.get_with(wanted).await.unwrap();
    assert_eq!(bytes, REPORT);
    assert_eq!((document.etag.as_str(), document.version), (written.etag.as_str(), 1));
    assert_eq!((document.mime_type.as_str(), document.size_bytes), ("text/markdown", REPORT.len() as u64));
    assert_eq!(document.digest, hex(REPORT));
    assert!(document.token_count > 10 && !document.token_count_estimated, "{document:?}");
    assert!(document.auto_summary.contains("Sales rose by a third"), "{document:?}");
    assert_eq!((document.description.as_str(), document.tags.len()), ("The final one", 2));
    assert_eq!(document.tags, ["analysis", "q3"]);
    assert_eq!((document.created_by.as_str(), document.updated_by.as_str()), ("riley", "riley"));
    assert_eq!(document.root_id, riley.task);
    assert!(document.created_at.is_some() && document.created_at == document.updated_at);
    assert!(!document.untrusted && !document.deleted);
    assert_eq!((document.versions.len(), document.versions[0].why.as_str()), (1, "asked for"));
    let blocks = Value::Object(from_struct(document.content_json.unwrap()));
    assert_eq!(blocks["blocks"]["000001"]["type"], "heading", "{blocks}");
}

#[tokio::test]
async fn each_write_makes_a_version_and_earlier_ones_can_be_read() {
    let house = House::open();
    let riley = house.person("riley").await;
    let first = riley.put("notes.txt", b"one").await.unwrap();
    let header = PutHeader { etag: first.etag.clone(), ..riley.header("notes.txt") };
    let second = riley.put_with(header.clone(), b"two").await.unwrap();
    assert_eq!((second.version, second.created_at), (2, first.created_at));
    assert_ne!(second.etag, first.etag);
    let old = GetDocumentRequest { version: 1, ..riley.wanted("notes.txt") };
    let (document, bytes) = riley.get_with(old).await.unwrap();
    assert_eq!((document.version, bytes.as_slice()), (1, &b"one"[..]));
    assert_eq!(document.versions.iter().map(|it| it.version).collect::<Vec<_>>(), [1, 2]);

    let stale = PutHeader { request_id: uuid(), ..header };
    let status = riley.put_with(stale, b"three").await.unwrap_err();
    let info = status.get_details_error_info().unwrap();
    assert_eq!((status.code(), info.reason.as_str()), (Code::Aborted, "ETAG_STALE"));
    assert_eq!(info.metadata["etag"], second.etag);
    let new = PutHeader { etag: "*".to_owned(), ..riley.header("notes.txt") };
    assert_eq!(refused(riley.put_with(new, b"x").await), said(Code::AlreadyExists, "DOCUMENT_EXISTS"));
    let new = PutHeader { etag: "*".to_owned(), ..riley.header("other.txt") };
    assert_eq!(riley.put_with(new, b"x").await.unwrap().version, 1);

    riley.put("notes.txt", b"three").await.unwrap();
    let (newest, next) = riley.versions("notes.txt", 2, "").await;
    assert_eq!(newest, [3, 2]);
    assert_eq!(riley.versions("notes.txt", 2, &next).await, (vec![1], String::new()));
    let beyond = GetDocumentRequest { version: 4, ..riley.wanted("notes.txt") };
    assert_eq!(refused(riley.get_with(beyond).await), said(Code::NotFound, "UNKNOWN_VERSION"));
}

fn uuid() -> String {
    toolwire::tool::context::RequestId::generate().to_string()
}

#[tokio::test]
async fn a_repeated_request_writes_once_and_another_one_of_its_name_is_refused() {
    let house = House::open();
    let riley = house.person("riley").await;
    let header = riley.header("a.txt");
    let first = riley.put_with(header.clone(), b"one").await.unwrap();
    riley.put("a.txt", b"two").await.unwrap();
    let again = riley.put_with(header.clone(), b"one").await.unwrap();
    assert_eq!((again.version, &again.etag, &again.digest), (1, &first.etag, &first.digest));
    assert_eq!(riley.get("a.txt").await.unwrap().1, b"two");
    let other = riley.put_with(header.clone(), b"other").await;
    assert_eq!(refused(other), said(Code::AlreadyExists, "REQUEST_ID_REUSED"));
    let none = PutHeader { request_id: String::new(), ..header };
    assert_eq!(refused(riley.put_with(none, b"x").await), said(Code::InvalidArgument, "INVALID_REQUEST"));
}

#[tokio::test]
async fn what_is_deleted_is_said_to_be_and_its_versions_stay() {
    let house = House::open();
    let riley = house.person("riley").await;
    let written = riley.put("a.txt", b"one").await.unwrap();
    assert_eq!(refused(riley.delete("a.txt", "other").await), said(Code::Aborted, "ETAG_STALE"));
    let deleted = riley.delete("a.txt", &written.etag).await.unwrap();
    assert!(deleted.deleted && deleted.version == 2 && deleted.digest.is_empty(), "{deleted:?}");
    let again = riley.delete("a.txt", &written.etag).await.unwrap();
    assert_eq!((again.version, &again.etag), (2, &deleted.etag));
    assert_eq!(refused(riley.get("a.txt").await), said(Code::NotFound, "DOCUMENT_DELETED"));
    let old = GetDocumentRequest { version: 1, ..riley.wanted("a.txt") };
    assert_eq!(riley.get_with(old).await.unwrap().1, b"one");
    let known = GetDocumentRequest { metadata_only: true, ..riley.wanted("a.txt") };
    assert!(riley.get_with(known).await.unwrap().0.deleted);
    assert_eq!(riley.list(DocumentFilter::default()).await.unwrap(), Vec::<String>::new());
    let all = DocumentFilter { deleted: true, ..DocumentFilter::default() };
    assert_eq!(riley.list(all).await.unwrap(), ["a.txt"]);
    assert_eq!(riley.found("one").await, Vec::<String>::new());
    // A path is free again.
    let new = PutHeader { etag: "*".to_owned(), ..riley.header("a.txt") };
    assert_eq!(riley.put_with(new, b"two").await.unwrap().version, 3);
    assert_eq!(riley.found("two").await, ["a.txt"]);
}

#[tokio::test]
async fn what_is_said_of_a_document_changes_by_its_etag() {
    let house = House::open();
    let riley = house.person("riley").await;
    let written = riley.put("a.txt", b"plain words").await.unwrap();
    let update = UpdateMetadataRequest {
        path: "a.txt".to_owned(),
        etag: written.etag.clone(),
        description: Some("about penguins".to_owned()),
        tags: Some(Tags { tags: vec!["Birds".to_owned()] }),
        ..UpdateMetadataRequest::default()
    };
    let changed = riley.update(update.clone()).await.unwrap();
    assert_eq!((changed.version, changed.tags.as_slice()), (1, &["birds".to_owned()][..]));
    assert_ne!(changed.etag, written.etag);
    assert_eq!(riley.found("penguin").await, ["a.txt"]);
    // The same again is the same answer; another one of the old etag is not.
    assert_eq!(riley.update(update.clone()).await.unwrap().etag, changed.etag);
    let other = UpdateMetadataRequest { description: Some("x".to_owned()), ..update.clone() };
    assert_eq!(refused(riley.update(other).await), said(Code::Aborted, "ETAG_STALE"));
    let none = UpdateMetadataRequest { etag: String::new(), ..update.clone() };
    assert_eq!(refused(riley.update(none).await), said(Code::InvalidArgument, "PRECONDITION_REQUIRED"));
    let typed = UpdateMetadataRequest {
        etag: changed.etag,
        description: None,
        tags: None,
        mime_type: "text/csv".to_owned(),
        ..update
    };
    let typed = riley.update(typed).await.unwrap();
    assert_eq!((typed.mime_type.as_str(), typed.description.as_str()), ("text/csv", "about penguins"));
    // A write that says nothing leaves what is said.
    let written = riley.put("a.txt", b"other words").await.unwrap();
    assert_eq!((written.description.as_str(), written.tags.len()), ("about penguins", 1));
}

#[tokio::test]
async fn lists_are_filtered_and_come_in_pages() {
    let house = House::open();
    let riley = house.person("riley").await;
    for (path, tags, bytes) in [
        ("charts/a.png", &["q3"][..], &b"\x89PNG\r\n\x1a\n"[..]),
        ("charts/b.png", &["q3", "final"], b"\x89PNG\r\n\x1a\n"),
        ("data.csv", &["q3"], b"a,b\n1,2\n"),
        ("notes.md", &[], b"# n"),
    ] {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        riley.put_with(PutHeader { tags, ..riley.header(path) }, bytes).await.unwrap();
    }
    let list = async |filter| riley.list(filter).await.unwrap();
    let all = DocumentFilter::default();
    let of = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    let below = DocumentFilter { path_prefix: "charts/".to_owned(), ..all.clone() };
    assert_eq!(list(below).await, ["charts/a.png", "charts/b.png"]);
    assert_eq!(list(DocumentFilter { tags: of(&["q3", "final"]), ..all.clone() }).await, ["charts/b.png"]);
    assert_eq!(list(DocumentFilter { tags: of(&["q"]), ..all.clone() }).await, Vec::<String>::new());
    assert_eq!(list(DocumentFilter { mime_type: "image/*".to_owned(), ..all.clone() }).await.len(), 2);
    assert_eq!(list(DocumentFilter { mime_type: "text/csv".to_owned(), ..all.clone() }).await, ["data.csv"]);
    assert_eq!(list(DocumentFilter { created_by: "nobody".to_owned(), ..all.clone() }).await.len(), 0);
    assert_eq!(list(DocumentFilter { updated_by: "riley".to_owned(), ..all.clone() }).await.len(), 4);
    let past = Some(prost_types::Timestamp { seconds: 1_000, nanos: 0 });
    assert_eq!(list(DocumentFilter { until: past, ..all.clone() }).await.len(), 0);
    assert_eq!(list(DocumentFilter { since: past, ..all.clone() }).await.len(), 4);

    let page = |page_size, page_token: &str, filter: &DocumentFilter| ListDocumentsRequest {
        task_id: riley.task.clone(),
        filter: Some(filter.clone()),
        page_size,
        page_token: page_token.to_owned(),
    };
    let mut client = riley.client.clone();
    let first = client.list_documents(riley.request(page(3, "", &all))).await.unwrap().into_inner();
    let token = first.next_page_token;
    assert_eq!((first.documents.len(), token.is_empty()), (3, false));
    let rest = client.list_documents(riley.request(page(3, &token, &all))).await.unwrap().into_inner();
    assert_eq!((rest.documents.len(), rest.next_page_token.as_str()), (1, ""));
    let other = DocumentFilter { deleted: true, ..all };
    let foreign = client.list_documents(riley.request(page(3, &token, &other))).await;
    assert_eq!(refused(foreign), said(Code::InvalidArgument, "INVALID_REQUEST"));
}

#[tokio::test]
async fn a_path_that_breaks_the_rules_and_one_that_is_unknown_are_told_apart() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    riley.put("reports/q3.md", REPORT).await.unwrap();
    let long = "x".repeat(513);
    for bad in
        ["../a", "/etc/passwd", "a/../b", "a\0b", "a\\b", "~/a", "a//b", "a ", "", ".toolwire/x", &long]
    {
        let put = refused(riley.put(bad, b"x").await);
        assert_eq!(put, said(Code::InvalidArgument, "PATH_INVALID"), "{bad:?}");
        assert_eq!(refused(riley.get(bad).await), put, "{bad:?}");
        assert_eq!(refused(riley.delete(bad, "").await), put, "{bad:?}");
    }
    let status = riley.get("reports/q4.md").await.unwrap_err();
    assert_eq!(refused(Err::<(), _>(status.clone())), said(Code::NotFound, "UNKNOWN_DOCUMENT"));
    assert!(status.message().contains("Did you mean reports/q3.md?"), "{status:?}");
    assert_eq!(house.files(), Vec::<String>::new());
}

#[tokio::test]
async fn a_type_that_is_none_or_that_the_bytes_are_not_is_refused() {
    let house = House::open();
    let riley = house.person("riley").await;
    for (stated, bytes) in
        [("text", &b"x"[..]), ("text/plain", b"PK\x03\x04\xff\xfe\x00zip"), ("a b/c", b"x")]
    {
        let header = PutHeader { mime_type: stated.to_owned(), ..riley.header("a.bin") };
        let found = refused(riley.put_with(header, bytes).await);
        assert_eq!(found, said(Code::InvalidArgument, "INVALID_REQUEST"), "{stated}");
    }
    // The first bytes are text, the last are not.
    let mut late = "word ".repeat(100_000).into_bytes();
    late.push(0xff);
    let header = PutHeader { mime_type: "text/plain".to_owned(), ..riley.header("late.txt") };
    assert_eq!(refused(riley.put_with(header, &late).await), said(Code::InvalidArgument, "INVALID_REQUEST"));
    assert_eq!(riley.put("late", &late).await.unwrap().mime_type, "application/octet-stream");
    let header = PutHeader { tags: vec!["x".repeat(65)], ..riley.header("a.txt") };
    assert_eq!(refused(riley.put_with(header, b"x").await), said(Code::InvalidArgument, "INVALID_REQUEST"));
    let header = PutHeader { description: Some("x".repeat(1_001)), ..riley.header("a.txt") };
    assert_eq!(refused(riley.put_with(header, b"x").await), said(Code::InvalidArgument, "INVALID_REQUEST"));
}

#[tokio::test]
async fn what_a_tainted_task_writes_is_untrusted_until_another_version() {
    let house = House::open();
    let riley = house.person("riley").await;
    let child = toolwire::tool::context::TaskId::generate().to_string();
    task(house.state(), &child, &riley.task, "riley", true).await;
    let tainted = Person { task: child.clone(), ..riley.clone() };
    let document = tainted.put("a.txt", b"from outside").await.unwrap();
    assert!(document.untrusted);
    assert_eq!((document.created_by.as_str(), &document.root_id), ("riley", &riley.task));
    assert!(riley.get("a.txt").await.unwrap().0.untrusted);
    assert!(!riley.put("a.txt", b"my own").await.unwrap().untrusted);
    let old = GetDocumentRequest { version: 1, ..riley.wanted("a.txt") };
    assert!(riley.get_with(old).await.unwrap().0.untrusted);
}

#[tokio::test]
async fn tokens_of_a_long_text_are_those_of_its_parts() {
    let house = House::open();
    let riley = house.person("riley").await;
    let line = "The quick brown fox jumps over the lazy dog, 42 times.\n";
    let (short, long) = (line.repeat(100), line.repeat(30_000));
    let short = riley.put("short.txt", short.as_bytes()).await.unwrap();
    let long = riley.put("long.txt", long.as_bytes()).await.unwrap();
    assert_eq!((long.token_count, long.token_count_estimated), (short.token_count * 300, false));
}

#[tokio::test]
async fn a_copy_of_another_tree_shares_its_bytes() {
    let house = House::of_sqlite();
    let (one, other) = (house.person("riley").await, house.person("riley").await);
    let large = "The penguins of the south swim.\n".repeat(10_000);
    let header = PutHeader { tags: vec!["birds".to_owned()], ..one.header("birds.txt") };
    one.put_with(header, large.as_bytes()).await.unwrap();
    let user = User::new("riley".parse().unwrap());
    let workspace = &house.server.app.workspace;
    let from = workspace.of_task(&user, &one.task.parse().unwrap()).await.unwrap();
    let to = workspace.of_task(&user, &other.task.parse().unwrap()).await.unwrap();
    let document = from.find("birds.txt").await.unwrap();
    let header = || Header { path: "copies/birds.txt".to_owned(), etag: "*".to_owned(), ..Header::default() };
    let copy = to.copy(&from, &document, header()).await.unwrap();
    assert_eq!((&copy.content, copy.version), (&document.content, 1));
    assert_eq!(copy.tags, Vec::<String>::new(), "what was said there is not said here");
    assert!(other.get("copies/birds.txt").await.unwrap().1 == large.as_bytes());
    assert_eq!(other.found("penguins").await, ["copies/birds.txt"]);
    assert_eq!((house.files().len(), house.count("SELECT uses FROM blobs").await), (1, 2));
    let again = to.copy(&from, &document, header()).await.unwrap_err();
    assert!(matches!(again, DocumentRefusal::Exists { .. }), "{again:?}");
    one.delete("birds.txt", "").await.unwrap();
    let deleted = from.find("birds.txt").await.unwrap();
    let gone = to.copy(&from, &deleted, Header { path: "x".to_owned(), ..Header::default() }).await;
    assert!(matches!(gone, Err(DocumentRefusal::Deleted { .. })), "{gone:?}");
}
