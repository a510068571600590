//! The blocks of each kind of document, and totality of the derivation.

use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::{build::MAX_BLOCKS, *};

/// The blocks in order, each without its key.
fn blocks(mime: &str, bytes: &[u8]) -> Vec<Value> {
    let Value::Object(map) = &of(mime, bytes)["blocks"] else { panic!("no blocks") };
    let keys: Vec<_> = (1..=map.len()).map(|number| format!("{number:06}")).collect();
    assert!(map.keys().eq(&keys), "{:?}", map.keys());
    map.values().cloned().collect()
}

#[test]
fn markdown_becomes_what_people_see_in_it() {
    let text = "# Q3 *report* #\nTwo\nlines.\n\nTitle\n---\n- one\n  more\n* two\n\n  - three\n\n1. first\n2) second\n\n> said\n> \
                twice\n***\n```rust x\nfn main() {}\n\n# no heading\n```\n| a | b \\| c |\n|---|:-:|\n| 1 | 2 |\n| 3 |\nend\n";
    assert_eq!(
        blocks("text/markdown", text.as_bytes()),
        [
            json!({"type": "heading", "level": 1, "text": "Q3 *report*"}),
            json!({"type": "paragraph", "text": "Two\nlines."}),
            json!({"type": "heading", "level": 2, "text": "Title"}),
            json!({"type": "list", "ordered": false, "items": ["one\nmore", "two", "three"]}),
            json!({"type": "list", "ordered": true, "items": ["first", "second"]}),
            json!({"type": "quote", "text": "said\ntwice"}),
            json!({"type": "code", "language": "rust", "text": "fn main() {}\n\n# no heading"}),
            json!({"type": "table", "columns": ["a", "b | c"], "rows": [["1", "2"], ["3"]], "rows_total": 2}),
            json!({"type": "paragraph", "text": "end"}),
        ]
    );
}

#[test]
fn a_table_has_columns_and_its_first_rows() {
    let text = "\u{feff}region,revenue\nEMEA,\"1,5\"\nAPAC\n";
    let expected = json!({"type": "table", "columns": ["region", "revenue"], "rows": [["EMEA", "1,5"], ["APAC"]], "rows_total": 2});
    assert_eq!(blocks("text/csv", text.as_bytes()), [expected]);
    let expected = json!({"type": "table", "columns": ["a", "b"], "rows": [["1,0", "2"]], "rows_total": 1});
    assert_eq!(blocks("text/csv", b"a;b\n1,0;2\n"), [expected]);
    let long = format!("a\n{}", "1\n".repeat(1_500));
    let table = &blocks("text/csv", long.as_bytes())[0];
    assert_eq!((table["rows"].as_array().unwrap().len(), &table["rows_total"]), (1_000, &json!(1_500)));
    assert_eq!(blocks("text/csv", b""), Vec::<Value>::new());
}

#[test]
fn json_is_a_value_where_it_can_be_one() {
    assert_eq!(blocks("application/json", b"{\"a\": [1]}"), [json!({"type": "data", "value": {"a": [1]}})]);
    assert_eq!(
        blocks("application/json", b"{a"),
        [json!({"type": "code", "language": "json", "text": "{a"})]
    );
    let deep = format!("{}{}", "[".repeat(60), "]".repeat(60));
    assert_eq!(blocks("application/json", deep.as_bytes())[0]["type"], "code");
    let lines = blocks("application/x-ndjson", b"{\"a\": 1}\n\n[2]\n");
    assert_eq!(lines, [json!({"type": "data", "value": {"a": 1}}), json!({"type": "data", "value": [2]})]);
}

#[test]
fn text_code_images_and_the_rest() {
    let paragraphs =
        [json!({"type": "paragraph", "text": "a\n b"}), json!({"type": "paragraph", "text": "c"})];
    assert_eq!(blocks("text/plain", b"a\r\n b\n\n \n\nc"), paragraphs);
    assert_eq!(
        blocks("text/x-rust", b"fn a() {}"),
        [json!({"type": "code", "language": "rust", "text": "fn a() {}"})]
    );
    let gif = blocks("image/gif", b"GIF89a\x02\0\x03\0");
    assert_eq!(gif[0]["type"], "image");
    assert_eq!((&gif[0]["width"], &gif[0]["height"]), (&json!(2), &json!(3)));
    let file = json!({"type": "file", "mime_type": "text/plain", "digest": Digest::of_bytes(b"\xff").to_string(), "size_bytes": 1});
    assert_eq!(blocks("text/plain", b"\xff"), [file]);
    assert_eq!(blocks("application/pdf", b"%PDF")[0]["type"], "file");
}

#[test]
fn what_lies_beyond_is_the_document_itself() {
    let whole = Whole { size: 9, digest: Digest::of_bytes(b"whole") };
    let file =
        json!({"type": "file", "mime_type": "text/csv", "digest": whole.digest.to_string(), "size_bytes": 9});
    let table = json!({"type": "table", "columns": ["a"], "rows": [["1"]], "rows_total": 1});
    assert_eq!(of_prefix("text/csv", b"a\n1\n2", &whole)["blocks"], json!({"000001": table, "000002": file}));
    let many = blocks("text/plain", "a\n\n".repeat(MAX_BLOCKS + 5).as_bytes());
    assert_eq!((many.len(), &many[MAX_BLOCKS]["type"]), (MAX_BLOCKS + 1, &json!("file")));
    let exact = blocks("text/plain", "a\n\n".repeat(MAX_BLOCKS).as_bytes());
    assert_eq!((exact.len(), &exact[MAX_BLOCKS - 1]["type"]), (MAX_BLOCKS, &json!("paragraph")));
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let marks = "([#>|`~*+\\-=:1-3. \n\\\\\"a,;{}\\[\\]]){0,200}";
    prop_oneof![
        vec(any::<u8>(), 0..100),
        marks.prop_map(String::into_bytes),
        ".{0,100}".prop_map(String::into_bytes)
    ]
}

proptest! {
    #[test]
    fn every_document_has_blocks_and_the_same_each_time(bytes in bytes(), kind in 0_usize..7, more in 0_u64..2) {
        let mime = ["text/markdown", "text/csv", "application/json", "application/x-ndjson", "text/plain", "image/png",
            "text/tab-separated-values"][kind];
        let whole = Whole { size: bytes.len() as u64 + more, digest: Digest::of_bytes(&bytes) };
        let made = of_prefix(mime, &bytes, &whole);
        prop_assert!(made["blocks"].as_object().unwrap().len() <= MAX_BLOCKS + 1);
        prop_assert!(made["blocks"].as_object().unwrap().values().all(|block| block["type"].is_string()));
        prop_assert_eq!(made, of_prefix(mime, &bytes, &whole));
    }
}
