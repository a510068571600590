//! What is lost of a document whose parts are wrong, and what is not.

use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Debug, Default, Deserialize, PartialEq)]
struct Page {
    list: List,
    next: Option<u32>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
struct List {
    items: Items<Item>,
    #[serde(default)]
    prices: Column<f64>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
struct Item {
    id: u64,
    name: Option<Box<str>>,
    #[serde(default)]
    count: i64,
    #[serde(default)]
    hidden: Flag,
}

fn page(items: &Value) -> Value {
    json!({"list": {"items": items, "prices": [1, 2.5]}, "next": 3})
}

fn read_of(document: &Value) -> (Page, Faults) {
    let (page, faults) = collect(|| read::<Page>(document.to_string().as_bytes()));
    (page.unwrap_or_else(|error| panic!("{error}: {document}")), faults)
}

fn ids(page: &Page) -> Vec<u64> {
    page.list.items.read.iter().map(|item| item.id).collect()
}

#[test]
fn a_field_that_does_not_fit_is_lost_alone() {
    for wrong in [json!("many"), json!({"raw": 1}), json!([1]), json!(true), json!(1.5)] {
        let items = json!([{"id": 1, "count": wrong, "name": "a"}, {"id": 2.0, "count": 4.0}]);
        let (page, faults) = read_of(&page(&items));
        let counts: Vec<_> = page.list.items.read.iter().map(|item| item.count).collect();
        assert_eq!((ids(&page), counts, page.next), (vec![1, 2], vec![0, 4], Some(3)), "{wrong}");
        assert_eq!((faults.items, faults.values), (0, 1), "{wrong}: {faults:?}");
    }
}

#[test]
fn an_item_without_what_it_needs_is_lost_alone() {
    for wrong in [json!({"id": "x"}), json!({}), json!("text"), json!([]), json!(7), json!({"id": -1})] {
        let (page, faults) = read_of(&page(&json!([{"id": 1}, wrong, {"id": 2}])));
        assert_eq!((ids(&page), faults.items, faults.values), (vec![1, 2], 1, 0), "{wrong}");
    }
    let (page, faults) = read_of(&page(&json!([null, {"id": 2, "count": null}])));
    assert_eq!(ids(&page), [2]);
    assert!(faults.is_empty(), "null is as good as absent: {faults:?}");
}

#[test]
fn a_value_of_a_column_leaves_the_others_in_their_places() {
    let document = json!({"list": {"items": [], "prices": [1, "x", null, {}, 2.5]}, "next": "later"});
    let (page, faults) = read_of(&document);
    assert_eq!(page.list.prices.0, [Some(1.0), None, None, None, Some(2.5)]);
    assert_eq!((page.next, faults.items, faults.values), (None, 0, 3));
}

#[test]
fn what_is_wrong_twice_over_is_counted_once() {
    let items =
        json!([{"id": 1, "count": "x"}, {"id": "y", "count": "x"}, {"id": 3, "name": 5, "count": []}]);
    let (page, faults) = read_of(&json!({"list": {"items": items}, "next": []}));
    assert_eq!(ids(&page), [1, 3]);
    assert_eq!((faults.items, faults.values), (1, 4), "{faults:?}");
    let warnings = faults.warnings("The Forum");
    assert_eq!(warnings, ["1 item and 4 values in the answer of The Forum cannot be read and are left out."]);
}

#[test]
fn a_page_of_which_nothing_fits_is_none() {
    for other in [
        json!({}),
        json!([]),
        json!({"list": null}),
        json!({"list": {"items": [{"name": "a"}, 3]}}),
        json!({"list": {"items": "none"}}),
    ] {
        let (page, faults) = collect(|| read::<Page>(other.to_string().as_bytes()));
        assert!(page.is_err() && faults.is_empty(), "{other}: {page:?} {faults:?}");
    }
}

#[test]
fn an_error_names_the_place_and_never_what_stood_there() {
    let error = read::<Page>(br#"{"list": {"items": "s3cret", "s3cret": 1}}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not the JSON that was expected: what stands at .list.items is missing or cannot be used"
    );
    let half = read::<Page>(br#"{"list": "s3cret"#).unwrap_err().to_string();
    assert!(half.contains("Eof") && !half.contains("s3cret"), "{half}");
}

#[test]
fn in_doubt_an_item_is_marked() {
    for (value, is_marked) in [
        ("null", false),
        ("false", false),
        ("true", true),
        ("1", true),
        (r#""moderator""#, true),
        ("{}", true),
    ] {
        assert_eq!(serde_json::from_str::<Flag>(value).unwrap().0, is_marked, "{value}");
    }
}

#[test]
fn a_page_that_is_wrong_everywhere_is_read_in_time_linear_in_its_items() {
    let items: Vec<_> = (0..20_000).map(|id| json!({"id": id, "count": "x", "name": {}})).collect();
    let (page, faults) = read_of(&page(&items.into()));
    assert_eq!((page.list.items.read.len(), faults.values), (20_000, 40_000));
}
