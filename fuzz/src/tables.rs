//! Bytes as a table that is asked something: its first line states a type, the rest is the document. Every document is
//! answered or refused, the same each time, and the answer has the shape that its columns say.

use serde_json::json;
use toolwire::domains::orchestration::ask_data::{
    Answer, AskError, Condition, Function, MOST_SHOWN, Operator, Order, Pick, Question, answer,
};

/// Types that are read in a way of their own.
const TYPES: [&str; 4] =
    ["application/json", "application/x-ndjson", "text/csv", "text/tab-separated-values"];

/// Asks a document for its shape, and for what its first column says.
pub fn run(input: &[u8]) {
    let types = TYPES.map(|name| (name.to_owned(), name));
    let (mime, document) = super::choice(input, &types);
    let Ok(shape) = asked(mime, document, &Question::default()) else { return };
    let column = Some(shape.columns[0].0.clone());
    let of = |function| Pick { column: column.clone(), function };
    let filter =
        Condition { column: shape.columns[0].0.clone(), operator: Operator::IsNull, value: json!(false) };
    let sorted = Question {
        filter: vec![filter],
        order_by: vec![Order { by: of(None), descending: true }],
        ..Question::default()
    };
    let sorted = asked(mime, document, &sorted).expect("the column is there");
    assert!(sorted.rows.iter().all(|row| !row[0].is_null()));
    let counted = Question {
        select: vec![of(None), of(Some(Function::Count)), of(Some(Function::Max))],
        group_by: column.clone().into_iter().collect(),
        ..Question::default()
    };
    let groups = asked(mime, document, &counted).expect("the column is there");
    assert!(groups.rows_total <= shape.rows_total);
}

fn asked(mime: &str, document: &[u8], question: &Question) -> Result<Answer, AskError> {
    let found = answer(mime, document, question, &|| false);
    assert_eq!(found, answer(mime, document, question, &|| false));
    if let Ok(found) = &found {
        assert!(found.rows.len() <= MOST_SHOWN && found.rows_total >= found.rows.len() as u64);
        assert!(found.rows.iter().all(|row| row.len() == found.columns.len()));
        assert_eq!(found.truncated, found.rows_total > found.rows.len() as u64);
    }
    found
}
