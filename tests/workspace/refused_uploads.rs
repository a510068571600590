//! What a refused or broken upload leaves: nothing, and nobody waits for its end to be told.

use crate::support::state;
use futures_util::{FutureExt, StreamExt, future::join_all, stream};
use tokio::task::yield_now;
use tonic::Code;
use toolwire::{
    contract::proto::workspace::v1::{
        PutDocumentRequest, PutDocumentResponse, PutHeader, put_document_request::Part,
    },
    db::sql,
};

use super::*;

/// More than goes into the database.
const LARGE: usize = 200_000;

impl Person {
    /// Begins an upload of which so much comes, and no end.
    async fn half(&self, header: PutHeader) -> Result<PutDocumentResponse, Status> {
        let parts = [Part::Header(header), Part::Chunk(vec![b'x'; LARGE])];
        let parts = stream::iter(parts.map(|part| PutDocumentRequest { part: Some(part) }));
        let request = self.request(parts.chain(stream::pending()));
        self.client.clone().put_document(request).await.map(tonic::Response::into_inner)
    }
}

fn code<T>(refused: Result<T, Status>) -> Code {
    refused.err().expect("it is refused").code()
}

#[tokio::test]
async fn an_upload_that_will_be_refused_is_refused_before_its_end() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    riley.put("a.txt", b"first").await.unwrap();
    let stale = PutHeader { etag: "stale".to_owned(), ..riley.header("a.txt") };
    assert_eq!(code(riley.half(stale).await), Code::Aborted);
    let new = PutHeader { etag: "*".to_owned(), ..riley.header("a.txt") };
    assert_eq!(code(riley.half(new).await), Code::AlreadyExists);
    state::run(house.state(), sql!("UPDATE workspaces SET bytes = (1 << 30) - 100000")).await;
    assert_eq!(code(riley.half(riley.header("b.txt")).await), Code::ResourceExhausted);
    let stated = PutHeader { size_bytes: 150_000, ..riley.header("b.txt") };
    assert_eq!(code(riley.half(stated).await), Code::ResourceExhausted);
    assert_eq!(house.files(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_of_those_who_lose_go_at_once() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    for round in 0..5_u8 {
        let path = format!("{round}.txt");
        let writes = (0..4_u8).map(|writer| {
            let header = PutHeader { etag: "*".to_owned(), ..riley.header(&path) };
            let (riley, bytes) = (&riley, [vec![b'a' + round, b'a' + writer], vec![b'x'; LARGE]].concat());
            async move { riley.put_with(header, &bytes).await }
        });
        let won = join_all(writes).await.into_iter().flatten().count();
        assert_eq!((won, house.files().len()), (1, usize::from(round) + 1));
    }
    // The same bytes at once under several paths: whoever is refused takes nothing from the others.
    let bytes = vec![b'y'; LARGE];
    let writes = (0..8).map(|writer| {
        let etag = if writer % 2 == 0 { "" } else { "stale" };
        let header = PutHeader { etag: etag.to_owned(), ..riley.header(&format!("same{}.txt", writer / 2)) };
        let (riley, bytes) = (&riley, &bytes);
        async move { riley.put_with(header, bytes).await }
    });
    let written = join_all(writes).await.into_iter().flatten().count();
    assert_eq!((written, house.files().len()), (4, 6));
    for number in 0..4 {
        assert_eq!(riley.get(&format!("same{number}.txt")).await.unwrap().1.len(), LARGE);
    }
}

#[tokio::test]
async fn half_uploads_count_against_the_quota() {
    let house = House::of_sqlite();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    riley.put("a.txt", b"first").await.unwrap();
    let other = root(house.state(), "riley", false).await;
    let other = Person { task: other, ..riley.clone() };
    state::run(
        house.state(),
        sql!("UPDATE workspaces SET bytes = (5 << 30) - 300000, root = 'task_of_before'"),
    )
    .await;
    let mut half = Box::pin(riley.half(riley.header("b.txt")));
    while house.files().is_empty() {
        assert!(half.as_mut().now_or_never().is_none());
        yield_now().await;
    }
    assert_eq!(code(other.half(other.header("b.txt")).await), Code::ResourceExhausted);
    let mut others = Box::pin(sam.half(sam.header("b.txt")));
    while house.files().len() < 2 {
        assert!(others.as_mut().now_or_never().is_none());
        yield_now().await;
    }
    drop(half);
    drop(others);
    // The server sees that they are gone.
    while !house.files().is_empty() {
        yield_now().await;
    }
    assert_eq!(code(riley.get("b.txt").await), Code::NotFound, "half a document is none");
    assert_eq!(other.put("b.txt", &vec![b'x'; LARGE]).await.unwrap().version, 1);
}

#[tokio::test]
async fn a_stated_size_that_does_not_fit_stores_nothing() {
    let house = House::of_sqlite();
    let riley = house.person("riley").await;
    let put = async |stated: u64, came: usize| {
        let header = PutHeader { size_bytes: stated, ..riley.header("a.bin") };
        riley.put_with(header, &vec![b'x'; came]).await
    };
    for (stated, came) in [(9, 10), (11, 10), (LARGE as u64 - 1, LARGE), (LARGE as u64 + 1, LARGE)] {
        let status = put(stated, came).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{stated} {came}: {status:?}");
        assert!(status.message().contains("nothing was stored"), "{status:?}");
    }
    assert_eq!(code(riley.get("a.bin").await), Code::NotFound);
    assert_eq!(house.files(), [""; 0]);
    assert_eq!(put(10, 10).await.unwrap().version, 1);
}
