//! Two users: neither learns anything of the other's documents.

use std::time::Duration;

use tokio::time::timeout;
use tonic::{Code, Status};
use toolwire::{
    contract::proto::workspace::v1::{
        DocumentFilter, GetDocumentRequest, ListVersionsRequest, UpdateMetadataRequest,
    },
    tool::context::TaskId,
};

use super::{House, Person};
use crate::support::raw::Raw;

/// What every RPC answers to somebody who names this task.
async fn answers(person: &Person, path: &str, etag: &str) -> Vec<Status> {
    let (task_id, path, etag) = (person.task.clone(), path.to_owned(), etag.to_owned());
    let mut client = person.client.clone();
    let versions = ListVersionsRequest { task_id: task_id.clone(), path: path.clone(), ..Default::default() };
    let versions = client.list_versions(person.request(versions)).await.map(|_| ());
    let update =
        UpdateMetadataRequest { task_id, path: path.clone(), etag: etag.clone(), ..Default::default() };
    let update = client.update_metadata(person.request(update)).await.map(|_| ());
    let metadata = GetDocumentRequest { metadata_only: true, ..person.wanted(&path) };
    [
        person.put(&path, b"mine").await.map(|_| ()),
        person.get(&path).await.map(|_| ()),
        person.get_with(metadata).await.map(|_| ()),
        person.list(DocumentFilter::default()).await.map(|_| ()),
        person.find("secret").await.map(|_| ()),
        versions,
        update,
        person.delete(&path, &etag).await.map(|_| ()),
    ]
    .into_iter()
    .map(Result::unwrap_err)
    .collect()
}

#[tokio::test]
async fn the_task_of_somebody_else_is_as_unknown_as_none() {
    let house = House::open();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    let document = riley.put("secret.txt", b"a secret of riley's").await.unwrap();
    let none = TaskId::generate().to_string();
    let sams_try = Person { task: riley.task.clone(), ..sam.clone() };
    let at_none = Person { task: none.clone(), ..sam.clone() };
    let (foreign, unknown) = (
        answers(&sams_try, "secret.txt", &document.etag).await,
        answers(&at_none, "secret.txt", &document.etag).await,
    );
    for (foreign, unknown) in foreign.iter().zip(&unknown) {
        assert_eq!((foreign.code(), unknown.code()), (Code::NotFound, Code::NotFound));
        assert_eq!(foreign.message().replace(&riley.task, "x"), unknown.message().replace(&none, "x"));
    }
    // Nothing was done, and in the own tree there is nothing.
    assert_eq!(riley.get("secret.txt").await.unwrap().0.etag, document.etag);
    assert_eq!(sam.found("secret").await, Vec::<String>::new());
    assert_eq!(sam.list(DocumentFilter::default()).await.unwrap(), Vec::<String>::new());
    let near = sam.get("secret.tx").await.unwrap_err();
    assert!(!near.message().contains("secret.txt"), "{near:?}");
}

#[tokio::test]
async fn what_others_have_changes_no_order() {
    let house = House::open();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    riley.put("a.txt", b"rare words here").await.unwrap();
    riley.put("b.txt", b"common words here").await.unwrap();
    riley.put("c.txt", b"common words here").await.unwrap();
    let before = riley.found("rare common here").await;
    for number in 0..20 {
        sam.put(&format!("{number}.txt"), b"rare rare rare").await.unwrap();
    }
    assert_eq!(riley.found("rare common here").await, before);
    assert_eq!(before[0], "a.txt");
}

#[tokio::test]
async fn two_trees_of_one_user_are_apart() {
    let house = House::open();
    let (one, other) = (house.person("riley").await, house.person("riley").await);
    one.put("a.txt", b"words").await.unwrap();
    assert_eq!(other.found("words").await, Vec::<String>::new());
    other.put("a.txt", b"other words").await.unwrap();
    assert_eq!(one.get("a.txt").await.unwrap().1, b"words");
    assert_eq!(one.found("other").await, Vec::<String>::new());
}

#[tokio::test]
async fn downloads_that_are_not_read_keep_no_connection_to_the_state() {
    const USERS: [&str; 4] = ["a", "b", "c", "d"];
    let house = House::open();
    let mut held = Vec::new();
    for name in USERS {
        let person = house.person(name).await;
        person.put("large.bin", &vec![b'x'; 1024 * 1024]).await.unwrap();
        for _ in 0..4 {
            // A byte of the first message, behind which the document is read.
            let client = Raw::with_window(house.server.address, 1).await;
            let path = "/toolwire.workspace.v1.WorkspaceService/GetDocument";
            let call = client.start(path, &[("x-toolwire-user", name)], &person.wanted("large.bin")).await;
            let mut body = call.response.await.unwrap().into_body();
            assert_eq!(body.data().await.unwrap().unwrap().len(), 1);
            held.push((body, client));
        }
    }
    let other = house.person("riley").await;
    other.put("small.txt", b"small").await.unwrap();
    for _ in 0..10 {
        // Half of what a read waits at most.
        timeout(Duration::from_secs(5), other.get("small.txt")).await.expect("no reads are held").unwrap();
    }
}
