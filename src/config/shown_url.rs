//! A URL as it may be printed and logged: without what may be a secret in it.

use url::Url;

use super::value::HIDDEN;

/// A URL without its user, its password and its fragment, and with a query hidden.
pub fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    // Fails for URLs that can have neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_fragment(None);
    shown.set_query(None);
    if url.query().is_some() { format!("{shown}?{HIDDEN}") } else { shown.into() }
}

/// The beginning of a text that was meant as a URL, without what may be a secret in it.
pub fn shown_text(text: &str) -> String {
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
        for (text, shown) in [
            ("https://e.example/hook", "https://e.example/hook"),
            ("https://e.example/hook?token=s3cret#s3cret", "https://e.example/hook?[hidden]"),
            ("https://u:s3cret@e.example:1/", "https://e.example:1/"),
        ] {
            assert_eq!(shown_url(&text.parse().unwrap()), shown);
        }
        for text in ["e.example?key=s3cret", "https://u:s3cret@e.example", "https://e.example/#s3cret@x"] {
            assert!(!shown_text(text).contains("s3cret"), "{text}");
        }
    }
}
