//! Sealing: encrypts and authenticates what is stored, by the first of several keys; any of them opens it.

use std::fmt;

use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};

use toolwire_base::digest::Digest;

/// Keeps the keys of recordings apart from all other uses of the same text.
const PURPOSE: &[u8] = b"toolwire recordings 1";

/// The keys that seal and open.
pub(super) struct Keys {
    all: Vec<LessSafeKey>,
    random: SystemRandom,
}

impl Keys {
    /// The keys that are derived from these texts: the first seals, all open.
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let key = |text: &str| {
            let bytes = Digest::of_parts([PURPOSE, text.as_bytes()]);
            let key =
                UnboundKey::new(&CHACHA20_POLY1305, bytes.as_bytes()).expect("a digest is as long as a key");
            LessSafeKey::new(key)
        };
        Self { all: texts.into_iter().map(key).collect(), random: SystemRandom::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Seals data that is opened with the same `bound_to` alone: the nonce, then the sealed data. `None` without a key.
    pub(super) fn seal(&self, bound_to: &[u8], mut data: Vec<u8>) -> Option<Vec<u8>> {
        let key = self.all.first()?;
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).expect("the operating system has random numbers");
        let unique = Nonce::assume_unique_for_key(nonce);
        let sealed = key.seal_in_place_append_tag(unique, Aad::from(bound_to), &mut data);
        sealed.expect("data of a call is shorter than the algorithm allows");
        Some([nonce.as_slice(), &data].concat())
    }

    /// Opens sealed data; `None` if none of the keys sealed it for this.
    pub(super) fn open(&self, bound_to: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        self.all.iter().find_map(|key| {
            let mut data = sealed.to_vec();
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let length = key.open_in_place(nonce, Aad::from(bound_to), &mut data).ok()?.len();
            data.truncate(length);
            Some(data)
        })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("count", &self.all.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_its_key_for_what_it_is_bound_to() {
        let (old, new) = (Keys::new(["old"]), Keys::new(["new", "old"]));
        let sealed = old.seal(b"call 1", b"secret".to_vec()).unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        assert_eq!(new.open(b"call 1", &sealed).as_deref(), Some(b"secret".as_slice()));
        assert_eq!(new.open(b"call 2", &sealed), None);
        assert_eq!(Keys::new(["new"]).open(b"call 1", &sealed), None);
        let by_first = new.seal(b"call 1", b"secret".to_vec()).unwrap();
        assert_eq!(old.open(b"call 1", &by_first), None, "the first key seals");
        let mut changed = sealed.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert_eq!(old.open(b"call 1", &changed), None);
        for length in [0, 5, NONCE_LEN, sealed.len() - 1] {
            assert_eq!(old.open(b"call 1", &sealed[..length]), None);
        }
        assert_ne!(old.seal(b"call 1", b"secret".to_vec()), Some(sealed), "each has a nonce of its own");
        assert_eq!(Keys::new([]).seal(b"call 1", b"secret".to_vec()), None);
    }
}
