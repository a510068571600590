//! Decodes a model's calls into planned calls, whatever it wrote.

use std::collections::HashSet;

use serde_json::Map;

use toolwire_contract::arguments;
use toolwire_planner::{ByModel, Offer, PlannedCall};
use toolwire_sources::models::ToolCall;

/// Maximum number of calls of one answer that are examined: more than any turn makes.
const MOST: usize = 256;

/// The longest name of an unknown tool, in characters, and of a call, in bytes.
const LONGEST_NAME: usize = 64;
const LONGEST_ID: usize = 256;

/// Stands in for a name of which nothing is left.
const UNKNOWN: &str = "unknown";

pub(super) fn calls(calls: Vec<ToolCall>, answer: u32, offer: &Offer) -> Vec<PlannedCall> {
    let mut ids = HashSet::new();
    let called = calls.into_iter().take(MOST).enumerate().map(|(at, call)| {
        // Servers that name no calls, or all alike, leave that to us.
        let is_name = !call.id.is_empty() && call.id.len() <= LONGEST_ID && ids.insert(call.id.clone());
        let id = if is_name { call.id.clone() } else { format!("call_{answer}_{at}") };
        decode_call(ToolCall { id, ..call }, answer, offer)
    });
    called.collect()
}

fn decode_call(call: ToolCall, answer: u32, offer: &Offer) -> PlannedCall {
    let ToolCall { id, tool, arguments, signatures } = call;
    let (arguments, unreadable) = match arguments::from_rounded_value(arguments) {
        Ok(arguments) => (arguments, None),
        Err(why) => (Map::new(), Some(why.into())),
    };
    let is_offered = offer.get(&tool).is_some();
    // Arguments of nothing are nothing: an answer could pass them for what was found.
    let arguments = if is_offered { arguments } else { Map::new() };
    let tool = if is_offered { tool } else { not_offered(&tool, offer) };
    let by_model = ByModel { id, answer, signatures, unreadable };
    PlannedCall { tool, arguments, reason: String::new(), by_model: Some(Box::new(by_model)) }
}

/// The name of an unknown tool: what is left of it must not be another tool either.
fn not_offered(name: &str, offer: &Offer) -> String {
    let name = harmless(name);
    if offer.get(&name).is_some() { UNKNOWN.to_owned() } else { name }
}

/// The name of an unknown tool, without anything that could be taken for a number or an address.
fn harmless(name: &str) -> String {
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphabetic() || *c == '_').take(LONGEST_NAME).collect();
    if name.is_empty() { UNKNOWN.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_name_that_is_none_no_number_and_no_address_is_left() {
        for (name, left) in [
            ("get_quote", "get_quote"),
            ("../../etc/passwd", "etcpasswd"),
            ("https://evil.example/?4242", "httpsevilexample"),
            ("4242", "unknown"),
            ("", "unknown"),
        ] {
            assert_eq!(harmless(name), left);
        }
        assert_eq!(harmless(&"x".repeat(1_000)).len(), LONGEST_NAME);
    }
}
