//! Injects a text behind one of the texts of a document.

use serde_json::Value;

/// The injected text, and the number of the text of the document that it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Injection {
    pub(super) what: &'static str,
    pub(super) at: usize,
}

impl Injection {
    /// The document with it.
    pub(super) fn within(self, good: &str) -> String {
        let mut left = self.at;
        texts(good, &mut |text| {
            let is_here = left == 0;
            left = left.wrapping_sub(1);
            is_here.then(|| format!("{text}{}", self.what))
        })
    }
}

/// How many texts a document has.
pub(super) fn count(good: &str) -> usize {
    let mut count = 0;
    texts(good, &mut |_| {
        count += 1;
        None
    });
    count
}

/// A document with its texts as a function gives them; `None` leaves one as it is.
fn texts(good: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> String {
    match serde_json::from_str(good) {
        Ok(mut value) => {
            strings(&mut value, change);
            value.to_string()
        }
        Err(_) if good.contains('<') => markup(good, change),
        Err(_) => change(good).unwrap_or_else(|| good.to_owned()),
    }
}

fn strings(value: &mut Value, change: &mut dyn FnMut(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strings(value, change)),
        Value::Object(members) => members.values_mut().for_each(|value| strings(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// XML and HTML: what stands between two tags, and the values of attributes.
fn markup(good: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let parts = good.split_inclusive(['<', '>', '"']).map(|part| {
        let text = part.trim_end_matches(['<', '>', '"']);
        let is_text = part.ends_with('<') || part.ends_with('"') && !text.ends_with('=');
        let changed = if is_text && !text.trim().is_empty() { change(text) } else { None };
        let escaped = |new: &str| new.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        changed.map_or_else(
            || part.to_owned(),
            // What stood there is escaped already.
            |new| format!("{text}{}{}", escaped(&new[text.len()..]), &part[text.len()..]),
        )
    });
    parts.collect()
}
