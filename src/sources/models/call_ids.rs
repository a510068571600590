//! The ids by which a model matches the results of its calls with these.

use std::collections::HashSet;

use super::ToolCall;

/// Calls each of which has an id of its own. Some servers send none, or one for all of an answer.
pub(super) fn with_ids(mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
    let mut taken = HashSet::new();
    for call in &mut calls {
        if call.id.is_empty() || !taken.insert(call.id.clone()) {
            call.id = format!("call_{:016x}", fastrand::u64(..));
            taken.insert(call.id.clone());
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_call_has_an_id_of_its_own() {
        let call = |id: &str| ToolCall {
            id: id.to_owned(),
            tool: "get_quotes".to_owned(),
            arguments: Value::Null,
            signatures: Vec::new(),
        };
        let calls = with_ids(["a", "", "a", ""].map(call).into());
        let ids: HashSet<_> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!((calls[0].id.as_str(), ids.len()), ("a", 4));
        assert!(ids.iter().all(|id| !id.is_empty()), "{ids:?}");
    }
}
