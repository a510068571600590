//! JSON Pointers (RFC 6901) into a JSON text: the slice of the text that a value is.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use toolwire_base::words::counted;
use toolwire_contract::ToolError;
use toolwire_tool::argument::reject;

/// Maximum number of members that an error names.
const MAX_NAMED: usize = 20;

/// What a value contains, each as its slice of the text.
pub(super) enum Children<'a> {
    Members(BTreeMap<String, &'a RawValue>),
    Elements(Vec<&'a RawValue>),
    /// It is a text, a number, a truth value, or null.
    None,
}

/// The value that a pointer names.
pub(super) fn resolve<'a>(whole: &'a str, pointer: &str) -> Result<&'a str, ToolError> {
    let (mut value, mut resolved) = (whole, 0);
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let text =
            format!("`pointer` is {pointer:?}, but must be empty or begin with a slash, such as /rows/0");
        return Err(reject("pointer", "format", text));
    }
    for name in pointer.split('/').skip(1) {
        let children = Children::of(value);
        let Some(child) = children.get(&name.replace("~1", "/").replace("~0", "~")) else {
            return Err(unresolved(pointer, &pointer[..resolved], &children));
        };
        value = child;
        resolved += 1 + name.len();
    }
    Ok(value)
}

/// A pointer to a child of what another one names.
pub(super) fn join(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl<'a> Children<'a> {
    pub(super) fn of(value: &'a str) -> Self {
        let read = match value.trim_start().as_bytes().first() {
            Some(b'{') => serde_json::from_str(value).map(Self::Members),
            Some(b'[') => serde_json::from_str(value).map(Self::Elements),
            _ => Ok(Self::None),
        };
        read.unwrap_or(Self::None)
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        match self {
            Self::Members(members) => members.get(name).map(|value| value.get()),
            // Of `01` and `+1` the standard makes no index.
            Self::Elements(elements) if is_index(name) => {
                elements.get(name.parse::<usize>().ok()?).map(|value| value.get())
            }
            Self::Elements(_) | Self::None => None,
        }
    }
}

fn is_index(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'))
}

/// Names the longest beginning of a pointer that resolves, and what is there.
fn unresolved(pointer: &str, prefix: &str, children: &Children<'_>) -> ToolError {
    let at = if prefix.is_empty() { "The result".to_owned() } else { prefix.to_owned() };
    let there = match children {
        Children::Members(members) if members.is_empty() => format!("{at} is an object without members"),
        Children::Members(members) => {
            let named: Vec<_> = members.keys().take(MAX_NAMED).map(String::as_str).collect();
            let more = members.len() - named.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{at} has the members {}{more}", named.join(", "))
        }
        Children::Elements(elements) if elements.is_empty() => format!("{at} is a list without elements"),
        Children::Elements(elements) => {
            let many = counted(elements.len(), "element", "elements");
            format!("{at} is a list of {many}, 0 to {}", elements.len() - 1)
        }
        Children::None => format!("{at} is a plain value"),
    };
    ToolError::not_found(format!("Nothing is at the pointer {pointer:?}. {there}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"rows": [{"a/b": 1.0, "m~n": "é"}, []], "empty": {}, "": 7, "z\"": null}"#;

    #[test]
    fn a_pointer_names_the_slice_of_the_text() {
        for (pointer, value) in [
            ("", TEXT),
            ("/rows/0/a~1b", "1.0"),
            ("/rows/0/m~0n", "\"é\""),
            ("/rows/1", "[]"),
            ("/", "7"),
            ("/z\"", "null"),
        ] {
            assert_eq!(resolve(TEXT, pointer).unwrap(), value, "{pointer}");
        }
        assert_eq!(join("/rows/0", "a/m~n"), "/rows/0/a~1m~0n");
    }

    #[test]
    fn a_pointer_to_nothing_says_how_far_it_leads_and_what_is_there() {
        for (pointer, there) in [
            ("/row", "The result has the members , empty, rows, z\""),
            ("/rows/2", "/rows is a list of 2 elements, 0 to 1"),
            ("/rows/-", "/rows is a list of 2 elements, 0 to 1"),
            ("/rows/00", "/rows is a list of 2 elements, 0 to 1"),
            ("/rows/+0", "/rows is a list of 2 elements, 0 to 1"),
            ("/rows/0/x/y", "/rows/0 has the members a/b, m~n"),
            ("/rows/0/m~0n/0", "/rows/0/m~0n is a plain value"),
            ("/rows/1/0", "/rows/1 is a list without elements"),
            ("/empty/x", "/empty is an object without members"),
        ] {
            let message = resolve(TEXT, pointer).unwrap_err().message;
            assert!(
                message.starts_with(&format!("Nothing is at the pointer {pointer:?}. {there}")),
                "{message}"
            );
        }
        assert!(resolve(TEXT, "rows").unwrap_err().message.contains("begin with a slash"));
        let many = (0..30).map(|n| (format!("k{n:02}"), n)).collect::<serde_json::Value>().to_string();
        assert!(resolve(&many, "/x").unwrap_err().message.ends_with("k19 and 10 more"));
    }
}
