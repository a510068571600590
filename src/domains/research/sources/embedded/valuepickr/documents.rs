//! The forum's documents in the data tree: lists of topics, and topics with their posts.

use serde_json::{Value, json};

use crate::sources::embedded::data::Data;

/// The topic of a number, with all its posts.
pub(super) fn read(data: &Data, number: &str) -> Option<Value> {
    data.json(&format!("valuepickr/topics/{number}.json"))
}

pub(super) fn topics(list: &mut Value) -> &mut Vec<Value> {
    array(&mut list["topic_list"]["topics"])
}

pub(super) fn posts_of(topic: &mut Value) -> &mut Vec<Value> {
    array(&mut topic["post_stream"]["posts"])
}

/// What should be a list, and is made an empty one if it is none.
fn array(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = json!([]);
    }
    value.as_array_mut().expect("it was made one")
}
