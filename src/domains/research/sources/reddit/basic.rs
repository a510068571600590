//! Basic authentication (RFC 7617): the header of a user name and a password.

use data_encoding::BASE64;
use http::HeaderValue;

/// The header, marked so that it is never shown.
pub(super) fn header(name: &str, password: &str) -> HeaderValue {
    let encoded = BASE64.encode(format!("{name}:{password}").as_bytes());
    let mut header = HeaderValue::from_str(&format!("Basic {encoded}")).expect("base64 is visible ASCII");
    header.set_sensitive(true);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_never_shown() {
        let header = header("Aladdin", "open sesame");
        assert_eq!(header.as_bytes(), b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(format!("{header:?}"), "Sensitive");
    }
}
