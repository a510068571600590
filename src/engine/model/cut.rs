//! Cuts a JSON value: keeps the first elements of lists, the beginning of long texts and the first members of objects,
//! and states at each cut what is missing.

use serde_json::{Map, Value};

use toolwire_base::words::counted;

/// Minimum number of elements of a cut list: the note about missing ones costs about as much as two.
const ELEMENTS: usize = 2;
/// Characters of a text at the lowest limits, and the increment for each further element.
const CHARACTERS: usize = 80;
/// Members of an object at the lowest limits, and the increment for each further element.
const MEMBERS: usize = 16;
/// Replaces values that are nested too deep, and is the key of the note about missing members.
const LEFT_OUT: &str = "[left out]";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) elements: usize,
    pub(super) characters: usize,
    pub(super) members: usize,
    /// Levels of lists and objects.
    pub(super) levels: usize,
    /// Whether each cut states what is missing.
    pub(super) has_notes: bool,
}

/// The limits below the lowest regular ones, tried in order: fewer levels, then less of each.
pub(super) const FEW_LEVELS: [Limits; 7] = [
    Limits { elements: 2, characters: 80, members: 16, levels: 4, has_notes: true },
    Limits { elements: 2, characters: 80, members: 16, levels: 2, has_notes: true },
    Limits { elements: 1, characters: 40, members: 8, levels: 2, has_notes: true },
    Limits { elements: 1, characters: 40, members: 8, levels: 1, has_notes: true },
    Limits { elements: 0, characters: 16, members: 4, levels: 1, has_notes: true },
    Limits { elements: 0, characters: 8, members: 0, levels: 1, has_notes: true },
    Limits { elements: 0, characters: 0, members: 0, levels: 0, has_notes: true },
];

impl Limits {
    /// The limits at which lists keep `more` elements beyond the minimum; the other limits grow in proportion.
    pub(super) const fn of(more: usize) -> Self {
        let times = more.saturating_add(1);
        let (characters, members) = (CHARACTERS.saturating_mul(times), MEMBERS.saturating_mul(times));
        let elements = ELEMENTS.saturating_add(more);
        Self { elements, characters, members, levels: usize::MAX, has_notes: true }
    }

    /// The same limits for a cut that keeps the types: objects keep their members, and nothing notes what is missing.
    pub(super) const fn in_shape(self) -> Self {
        Self { members: usize::MAX, has_notes: false, ..self }
    }
}

/// The argument of [`Limits::of`] at which no part of a value is cut, except long names of members.
pub(super) fn uncut_extent(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len().div_ceil(CHARACTERS),
        Value::Array(items) => items.iter().map(uncut_extent).max().unwrap_or_default().max(items.len()),
        Value::Object(map) => {
            map.values().map(uncut_extent).max().unwrap_or_default().max(map.len().div_ceil(MEMBERS))
        }
        _ => 0,
    }
}

pub(super) fn cut(value: &Value, limits: Limits) -> Value {
    match value {
        Value::String(text) if limits.has_notes => beginning(text, limits.characters).into(),
        Value::String(text) => text.chars().take(limits.characters).collect::<String>().into(),
        Value::Array(_) | Value::Object(_) if limits.levels == 0 => LEFT_OUT.into(),
        Value::Array(items) => list(items, limits),
        Value::Object(map) => object(map, limits),
        plain => plain.clone(),
    }
}

/// The first characters of a text, with a note about the rest.
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
    if missing > 0 && limits.has_notes {
        kept.push(format!("[{} left out]", counted(missing, "more element", "more elements")).into());
    }
    kept.into()
}

fn object(map: &Map<String, Value>, limits: Limits) -> Value {
    let inner = within(limits);
    let name =
        |name: &str| if limits.has_notes { beginning(name, limits.characters) } else { name.to_owned() };
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
