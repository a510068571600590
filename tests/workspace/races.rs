//! Writes at the same time: one wins, and the rest are told so.

use futures_util::future::join_all;
use tonic::Code;
use toolwire::contract::proto::workspace::v1::PutHeader;

use super::{House, refused, said};

/// `RACE_ROUNDS` says how often: a document has at most 1,000 versions.
fn rounds() -> usize {
    std::env::var("RACE_ROUNDS").map_or(25, |text| text.parse().expect("a number")).min(999)
}

const WRITERS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_writes_with_one_etag_one_is_made() {
    let house = House::open();
    let riley = house.person("riley").await;
    let mut etag = riley.put("a.txt", b"first").await.unwrap().etag;
    for round in 0..rounds() {
        let writes = (0..WRITERS).map(|writer| {
            let header = PutHeader { etag: etag.clone(), ..riley.header("a.txt") };
            let (riley, bytes) = (&riley, format!("{round} {writer}"));
            async move { riley.put_with(header, bytes.as_bytes()).await }
        });
        let (won, lost): (Vec<_>, Vec<_>) = join_all(writes).await.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, WRITERS - 1));
        for lost in lost {
            assert_eq!(refused(lost), said(Code::Aborted, "ETAG_STALE"));
        }
        etag = won.into_iter().next().unwrap().unwrap().etag;
    }
    let (document, _) = riley.get("a.txt").await.unwrap();
    assert_eq!((document.version as usize, document.etag), (rounds() + 1, etag));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_new_documents_of_one_path_one_is_made() {
    let house = House::open();
    let riley = house.person("riley").await;
    for round in 0..rounds() {
        let path = format!("{round}.txt");
        let writes = (0..WRITERS).map(|writer| {
            let header = PutHeader { etag: "*".to_owned(), ..riley.header(&path) };
            let (riley, bytes) = (&riley, format!("{writer}"));
            async move { riley.put_with(header, bytes.as_bytes()).await }
        });
        let (won, lost): (Vec<_>, Vec<_>) = join_all(writes).await.into_iter().partition(Result::is_ok);
        assert_eq!(won.len(), 1);
        for lost in lost {
            assert_eq!(refused(lost), said(Code::AlreadyExists, "DOCUMENT_EXISTS"));
        }
    }
}
