//! Less of a value: the first elements of lists, the beginning of long texts, the first members of objects, each with a
//! word on what is missing.

use serde_json::{Map, Value};

use toolwire_base::words::counted;

/// Lists keep at least so many elements: to say how many are missing takes about as much.
const ELEMENTS: usize = 2;
/// Texts may have so many characters, and so many more for each further element.
const CHARACTERS: usize = 80;
/// The same of the members of an object.
const MEMBERS: usize = 16;
/// What stands for values that are nested too deep.
const LEFT_OUT: &str = "[left out]";

/// What a value may have at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) elements: usize,
    pub(super) characters: usize,
    pub(super) members: usize,
    /// Levels of lists and objects.
    pub(super) levels: usize,
}

/// Where even the least is too much: fewer levels, then next to nothing of them.
pub(super) const HARDLY: [Limits; 7] = [
    Limits { elements: 2, characters: 80, members: 16, levels: 4 },
    Limits { elements: 2, characters: 80, members: 16, levels: 2 },
    Limits { elements: 1, characters: 40, members: 8, levels: 2 },
    Limits { elements: 1, characters: 40, members: 8, levels: 1 },
    Limits { elements: 0, characters: 16, members: 4, levels: 1 },
    Limits { elements: 0, characters: 8, members: 0, levels: 1 },
    Limits { elements: 0, characters: 0, members: 0, levels: 0 },
];

impl Limits {
    /// Those by which lists keep so many elements beyond the least.
    pub(super) const fn of(more: usize) -> Self {
        let times = more.saturating_add(1);
        let (characters, members) = (CHARACTERS.saturating_mul(times), MEMBERS.saturating_mul(times));
        Self { elements: ELEMENTS.saturating_add(more), characters, members, levels: usize::MAX }
    }
}

/// With so many elements more than the least nothing of a value is cut, but names of members.
pub(super) fn needed(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len().div_ceil(CHARACTERS),
        Value::Array(items) => items.iter().map(needed).max().unwrap_or_default().max(items.len()),
        Value::Object(map) => {
            map.values().map(needed).max().unwrap_or_default().max(map.len().div_ceil(MEMBERS))
        }
        _ => 0,
    }
}

pub(super) fn cut(value: &Value, limits: Limits) -> Value {
    match value {
        Value::String(text) => beginning(text, limits.characters).into(),
        Value::Array(_) | Value::Object(_) if limits.levels == 0 => LEFT_OUT.into(),
        Value::Array(items) => list(items, limits),
        Value::Object(map) => object(map, limits),
        plain => plain.clone(),
    }
}

/// The first characters of a text.
pub(super) fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => {
            let missing = counted(text[end..].chars().count(), "more character", "more characters");
            format!("{} [{missing} left out]", text[..end].trim_end())
        }
        None => text.to_owned(),
    }
}

fn list(items: &[Value], limits: Limits) -> Value {
    let inner = within(limits);
    let mut kept: Vec<_> = items.iter().take(limits.elements).map(|item| cut(item, inner)).collect();
    let missing = items.len() - kept.len();
    if missing > 0 {
        kept.push(format!("[{} left out]", counted(missing, "more element", "more elements")).into());
    }
    kept.into()
}

fn object(map: &Map<String, Value>, limits: Limits) -> Value {
    let inner = within(limits);
    let name = |name: &str| beginning(name, limits.characters);
    let kept = map.iter().take(limits.members).map(|(key, value)| (name(key), cut(value, inner)));
    let mut kept: Map<_, _> = kept.collect();
    let missing = map.len().saturating_sub(limits.members);
    if missing > 0 {
        kept.insert(LEFT_OUT.to_owned(), counted(missing, "more member", "more members").into());
    }
    kept.into()
}

fn within(limits: Limits) -> Limits {
    Limits { levels: limits.levels.saturating_sub(1), ..limits }
}
