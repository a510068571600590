//! The base of a source's addresses: what its connector appends paths to.

use url::Url;

use toolwire_config::redact_url;
use toolwire_outgoing::names_link_local_or_metadata;

/// Reads a base. It gets the slash at its end that appending needs.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    let expected = |what: &str| {
        format!("expected {what} such as https://www.example.com/, but found {:?}", redact_url(text))
    };
    let mut url = Url::parse(text).map_err(|_| expected("an address"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(expected("an http or https address"));
    }
    // Credentials would show wherever the address does.
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address must not hold credentials; take them out".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(expected("an address without ? and #"));
    }
    if names_link_local_or_metadata(&url) {
        return Err("an address must not be link-local or that of a metadata service".to_owned());
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_ends_in_a_slash() {
        for (text, base) in [
            ("https://example.com", "https://example.com/"),
            ("http://127.0.0.1:8080/forum", "http://127.0.0.1:8080/forum/"),
            ("https://example.com/a/", "https://example.com/a/"),
        ] {
            assert_eq!(parse(text).unwrap().as_str(), base);
        }
    }

    #[test]
    fn anything_else_is_refused_without_showing_a_secret() {
        for bad in [
            "",
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://u:pass@example.com",
            "https://e.com/?q=pass",
            "https://e.com/#pass",
            "ftp://u:pass@example.com",
            "ftp://example.com/?pass@",
            "http://169.254.169.254/",
            "http://[::ffff:169.254.169.254]/",
        ] {
            let error = parse(bad).unwrap_err();
            assert!(!error.contains("pass\"") && !error.contains("pass@"), "{error}");
        }
    }
}
