//! An offer as a manifest says it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::label::{cleaned, cleaned_title};
use crate::{outcome::length, wire};
use toolwire_contract::{json as contract, proto::v1};

fn category(offer: &wire::Offer) -> &'static str {
    match offer.category() {
        v1::ToolCategory::Read => "read",
        v1::ToolCategory::Write => "write",
        v1::ToolCategory::Delete => "delete",
        v1::ToolCategory::SideEffect | v1::ToolCategory::Unspecified => "side_effect",
    }
}

fn consequence(offer: &wire::Offer) -> &'static str {
    match offer.consequence_level() {
        v1::ConsequenceLevel::Low => "low",
        v1::ConsequenceLevel::Medium => "medium",
        v1::ConsequenceLevel::High | v1::ConsequenceLevel::Unspecified => "high",
    }
}

/// What is empty is left out.
pub(super) fn manifest(offer: &wire::Offer, timeout: Duration) -> Map<String, Value> {
    let words =
        |text: &str, otherwise: &str| if text.trim().is_empty() { otherwise } else { text }.to_owned();
    let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let entries = [
        ("name", json!(offer.name)),
        ("title", json!(words(&cleaned_title(&offer.title), &offer.name))),
        ("description", json!(words(&offer.description, &offer.name))),
        ("type", json!("function_tool")),
        ("category", json!(category(offer))),
        ("consequence_level", json!(consequence(offer))),
        ("requires_confirmation", json!(offer.requires_confirmation)),
        ("idempotent", json!(offer.idempotent)),
        ("untrusted", json!(offer.untrusted)),
        ("timeout_ms", json!(milliseconds)),
        ("version", json!(words(&cleaned(&offer.version), "0.0.0"))),
        ("tags", offer.tags.iter().map(|tag| cleaned(tag)).collect()),
        ("guidance", json!(offer.guidance)),
        ("examples", offer.examples.iter().map(example).collect()),
    ];
    let mut manifest: Map<_, _> = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    manifest.extend(offer.cache.as_ref().map(|it| ("cache".to_owned(), cache(it))));
    if !offer.bind.is_empty() {
        let bound =
            offer.bind.iter().map(|(name, from)| (name.clone(), json!({"type": "string", "bind": from})));
        manifest.insert("parameters".to_owned(), bound.collect::<Map<_, _>>().into());
    }
    manifest
}

fn example(example: &v1::ToolExample) -> Value {
    let arguments = example.arguments.clone().map(contract::from_struct).unwrap_or_default();
    json!({"description": example.description, "arguments": arguments})
}

fn cache(policy: &v1::CachePolicy) -> Value {
    let ttl = policy.ttl.and_then(|it| length(it.seconds, it.nanos)).unwrap_or_default();
    json!({"ttl": format!("{}ms", ttl.as_millis()), "tier": policy.tier, "scope": policy.scope})
}
