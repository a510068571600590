//! Redacts a text that was meant as a URL.

use super::value::HIDDEN;

/// The beginning of a text that was meant as a URL, without what may be a secret in it.
pub fn redact_url(text: &str) -> String {
    if text.contains('@') {
        return HIDDEN.to_owned();
    }
    text.split(['?', '#']).next().unwrap_or_default().chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        for text in ["e.example?key=s3cret", "https://u:s3cret@e.example", "https://e.example/#s3cret@x"] {
            assert!(!redact_url(text).contains("s3cret"), "{text}");
        }
    }
}
