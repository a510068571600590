//! The names of documents as a URL spells them: which are one document, which are two, and which are refused.

use std::collections::BTreeMap;

use super::{conditional::Documents, get, value};

/// What a URL says, and the path of the document that it means.
const MEANT: &[(&str, &str)] = &[
    ("a.txt", "a.txt"),
    ("A.TXT", "A.TXT"),
    ("a:b.txt", "a:b.txt"),
    ("a%3Ab.txt", "a:b.txt"),
    // What looks like a verb or a part of an address.
    ("notes:search", "notes:search"),
    ("x:watch", "x:watch"),
    ("versions", "versions"),
    ("-", "-"),
    ("con.txt", "con.txt"),
    ("q%3Fa%23b", "q?a#b"),
    // Decoded once.
    ("a%2Fb.txt", "a/b.txt"),
    ("a%252Fb.txt", "a%2Fb.txt"),
    // A plus is not a space in a path.
    ("sp%20ace.txt", "sp ace.txt"),
    ("plus+plus.txt", "plus+plus.txt"),
    ("plus%2Bplus.txt", "plus+plus.txt"),
    // In NFC, which leaves compatible characters as they are.
    ("caf%C3%A9.txt", "caf\u{e9}.txt"),
    ("cafe%CC%81.txt", "caf\u{e9}.txt"),
    ("%F0%9F%98%80.md", "\u{1f600}.md"),
    ("%EF%BC%8Fslash", "\u{ff0f}slash"),
    ("%C4%B0.txt", "\u{130}.txt"),
    ("%EF%AC%81.txt", "\u{fb01}.txt"),
];

/// What a URL says that cannot be the path of a document, and the code that refuses it.
const REFUSED: &[(&str, &str)] = &[
    ("%2e%2e/x", "PATH_INVALID"),
    ("..%2fx", "PATH_INVALID"),
    (".%2e/x", "PATH_INVALID"),
    ("a/./b", "PATH_INVALID"),
    ("a//b", "PATH_INVALID"),
    ("a%00b", "PATH_INVALID"),
    ("%5Cx", "PATH_INVALID"),
    ("%7Eroot", "PATH_INVALID"),
    ("%E2%80%AErtl.txt", "PATH_INVALID"),
    ("e%E2%80%8Bx", "PATH_INVALID"),
    ("a.", "PATH_INVALID"),
    ("a%20", "PATH_INVALID"),
    // Not UTF-8, or not percent-encoding.
    ("a%ffb", "INVALID_REQUEST"),
    ("a%feb", "INVALID_REQUEST"),
    ("a%zzb", "INVALID_REQUEST"),
];

/// The paths that the list has, with their numbers of versions.
async fn list(documents: &Documents) -> BTreeMap<String, u64> {
    let list =
        value(&get(&documents.server, &format!("/v1/workspaces/{}/documents", documents.task), &[]).await);
    let documents = list["documents"].as_array().unwrap_or_else(|| panic!("{list}"));
    let entry = |document: &serde_json::Value| {
        (document["path"].as_str().unwrap().to_owned(), document["version"].as_u64().unwrap())
    };
    let entries: BTreeMap<_, _> = documents.iter().map(entry).collect();
    assert_eq!(entries.len(), documents.len(), "a path is listed twice: {list}");
    entries
}

#[tokio::test]
async fn every_spelling_of_a_path_is_the_same_document() {
    let documents = Documents::begin().await;
    let (mut versions, mut last) = (BTreeMap::new(), BTreeMap::new());
    for (spelling, path) in MEANT {
        let answer = documents.put(spelling, &[], spelling).await;
        assert_eq!(answer.status, 200, "{spelling}: {answer:?}");
        let version = versions.entry((*path).to_owned()).or_insert(0_u64);
        *version += 1;
        let document = &value(&answer)["document"];
        assert_eq!(document["path"], *path, "{spelling}");
        assert_eq!(document["version"], *version, "{spelling}");
        last.insert(path, spelling);
    }
    for (spelling, path) in MEANT {
        assert_eq!(&documents.text(spelling).await, last[path], "{spelling}");
    }
    assert_eq!(list(&documents).await, versions);
}

#[tokio::test]
async fn a_plus_in_a_path_does_not_mean_a_space() {
    let documents = Documents::begin().await;
    assert_eq!(documents.put("plus+plus.txt", &[], "x").await.status, 200);
    let answer = documents.ask("GET", "plus%20plus.txt", &[], "").await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "UNKNOWN_DOCUMENT"), "{answer:?}");
}

#[tokio::test]
async fn a_spelling_that_cannot_be_a_path_is_refused_whatever_is_asked() {
    let documents = Documents::begin().await;
    for (spelling, code) in REFUSED {
        let put = documents.put(spelling, &[], "x").await;
        assert_eq!((put.status, put.code().as_str()), (400, *code), "{spelling}: {put:?}");
        for method in ["GET", "DELETE"] {
            let answer = documents.ask(method, spelling, &[], "").await;
            assert_eq!((answer.status, answer.code().as_str()), (400, *code), "{method} {spelling}");
        }
    }
    assert_eq!(list(&documents).await, BTreeMap::new());
}
