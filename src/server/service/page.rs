//! Pagination: page sizes and page tokens.

use std::fmt::Debug;

use data_encoding::BASE64URL_NOPAD;

use super::{request::refuse, unavailable::unavailable};
use toolwire_base::digest::Digest;
use toolwire_contract::Refusal;
use toolwire_store::Store;
use toolwire_tool::context::UserId;

/// Number of bytes of the digest that binds a token to its user and list, and shows any tampering.
const MARK: usize = 16;

/// How many entries a page may have, and has if its caller does not say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) usual: u32,
    pub(super) most: u32,
}

impl Sizes {
    pub(super) fn of(self, asked: i32) -> Result<u32, Refusal> {
        let Self { usual, most } = self;
        match u32::try_from(asked) {
            Ok(0) => Ok(usual),
            Ok(size) if size <= most => Ok(size),
            _ => Err(refuse("page_size", "range", &format!("must be from 1 to {most}, or 0 for {usual}"))),
        }
    }
}

/// The lists that have pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Audit,
    Calls,
    Confirmations,
    Documents,
    Jobs,
    Tasks,
    Versions,
}

/// The tokens of one list, of one user and one filter: no other list takes them.
///
/// A token is a place in the list, sealed with a secret of the state's. A place that is a number of the store's counts
/// what others do as well, so only this service and the others over the same state read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageToken {
    list: List,
    key: Digest,
}

impl PageToken {
    /// `filter` is everything that the entries of the list depend on, apart from the user.
    pub(super) async fn of(
        store: &Store,
        list: List,
        user: &UserId,
        filter: &(impl Debug + Sync),
    ) -> Result<Self, Refusal> {
        let secret = store.page_secret().await.map_err(|error| unavailable(&error))?;
        Ok(Self::new(&secret, list, user, filter))
    }

    fn new(secret: &Digest, list: List, user: &UserId, filter: &impl Debug) -> Self {
        let (name, filter) = (format!("{list:?}"), format!("{filter:?}"));
        let bound_to: [&[u8]; _] =
            [secret.as_bytes(), name.as_bytes(), user.as_str().as_bytes(), filter.as_bytes()];
        Self { list, key: Digest::of_parts(bound_to) }
    }

    /// The token of a place.
    pub(super) fn text(&self, place: impl AsRef<[u8]>) -> String {
        let place = place.as_ref();
        let mark = self.mark(place);
        BASE64URL_NOPAD.encode(&[self.mask(place, &mark).as_slice(), &mark].concat())
    }

    /// The place of a token; none if the text is empty.
    pub(super) fn place<P: TryFrom<Vec<u8>>>(&self, text: &str) -> Result<Option<P>, Refusal> {
        if text.is_empty() {
            return Ok(None);
        }
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).unwrap_or_default();
        let place = bytes.split_last_chunk::<MARK>().and_then(|(masked, mark)| {
            let place = self.mask(masked, mark);
            if self.mark(&place) == *mark { P::try_from(place).ok() } else { None }
        });
        place.map(Some).ok_or_else(|| {
            let what = match self.list {
                List::Documents | List::Versions => "these criteria",
                _ => "this filter",
            };
            let what = format!("must be the next_page_token of your last page with {what}");
            refuse("page_token", "foreign", &what)
        })
    }

    /// Tells a place of this list from any other text.
    fn mark(&self, place: &[u8]) -> [u8; MARK] {
        let digest = self.digest(&[b"mark", place]);
        std::array::from_fn(|index| digest.as_bytes()[index])
    }

    /// A place hidden by its mark, or shown again by it.
    fn mask(&self, place: &[u8], mark: &[u8]) -> Vec<u8> {
        let stream =
            (0_u64..).flat_map(|block| *self.digest(&[b"mask", mark, &block.to_be_bytes()]).as_bytes());
        place.iter().zip(stream).map(|(byte, mask)| byte ^ mask).collect()
    }

    fn digest(&self, parts: &[&[u8]]) -> Digest {
        Digest::of_parts([&[self.key.as_bytes().as_slice()], parts].concat())
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;

    const LISTS: [List; 7] = [
        List::Audit,
        List::Calls,
        List::Confirmations,
        List::Documents,
        List::Jobs,
        List::Tasks,
        List::Versions,
    ];

    /// What a token is bound to: a secret, a list, a user and a filter. Few of each, so that most are alike in part.
    fn bound() -> impl Strategy<Value = (&'static str, List, &'static str, &'static str)> {
        (select(&["ours", "theirs"]), select(&LISTS), select(&["riley", "demo"]), select(&["", "a", "ab"]))
    }

    fn token((secret, list, user, filter): (&str, List, &str, &str)) -> PageToken {
        let user = user.parse().expect("valid");
        PageToken::new(&Digest::of_bytes(secret.as_bytes()), list, &user, &filter)
    }

    proptest! {
        #[test]
        fn a_token_goes_on_with_the_list_that_it_came_from_and_with_no_other(
            one in bound(),
            other in bound(),
            place: String,
        ) {
            let text = token(one).text(&place);
            let found = token(other).place::<String>(&text);
            prop_assert_eq!(found.ok(), (one == other).then_some(Some(place)));
        }

        #[test]
        fn what_was_changed_and_what_is_none_is_refused(place: [u8; 8], at in 0..24_usize, other in 1..=255_u8) {
            let ours = token(("ours", List::Calls, "riley", ""));
            let text = ours.text(place);
            prop_assert_eq!(ours.place(&text).ok(), Some(Some(place)));
            let mut bytes = BASE64URL_NOPAD.decode(text.as_bytes()).expect("ours");
            bytes[at] ^= other;
            prop_assert!(ours.place::<[u8; 8]>(&BASE64URL_NOPAD.encode(&bytes)).is_err());
            prop_assert!(ours.place::<[u8; 9]>(&text).is_err());
        }
    }

    #[test]
    fn any_other_text_is_refused_and_none_is_the_beginning() {
        let ours = token(("ours", List::Calls, "riley", ""));
        for bad in ["x", "AAAA", "not base64 at all!"] {
            assert!(ours.place::<String>(bad).is_err(), "{bad}");
        }
        assert_eq!(ours.place::<String>("").expect("none"), None);
    }

    #[test]
    fn a_token_shows_no_place() {
        let ours = token(("ours", List::Tasks, "riley", ""));
        let [one, next] = [7_u64, 8].map(|place| ours.text(place.to_be_bytes()));
        let same = one.bytes().zip(next.bytes()).filter(|(one, other)| one == other).count();
        assert!(same < one.len() / 2, "{one} {next}");
    }

    #[test]
    fn a_page_is_of_a_size_in_bounds() {
        let sizes = Sizes { usual: 100, most: 1_000 };
        assert_eq!([0, 1, 1_000].map(|asked| sizes.of(asked).ok()), [Some(100), Some(1), Some(1_000)]);
        assert!(sizes.of(-1).is_err() && sizes.of(1_001).is_err());
    }
}
