//! Names of parameters in words: messages of errors have them in backticks, for models, and answers are for people.

/// The text with `stop price` in place of `` `stop_price` ``. Other code stays as it is.
pub(crate) fn in_plain_words(text: &str) -> String {
    let parts: Vec<_> = text.split('`').collect();
    let mut words = String::with_capacity(text.len());
    for (at, part) in parts.iter().enumerate() {
        // Every second part stands between two backticks, except the last, behind one without another.
        let is_code = at % 2 == 1 && at + 1 < parts.len();
        match (is_code, is_name(part)) {
            (true, true) => words.push_str(&part.replace('_', " ")),
            (true, false) => words.extend(["`", part, "`"]),
            (false, _) if at % 2 == 1 => words.extend(["`", part]),
            (false, _) => words.push_str(part),
        }
    }
    words
}

fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_named_in_words() {
        let text = "`stop_price` is 5, which is no `Date`; give `since` too";
        assert_eq!(in_plain_words(text), "stop price is 5, which is no `Date`; give since too");
        assert_eq!(in_plain_words("one ` alone"), "one ` alone");
    }
}
