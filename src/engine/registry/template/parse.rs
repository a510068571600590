//! Parses a template.

use std::str::FromStr;

use super::{Form, Path, Piece, Template, TemplateError};

/// Maximum number of decimals.
const MAX_DECIMALS: usize = 9;

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(mut text: &str) -> Result<Self, TemplateError> {
        let (mut pieces, mut words) = (Vec::new(), String::new());
        while let Some(index) = text.find(['{', '}']) {
            words.push_str(&text[..index]);
            text = &text[index..];
            if let Some(rest) = text.strip_prefix("{{") {
                words.push('{');
                text = rest;
            } else if let Some(rest) = text.strip_prefix("}}") {
                words.push('}');
                text = rest;
            } else {
                let (placeholder, rest) = placeholder(text)?;
                if !words.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut words)));
                }
                pieces.push(placeholder);
                text = rest;
            }
        }
        words.push_str(text);
        if !words.is_empty() {
            pieces.push(Piece::Text(words));
        }
        Ok(Self(pieces))
    }
}

/// Parses the placeholder at the beginning of a text. Returns it and the rest.
fn placeholder(text: &str) -> Result<(Piece, &str), TemplateError> {
    let inside = text.strip_prefix('{').ok_or(TemplateError::LoneBrace('}'))?;
    let end = inside.find(['{', '}']).filter(|end| inside[*end..].starts_with('}'));
    let end = end.ok_or(TemplateError::LoneBrace('{'))?;
    let (inside, rest) = (&inside[..end], &inside[end + 1..]);
    let (path, form) = match inside.find([':', '?', '|']) {
        None => (inside, Form::Plain),
        Some(index) if inside[index..].starts_with(':') => (&inside[..index], number(&inside[index + 1..])?),
        Some(index) if inside[index..].starts_with('|') => (&inside[..index], counted(&inside[index + 1..])?),
        Some(index) => (&inside[..index], choice(&inside[index + 1..])?),
    };
    Ok((Piece::Placeholder { path: path.parse()?, form }, rest))
}

fn number(format: &str) -> Result<Form, TemplateError> {
    let bad = || TemplateError::BadFormat(format.to_owned());
    let (signed, decimals) = match format.strip_prefix('+') {
        Some(rest) => (true, rest),
        None => (false, format),
    };
    let decimals = decimals.strip_prefix('.').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    let decimals = decimals.and_then(|digits| digits.parse().ok()).filter(|it| *it <= MAX_DECIMALS);
    Ok(Form::Number { signed, decimals: decimals.ok_or_else(bad)? })
}

fn counted(words: &str) -> Result<Form, TemplateError> {
    let (one, many) = words.split_once('|').ok_or_else(|| TemplateError::BadNoun(words.to_owned()))?;
    Ok(Form::Counted { one: one.to_owned(), many: many.to_owned() })
}

fn choice(words: &str) -> Result<Form, TemplateError> {
    let (yes, no) = words.split_once(':').ok_or_else(|| TemplateError::BadChoice(words.to_owned()))?;
    Ok(Form::Choice { yes: yes.to_owned(), no: no.to_owned() })
}

impl FromStr for Path {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let names: Vec<_> = text.split('.').map(str::to_owned).collect();
        if names.iter().all(|name| is_name(name)) {
            return Ok(Self(names));
        }
        Err(TemplateError::BadPath(text.to_owned()))
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text that is parsed to the given template.
    fn written(template: &Template) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(words) => escaped(words),
            Piece::Placeholder { path, form } => match form {
                Form::Plain => format!("{{{}}}", path.text()),
                Form::Number { signed, decimals } => {
                    format!("{{{}:{}.{decimals}}}", path.text(), if *signed { "+" } else { "" })
                }
                Form::Counted { one, many } => format!("{{{}|{one}|{many}}}", path.text()),
                Form::Choice { yes, no } => format!("{{{}?{yes}:{no}}}", path.text()),
            },
        };
        template.0.iter().map(piece).collect()
    }

    fn escaped(words: &str) -> String {
        words.replace('{', "{{").replace('}', "}}")
    }

    fn forms() -> impl Strategy<Value = Form> {
        prop_oneof![
            Just(Form::Plain),
            (any::<bool>(), 0..=MAX_DECIMALS)
                .prop_map(|(signed, decimals)| Form::Number { signed, decimals }),
            ("[^{}|]*", "[^{}]*").prop_map(|(one, many)| Form::Counted { one, many }),
            ("[^{}:]*", "[^{}]*").prop_map(|(yes, no)| Form::Choice { yes, no }),
        ]
    }

    fn templates() -> impl Strategy<Value = Template> {
        let paths = prop::collection::vec("[a-z][a-z0-9_]{0,8}", 1..4).prop_map(Path);
        let places = (paths, forms()).prop_map(|(path, form)| Piece::Placeholder { path, form });
        // Words alternate with places: two texts in a row would be read as one.
        let parts = prop::collection::vec((prop::option::of("[^\\x00]{1,8}"), places), 0..6);
        (parts, prop::option::of(".{1,8}")).prop_map(|(parts, last)| {
            let parts = parts.into_iter().flat_map(|(words, place)| [words.map(Piece::Text), Some(place)]);
            Template(parts.chain([last.map(Piece::Text)]).flatten().collect())
        })
    }

    proptest! {
        #[test]
        fn a_template_is_read_as_it_was_written(template in templates()) {
            prop_assert_eq!(written(&template).parse::<Template>(), Ok(template));
        }

        #[test]
        fn words_without_places_stay_as_they_are(words in ".*") {
            let template: Template = escaped(&words).parse().expect("no place in it");
            prop_assert_eq!(template.render(&serde_json::Value::Null), words);
        }

        #[test]
        fn no_text_is_too_much_for_the_parser(text in "[{}:?|.+a0 é]{0,24}") {
            if let Ok(template) = text.parse::<Template>() {
                let _ = template.render(&serde_json::json!({"a": {"a0": 1.5}}));
            }
        }
    }

    #[test]
    fn what_is_no_template_says_why() {
        for (text, expected) in [
            ("{a", TemplateError::LoneBrace('{')),
            ("a {b {c}", TemplateError::LoneBrace('{')),
            ("a}", TemplateError::LoneBrace('}')),
            ("{}", TemplateError::BadPath(String::new())),
            ("{A}", TemplateError::BadPath("A".to_owned())),
            ("{a..b}", TemplateError::BadPath("a..b".to_owned())),
            ("{a:}", TemplateError::BadFormat(String::new())),
            ("{a:+}", TemplateError::BadFormat("+".to_owned())),
            ("{a:.10}", TemplateError::BadFormat(".10".to_owned())),
            ("{a:.+1}", TemplateError::BadFormat(".+1".to_owned())),
            ("{a?b}", TemplateError::BadChoice("b".to_owned())),
            ("{a|b}", TemplateError::BadNoun("b".to_owned())),
        ] {
            assert_eq!(text.parse::<Template>(), Err(expected), "{text}");
        }
    }
}
