//! Where a page goes on, as a token that fits the list it came from and no other.

use data_encoding::BASE64URL_NOPAD;

use crate::service::request;
use toolwire_base::digest::Digest;
use toolwire_contract::Refusal;
use toolwire_tool::context::TaskId;

/// So many bytes of a token tell which list it is of.
const BOUND: usize = 16;

/// Which list a token goes on with: of which tree, and of what.
pub(super) fn bound_to(root: &TaskId, what: &str) -> Digest {
    Digest::of_parts([root.as_str(), what])
}

/// The token that goes on after a place.
pub(super) fn token(place: &str, bound_to: &Digest) -> String {
    BASE64URL_NOPAD.encode(&[&bound_to.as_bytes()[..BOUND], place.as_bytes()].concat())
}

/// The place after which a token goes on; empty for the beginning.
pub(super) fn read(token: &str, bound_to: &Digest) -> Result<String, Refusal> {
    if token.is_empty() {
        return Ok(String::new());
    }
    let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).unwrap_or_default();
    let place = match bytes.split_at_checked(BOUND) {
        Some((bound, place)) if *bound == bound_to.as_bytes()[..BOUND] => {
            String::from_utf8(place.to_vec()).ok()
        }
        _ => None,
    };
    place.ok_or_else(|| {
        let what = "must be the next_page_token of your last page with these criteria";
        request::refuse("page_token", "foreign", what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_on_with_the_list_that_it_came_from_and_with_no_other() {
        let (one, other) = (TaskId::generate(), TaskId::generate());
        let bound = bound_to(&one, "all");
        assert_eq!(read(&token("a/ä.md", &bound), &bound).unwrap(), "a/ä.md");
        assert_eq!(read("", &bound).unwrap(), "");
        for foreign in [bound_to(&other, "all"), bound_to(&one, "some")] {
            assert!(read(&token("a", &foreign), &bound).is_err());
        }
        for bad in ["x", "AAAA", "not base64 at all!"] {
            assert!(read(bad, &bound).is_err(), "{bad}");
        }
    }
}
