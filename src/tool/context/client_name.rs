//! What a client says it is, for records and for people who decide on its calls. Never a source of identity.

use std::{fmt, sync::Arc};

use http::{HeaderMap, header::USER_AGENT};

use toolwire_base::words::{is_hidden, one_line};

/// Maximum length of a name, in bytes.
const MAX_BYTES: usize = 64;

/// Maximum number of bytes of what a client says that are looked at.
const MAX_READ: usize = 1_024;

/// The beginnings of products that are libraries or stand for every browser, and name no client.
const LIBRARIES: [&str; 3] = ["grpc-", "tonic/", "Mozilla/"];

/// A client's name and version as it states them, such as `acme-desk/2.1`: one line, without characters that a reader
/// does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientName(Arc<str>);

impl ClientName {
    /// The name in a text of a client; `None` if nothing of it can be shown.
    pub fn stated(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_READ)];
        let seen: String = one_line(text).chars().filter(|c| !is_hidden(*c)).collect();
        let name = seen[..seen.floor_char_boundary(MAX_BYTES)].trim();
        (!name.is_empty()).then(|| Self(name.into()))
    }

    /// The first product of a `User-Agent`, unless that is a library or stands for every browser.
    pub fn of_user_agent(headers: &HeaderMap) -> Option<Self> {
        let product = headers.get(USER_AGENT)?.to_str().ok()?.split_ascii_whitespace().next()?;
        let is_library = LIBRARIES.iter().any(|library| product.starts_with(library));
        (!is_library).then(|| Self::stated(product)).flatten()
    }

    /// The name as a product of a `User-Agent`: spaces are `-`, and what is no visible ASCII is left out.
    pub fn to_product(&self) -> String {
        let ascii = self.0.chars().map(|c| if c == ' ' { '-' } else { c });
        ascii.filter(char::is_ascii_graphic).collect()
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Option<String> {
        ClientName::stated(text).map(|it| it.to_string())
    }

    #[test]
    fn a_name_is_one_short_line_of_characters_that_are_seen() {
        for (text, name) in [
            ("acme-desk/2.1", "acme-desk/2.1"),
            ("  Acme\t Desk\r\n2 ", "Acme Desk 2"),
            ("Acm\u{202e}e\u{200b} D\u{1b}[31mesk\u{0}", "Acme D [31mesk"),
            ("Bücher 本", "Bücher 本"),
        ] {
            assert_eq!(stated(text).as_deref(), Some(name), "{text:?}");
        }
        for nothing in ["", " \n ", "\u{202e}\u{2066}", &"\u{200b}".repeat(5_000)] {
            assert_eq!(stated(nothing), None, "{nothing:?}");
        }
        assert_eq!(stated(&"ä".repeat(5_000)).unwrap().len(), MAX_BYTES);
    }

    #[test]
    fn the_product_of_a_user_agent_is_a_name_unless_it_is_a_library() {
        for (agent, name) in [
            ("acme-desk/2.1 grpc-python/1.60.0 grpc-c/38.0.0 (linux; chttp2)", Some("acme-desk/2.1")),
            ("acme/1 tonic/0.14.9", Some("acme/1")),
            ("curl/8.5.0", Some("curl/8.5.0")),
            ("grpc-python/1.60.0 grpc-c/38.0.0 (linux; chttp2)", None),
            ("tonic/0.14.9", None),
            ("Mozilla/5.0 (X11; Linux x86_64)", None),
            ("  ", None),
        ] {
            let headers = HeaderMap::from_iter([(USER_AGENT, agent.parse().unwrap())]);
            let found = ClientName::of_user_agent(&headers).map(|it| it.to_string());
            assert_eq!(found.as_deref(), name, "{agent}");
        }
        assert_eq!(ClientName::of_user_agent(&HeaderMap::new()), None);
        assert_eq!(ClientName::stated("Acme Büro 2").unwrap().to_product(), "Acme-Bro-2");
    }
}
