//! Documents found by words.

use proptest::prelude::*;
use tonic::Code;
use toolwire::contract::proto::workspace::v1::{DocumentFilter, PutHeader, SearchDocumentsRequest};

use super::{House, Person, refused, said};

async fn library(house: &House) -> Person {
    let riley = house.person("riley").await;
    for (path, text) in [
        ("penguins.md", "Penguins are birds that do not fly. They swim."),
        ("gulls.md", "Gulls are birds that fly over the sea."),
        ("sea/ships.md", "Ships sail over the sea. A ship in the harbour is safe."),
        ("numbers.csv", "year,penguins\n2024,300\n2025,310\n"),
    ] {
        riley.put(path, text.as_bytes()).await.unwrap();
    }
    riley
}

#[tokio::test]
async fn words_phrases_and_what_is_left_out() {
    let house = House::open();
    let riley = library(&house).await;
    assert_eq!(riley.found("penguin").await[0], "penguins.md");
    assert_eq!(riley.found("birds fly").await.len(), 2);
    assert_eq!(riley.found("birds sea").await, ["gulls.md"]);
    assert_eq!(riley.found("\"over the sea\" -gulls").await, ["sea/ships.md"]);
    assert_eq!(riley.found("\"sea the over\"").await, Vec::<String>::new());
    assert_eq!(riley.found("ships.md").await, ["sea/ships.md"], "the path is found too");
    // All words, or else any, which it says.
    let any = riley.find("penguins harbour").await.unwrap();
    assert!(any.any_word && any.hits.len() == 3, "{any:?}");
    assert!(!riley.find("birds fly").await.unwrap().any_word);
    let snippet = &riley.find("harbour").await.unwrap().hits[0].snippet;
    assert!(snippet.contains("A ship in the harbour is safe."), "{snippet}");
}

#[tokio::test]
async fn symbols_find_nothing_and_the_index_has_no_grammar() {
    let house = House::open();
    let riley = library(&house).await;
    for nothing in ["* ^ ( ) \"", "-penguins", "\"\"", "¿?", "..."] {
        assert_eq!(riley.found(nothing).await, Vec::<String>::new(), "{nothing}");
    }
    for grammar in
        ["text : sea", "penguins OR", "NEAR(sea ship)", "sea*", "{path}: sea", "example.com", "a_b"]
    {
        riley.find(grammar).await.unwrap();
    }
    for bad in [String::new(), "x".repeat(257), "a b c d e f g h i j k l m n o p q".to_owned()] {
        assert_eq!(refused(riley.find(&bad).await), said(Code::InvalidArgument, "INVALID_REQUEST"));
    }
}

#[tokio::test]
async fn a_filter_holds_for_what_is_found() {
    let house = House::open();
    let riley = library(&house).await;
    let tags = vec!["animals".to_owned()];
    riley
        .put_with(PutHeader { tags, ..riley.header("penguins.md") }, b"Penguins swim in the sea.")
        .await
        .unwrap();
    let found = async |filter: DocumentFilter, page_size| {
        let task_id = riley.task.clone();
        let request =
            SearchDocumentsRequest { task_id, query: "sea".to_owned(), filter: Some(filter), page_size };
        let found = riley.client.clone().search_documents(riley.request(request)).await.unwrap();
        found.into_inner().hits.into_iter().map(|hit| hit.document.unwrap().path).collect::<Vec<_>>()
    };
    assert_eq!(found(DocumentFilter::default(), 0).await.len(), 3);
    assert_eq!(found(DocumentFilter::default(), 1).await.len(), 1);
    let tagged = DocumentFilter { tags: vec!["animals".to_owned()], ..DocumentFilter::default() };
    assert_eq!(found(tagged, 0).await, ["penguins.md"]);
    let below = DocumentFilter { path_prefix: "sea/".to_owned(), ..DocumentFilter::default() };
    assert_eq!(found(below, 0).await, ["sea/ships.md"]);
    // The words of an earlier version are forgotten.
    assert_eq!(riley.found("fly").await, ["gulls.md"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn no_query_fails(queries in proptest::collection::vec("([ -~]|\\PC){1,60}", 1..24)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let house = House::open();
            let riley = house.person("riley").await;
            riley.put("a.txt", b"some words").await.unwrap();
            for query in queries {
                match riley.find(&query).await {
                    Ok(found) => assert!(found.hits.len() <= 1),
                    // More than 16 terms.
                    Err(status) => assert_eq!(status.code(), Code::InvalidArgument, "{query:?}"),
                }
            }
        });
    }
}
