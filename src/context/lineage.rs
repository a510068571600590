//! The descent of a call, so that a repeat of the outermost one makes the same nested calls, and they are recognised.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sha2::{Digest, Sha256};

use super::RequestId;
use crate::contract::{arguments::Arguments, json};

/// Begins what is hashed for a nested call: no other hash of the service has the same input.
const DOMAIN: &[u8] = b"toolwire nested call 1";

/// Names a call and, by it, the calls it makes. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Lineage {
    request_id: RequestId,
    /// How often each tool was called with the same arguments. Others at the same time do not disturb the count.
    made: Arc<Mutex<HashMap<[u8; 32], u64>>>,
}

impl Lineage {
    /// The lineage of a call with this identifier, its own or one that stands for it.
    pub fn of(request_id: RequestId) -> Self {
        Self { request_id, made: Arc::default() }
    }

    /// Recognises a repeat of the call where it has no identifier of its own.
    pub fn request_id(&self) -> RequestId {
        self.request_id
    }

    /// The lineage of the next nested call of a tool with such arguments.
    pub fn nested(&self, tool: &str, arguments: &Arguments) -> Self {
        let canonical = json::canonical(arguments);
        let mut digest = Sha256::new();
        digest.update(DOMAIN);
        digest.update(self.request_id.as_bytes());
        digest.update(u64::try_from(tool.len()).unwrap_or(u64::MAX).to_be_bytes());
        digest.update(tool);
        digest.update(canonical);
        let call: [u8; 32] = digest.finalize().into();
        let numbered = Sha256::digest([call.as_slice(), &self.number(call).to_be_bytes()].concat());
        Self::of(RequestId::derived(&numbered.into()))
    }

    fn number(&self, call: [u8; 32]) -> u64 {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let number = made.entry(call).or_default();
        *number += 1;
        *number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_symbol(symbol: &str) -> Arguments {
        [("symbol".to_owned(), symbol.into())].into_iter().collect()
    }

    fn made(root: RequestId) -> [RequestId; 4] {
        let lineage = Lineage::of(root);
        let next = |tool: &str, symbol: &str| lineage.nested(tool, &of_symbol(symbol)).request_id();
        [next("buy", "A"), next("buy", "B"), next("sell", "A"), next("buy", "A")]
    }

    #[test]
    fn a_repeat_makes_the_same_nested_calls() {
        let root = RequestId::generate();
        assert_eq!(made(root), made(root));
        assert_ne!(made(root), made(RequestId::generate()));
    }

    #[test]
    fn no_two_nested_calls_are_one() {
        let made = made(RequestId::generate());
        for (index, id) in made.iter().enumerate() {
            assert!(!made[..index].contains(id), "{made:?}");
        }
    }

    #[test]
    fn what_is_called_in_between_changes_nothing() {
        let root = RequestId::generate();
        let (one, other) = (Lineage::of(root), Lineage::of(root));
        other.nested("sell", &of_symbol("A"));
        let of = |lineage: &Lineage| lineage.nested("buy", &of_symbol("A")).request_id();
        assert_eq!(of(&one), of(&other));
    }
}
