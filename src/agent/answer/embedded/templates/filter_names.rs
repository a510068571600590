//! The filters that a template names: the engine reports an unknown one only when it reaches it, which may be never in
//! tests.

use minijinja::{Environment, ErrorKind};

/// The filters of a template that there are not, each with its line.
pub(super) fn unknown_filters(environment: &Environment<'_>, template: &str) -> Vec<(usize, String)> {
    let mut named = filters(template);
    named.retain(|(_, name)| !exists(environment, name));
    named
}

fn exists(environment: &Environment<'_>, name: &str) -> bool {
    let tried = environment.compile_expression_owned(format!("none|{name}"));
    let tried = tried.and_then(|expression| expression.eval(()));
    tried.err().is_none_or(|error| error.kind() != ErrorKind::UnknownFilter)
}

/// What stands behind `|` between the signs of the engine, outside of texts in quotes.
fn filters(template: &str) -> Vec<(usize, String)> {
    let (mut found, mut line, mut rest) = (Vec::new(), 1, template);
    while let Some(start) = rest.find(['{', '\n']) {
        let (open, inner) = (&rest[start..], rest.get(start + 2..).unwrap_or_default());
        let end = match &open.as_bytes()[..open.len().min(2)] {
            b"{{" => inner.find("}}"),
            b"{%" => inner.find("%}"),
            b"{#" => inner.find("#}"),
            other => {
                line += usize::from(other[0] == b'\n');
                rest = &rest[start + 1..];
                continue;
            }
        };
        let inner = &inner[..end.unwrap_or(inner.len())];
        if !open.starts_with("{#") {
            in_tag(inner, line, &mut found);
        }
        line += inner.matches('\n').count();
        rest = &rest[start + 2 + inner.len()..];
    }
    found
}

fn in_tag(tag: &str, mut line: usize, found: &mut Vec<(usize, String)>) {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        line += usize::from(c == '\n');
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('|', None) => {
                let name = tag[at + 1..].trim_start();
                let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
                found.push((line, name[..end].to_owned()));
            }
            _ => {}
        }
    }
}
