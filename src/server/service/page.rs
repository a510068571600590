//! Pages of lists: how many entries, and where the next one begins. A token is good for its user and filter only.
//!
//! A place that is a number of the store's counts what others do as well: its token is sealed with a secret of the
//! state's, so that only this service reads it.

use data_encoding::BASE64URL_NOPAD;

use super::request::refuse;
use toolwire_base::digest::Digest;
use toolwire_contract::Refusal;
use toolwire_tool::context::User;

/// So many bytes of a digest tell whose list of what a token goes on with, and that nobody has changed it.
const MARK: usize = 16;

/// How many entries a page may have, and has if its caller does not say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) usual: u32,
    pub(super) most: u32,
}

impl Sizes {
    pub(super) fn of(self, asked: i32) -> Result<usize, Refusal> {
        let Self { usual, most } = self;
        match u32::try_from(asked) {
            Ok(0) => Ok(usual as usize),
            Ok(size) if size <= most => Ok(size as usize),
            _ => Err(refuse("page_size", "range", &format!("must be from 1 to {most}, or 0 for {usual}"))),
        }
    }
}

/// Whose list a token goes on with, and of what.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundTo(Digest);

impl BoundTo {
    /// `list` names the list, so that no token of another is taken for one of it.
    pub(super) fn new(list: &str, user: &User, filter: &impl std::fmt::Debug) -> Self {
        Self(Digest::of_parts([list.to_owned(), user.id.as_str().to_owned(), format!("{filter:?}")]))
    }

    /// The same with a secret, without which no token can be read or made.
    #[must_use]
    pub(super) fn sealed(self, secret: &Digest) -> Self {
        Self(Digest::of_parts([secret.as_bytes(), self.0.as_bytes()]))
    }

    pub(super) fn token<const N: usize>(&self, place: [u8; N]) -> String {
        let mark = self.mark(&place);
        BASE64URL_NOPAD.encode(&[&self.masked(place, &mark)[..], &mark].concat())
    }

    /// The place of a token; none if the text is empty.
    pub(super) fn place<const N: usize>(&self, token: &str) -> Result<Option<[u8; N]>, Refusal> {
        if token.is_empty() {
            return Ok(None);
        }
        let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).unwrap_or_default();
        let place = bytes.split_first_chunk::<N>().map(|(masked, mark)| (self.masked(*masked, mark), mark));
        match place {
            Some((place, mark)) if mark == self.mark(&place) => Ok(Some(place)),
            _ => {
                let what = "must be the next_page_token of your last page with this filter";
                Err(refuse("page_token", "foreign", what))
            }
        }
    }

    /// Tells a place of this list from any other text.
    fn mark(&self, place: &[u8]) -> [u8; MARK] {
        let digest = Digest::of_parts([self.0.as_bytes().as_slice(), b"mark", place]);
        std::array::from_fn(|index| digest.as_bytes()[index])
    }

    /// A place hidden by its mark, or shown again by it. It has no more bytes than a digest.
    fn masked<const N: usize>(&self, place: [u8; N], mark: &[u8]) -> [u8; N] {
        let stream = Digest::of_parts([self.0.as_bytes().as_slice(), b"mask", mark]);
        std::array::from_fn(|index| place[index] ^ stream.as_bytes()[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_on_with_the_list_that_it_came_from_and_with_no_other() {
        let user = |name: &str| User::new(name.parse().expect("valid"));
        let bound = BoundTo::new("calls", &user("riley"), &1);
        let token = bound.token(7_u64.to_be_bytes());
        assert_eq!(bound.place(&token).expect("ours"), Some(7_u64.to_be_bytes()));
        for other in [
            BoundTo::new("calls", &user("demo"), &1),
            BoundTo::new("calls", &user("riley"), &2),
            BoundTo::new("audit", &user("riley"), &1),
        ] {
            assert!(other.place::<8>(&token).is_err());
        }
        assert!(bound.place::<16>(&token).is_err());
        for bad in ["x", "AAAA", "not base64 at all!"] {
            assert!(bound.place::<8>(bad).is_err(), "{bad}");
        }
        assert_eq!(bound.place::<8>("").expect("none"), None);
    }

    #[test]
    fn a_sealed_token_shows_no_place_and_is_read_with_its_secret_only() {
        let bound = BoundTo::new("tasks", &User::new("riley".parse().expect("valid")), &1);
        let sealed = |secret: &[u8]| bound.sealed(&Digest::of_bytes(secret));
        let token = sealed(b"ours").token(7_u64.to_be_bytes());
        assert_eq!(sealed(b"ours").place(&token).expect("ours"), Some(7_u64.to_be_bytes()));
        assert!(sealed(b"theirs").place::<8>(&token).is_err() && bound.place::<8>(&token).is_err());
        let next = sealed(b"ours").token(8_u64.to_be_bytes());
        let same = token.bytes().zip(next.bytes()).filter(|(one, other)| one == other).count();
        assert!(same < token.len() / 2, "{token} {next}");
    }

    #[test]
    fn a_page_is_of_a_size_in_bounds() {
        let sizes = Sizes { usual: 100, most: 1_000 };
        assert_eq!(
            [sizes.of(0), sizes.of(1), sizes.of(1_000)].map(Result::ok),
            [Some(100), Some(1), Some(1_000)]
        );
        assert!(sizes.of(-1).is_err() && sizes.of(1_001).is_err());
    }
}
