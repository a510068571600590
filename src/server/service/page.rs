//! Pagination: page sizes and page tokens.

use std::fmt::Debug;

use data_encoding::BASE64URL_NOPAD;

use super::{request::refuse, unavailable::unavailable};
use toolwire_base::digest::Digest;
use toolwire_contract::Refusal;
use toolwire_state::Store;
use toolwire_tool::context::UserId;

/// Number of bytes of the digest that binds a token to its user and list, and shows any tampering.
const MARK: usize = 16;

/// The size of a page: the default, and the maximum.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub default: u32,
    pub max: u32,
}

impl Sizes {
    /// The size of a page, if its caller requests this one; 0 stands for the default.
    pub fn of(self, requested: i32) -> Result<u32, Refusal> {
        let Self { default, max } = self;
        match u32::try_from(requested) {
            Ok(0) => Ok(default),
            Ok(size) if size <= max => Ok(size),
            _ => Err(refuse("page_size", "range", &format!("must be from 1 to {max}, or 0 for {default}"))),
        }
    }
}

/// A list that has pages, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List(pub &'static str);

impl List {
    pub const AUDIT: Self = Self("Audit");
    pub const CALLS: Self = Self("Calls");
    pub const CONFIRMATIONS: Self = Self("Confirmations");
    pub const DOCUMENTS: Self = Self("Documents");
    pub const QUOTAS: Self = Self("Quotas");
    pub const REFUSALS: Self = Self("Refusals");
    pub const TASKS: Self = Self("Tasks");
    pub const VERSIONS: Self = Self("Versions");
    /// No list but a watch, whose positions are sealed in the same way.
    pub const WATCHED_CALLS: Self = Self("WatchedCalls");
}

/// Makes and reads the page tokens of one list, for one user and one filter. No other list accepts them.
///
/// A token is a position in the list, sealed with a secret of the state. It is encrypted too: a position that the store
/// counts over all users would reveal the activity of others.
#[derive(Clone, Copy, Debug)]
pub struct PageToken {
    list: List,
    key: Digest,
}

impl PageToken {
    /// `filter` is everything on which the entries of the list depend, except the user.
    pub async fn of(
        store: &Store,
        list: List,
        user: &UserId,
        filter: &(impl Debug + Sync),
    ) -> Result<Self, Refusal> {
        // The filter is bound by its `Debug` text: a renamed field invalidates the tokens that callers hold.
        let secret = store.page_secret().await.map_err(|error| unavailable(&error))?;
        Ok(Self::new(&secret, list, user, filter))
    }

    fn new(secret: &Digest, list: List, user: &UserId, filter: &impl Debug) -> Self {
        let (List(name), filter) = (list, format!("{filter:?}"));
        let bound_to: [&[u8]; _] =
            [secret.as_bytes(), name.as_bytes(), user.as_str().as_bytes(), filter.as_bytes()];
        Self { list, key: Digest::of_parts(bound_to) }
    }

    /// The token of a position.
    pub fn encode(&self, position: impl AsRef<[u8]>) -> String {
        let position = position.as_ref();
        let mark = self.mark(position);
        BASE64URL_NOPAD.encode(&[self.mask(position, &mark).as_slice(), &mark].concat())
    }

    /// The position of a token; `None` if the text is empty.
    pub fn decode<P: TryFrom<Vec<u8>>>(&self, text: &str) -> Result<Option<P>, Refusal> {
        if text.is_empty() {
            return Ok(None);
        }
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).unwrap_or_default();
        let position = bytes.split_last_chunk::<MARK>().and_then(|(masked, mark)| {
            let position = self.mask(masked, mark);
            if self.mark(&position) == *mark { P::try_from(position).ok() } else { None }
        });
        position.map(Some).ok_or_else(|| {
            let what = match self.list {
                List::DOCUMENTS | List::VERSIONS => "these criteria",
                _ => "this filter",
            };
            let what = format!("must be the next_page_token of your last page with {what}");
            refuse("page_token", "foreign", &what)
        })
    }

    /// The authentication tag of a position, which also serves as the nonce of its mask.
    fn mark(&self, position: &[u8]) -> [u8; MARK] {
        let digest = self.digest(&[b"mark", position]);
        std::array::from_fn(|index| digest.as_bytes()[index])
    }

    /// Encrypts a position, or decrypts it again: the same operation in both directions.
    fn mask(&self, position: &[u8], mark: &[u8]) -> Vec<u8> {
        let stream =
            (0_u64..).flat_map(|block| *self.digest(&[b"mask", mark, &block.to_be_bytes()]).as_bytes());
        position.iter().zip(stream).map(|(byte, mask)| byte ^ mask).collect()
    }

    fn digest(&self, parts: &[&[u8]]) -> Digest {
        Digest::of_parts([&[self.key.as_bytes().as_slice()], parts].concat())
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;

    const LISTS: [List; 8] = [
        List::AUDIT,
        List::CALLS,
        List::CONFIRMATIONS,
        List::DOCUMENTS,
        List::QUOTAS,
        List::REFUSALS,
        List::TASKS,
        List::VERSIONS,
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
            position: String,
        ) {
            let text = token(one).encode(&position);
            let found = token(other).decode::<String>(&text);
            prop_assert_eq!(found.ok(), (one == other).then_some(Some(position)));
        }

        #[test]
        fn what_was_changed_and_what_is_none_is_refused(position: [u8; 8], at in 0..24_usize, other in 1..=255_u8) {
            let ours = token(("ours", List::CALLS, "riley", ""));
            let text = ours.encode(position);
            prop_assert_eq!(ours.decode(&text).ok(), Some(Some(position)));
            let mut bytes = BASE64URL_NOPAD.decode(text.as_bytes()).expect("ours");
            bytes[at] ^= other;
            prop_assert!(ours.decode::<[u8; 8]>(&BASE64URL_NOPAD.encode(&bytes)).is_err());
            prop_assert!(ours.decode::<[u8; 9]>(&text).is_err());
        }
    }

    #[test]
    fn any_other_text_is_refused_and_none_is_the_beginning() {
        let ours = token(("ours", List::CALLS, "riley", ""));
        for bad in ["x", "AAAA", "not base64 at all!"] {
            assert!(ours.decode::<String>(bad).is_err(), "{bad}");
        }
        assert_eq!(ours.decode::<String>("").expect("none"), None);
    }

    #[test]
    fn a_token_shows_no_place() {
        let ours = token(("ours", List::TASKS, "riley", ""));
        let [one, next] = [7_u64, 8].map(|position| ours.encode(position.to_be_bytes()));
        let same = one.bytes().zip(next.bytes()).filter(|(one, other)| one == other).count();
        assert!(same < one.len() / 2, "{one} {next}");
    }

    #[test]
    fn a_page_is_of_a_size_in_bounds() {
        let sizes = Sizes { default: 100, max: 1_000 };
        assert_eq!([0, 1, 1_000].map(|asked| sizes.of(asked).ok()), [Some(100), Some(1), Some(1_000)]);
        assert!(sizes.of(-1).is_err() && sizes.of(1_001).is_err());
    }
}
