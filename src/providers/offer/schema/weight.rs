//! The parts that a schema counts, and what of it is copied.

use serde_json::Value;

use super::pattern;

/// The parts of a schema that a pattern counts as, whatever its size: each may have a long text to match.
pub(super) const PATTERN: usize = 256;

/// How much a value counts that is copied as it is, about one for each 64 bytes: a long list in a definition is there
/// as often as the definition is referred to.
pub(in crate::offer) fn weight(value: &Value) -> usize {
    weigh(value, &|_| PATTERN)
}

/// The same, but a pattern counts by the memory that it takes.
pub(in crate::offer) fn memory_weight(value: &Value) -> usize {
    weigh(value, &pattern::parts)
}

fn weigh(value: &Value, of_pattern: &impl Fn(&str) -> usize) -> usize {
    let of_member = |(key, it): (&String, &Value)| {
        let pattern = it.as_str().filter(|_| key == "pattern");
        key.len() / 64 + weigh(it, of_pattern) + pattern.map_or(0, of_pattern)
    };
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(|it| weigh(it, of_pattern)).sum::<usize>(),
        Value::Object(members) => 1 + members.iter().map(of_member).sum::<usize>(),
        _ => 1,
    }
}
