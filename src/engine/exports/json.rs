//! Serializes declarations.

use serde::Serialize;

pub(super) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("definitions hold nothing that JSON cannot express")
}
