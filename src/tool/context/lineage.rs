//! The descent of a call, so that a repeat of the outermost one makes the same nested calls, and they are recognised.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sha2::{Digest, Sha256};

use super::{CallId, RequestId};
use toolwire_contract::{ToolName, arguments::Arguments, json};

/// Separates this hash from every other of the service: no other input begins with it.
const DOMAIN: &[u8] = b"toolwire nested call 1";

/// Names a call and, by it, the calls it makes. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Lineage {
    request_id: RequestId,
    outermost: Outermost,
    /// The tools above the call, the nearest first.
    above: Option<Arc<Above>>,
    /// How often each tool was called with the same arguments, by their digest. Counted apart, since calls that run at
    /// the same time may come in another order in a repeat.
    call_counts: Arc<Mutex<HashMap<[u8; 32], u64>>>,
}

/// The call that a caller made, by itself or by what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outermost {
    /// Differs from call to call, repeats included.
    pub call_id: CallId,
    /// The identifier by which a repeat of it is recognised.
    pub request_id: RequestId,
    /// Whether its repeats have that identifier too: not if the server made one for a call without.
    pub is_repeatable: bool,
}

/// A tool, and those above it.
#[derive(Debug)]
struct Above {
    tool: ToolName,
    above: Option<Arc<Above>>,
}

impl Lineage {
    /// The lineage of a call from outside that has no identifier yet.
    pub fn of(call_id: CallId) -> Self {
        let request_id = call_id.into();
        let outermost = Outermost { call_id, request_id, is_repeatable: false };
        Self { request_id, outermost, above: None, call_counts: Arc::default() }
    }

    /// The same call, recognised by this identifier. It has made no nested calls yet.
    #[must_use]
    pub fn with_request_id(&self, request_id: RequestId) -> Self {
        let outermost = match self.above {
            None => Outermost { request_id, is_repeatable: true, ..self.outermost },
            Some(_) => self.outermost,
        };
        Self { request_id, outermost, above: self.above.clone(), call_counts: Arc::default() }
    }

    /// The same call, made again: it has made no nested calls yet.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { call_counts: Arc::default(), ..self.clone() }
    }

    /// Recognises a repeat of the call where it has no identifier of its own.
    pub fn request_id(&self) -> RequestId {
        self.request_id
    }

    /// The call that everything here is a part of.
    pub fn outermost(&self) -> Outermost {
        self.outermost
    }

    /// The tools from the outermost one to the given one, whose call this is the lineage of.
    pub fn path(&self, tool: &ToolName) -> Vec<ToolName> {
        let above = std::iter::successors(self.above.as_deref(), |it| it.above.as_deref());
        let mut path: Vec<_> = std::iter::once(tool).chain(above.map(|it| &it.tool)).cloned().collect();
        path.reverse();
        path
    }

    /// The lineage of the next nested call, which the tool `caller` makes of a tool with such arguments.
    pub fn nested(&self, caller: Option<&ToolName>, tool: &str, arguments: &Arguments) -> Self {
        let mut digest = Sha256::new();
        digest.update(DOMAIN);
        digest.update(self.request_id.as_bytes());
        // The name alone needs its length: what comes last cannot run into anything.
        digest.update(u64::try_from(tool.len()).unwrap_or(u64::MAX).to_be_bytes());
        digest.update(tool);
        digest.update(json::canonical(arguments));
        let call: [u8; 32] = digest.finalize().into();
        let numbered = Sha256::digest([call.as_slice(), &self.count(call).to_be_bytes()].concat());
        let above = caller.map(|tool| Arc::new(Above { tool: tool.clone(), above: self.above.clone() }));
        Self {
            request_id: RequestId::from_digest(&numbered.into()),
            outermost: self.outermost,
            above,
            call_counts: Arc::default(),
        }
    }

    fn count(&self, call: [u8; 32]) -> u64 {
        let mut counts = self.call_counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(call).or_default();
        *count += 1;
        *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_symbol(symbol: &str) -> Arguments {
        [("symbol".to_owned(), symbol.into())].into_iter().collect()
    }

    fn caller() -> ToolName {
        "trade".parse().expect("a name")
    }

    fn of(root: RequestId) -> Lineage {
        Lineage::of(CallId::generate()).with_request_id(root)
    }

    fn nested_ids(root: RequestId) -> [RequestId; 4] {
        let lineage = of(root);
        let next =
            |tool: &str, symbol: &str| lineage.nested(Some(&caller()), tool, &of_symbol(symbol)).request_id();
        [next("buy", "A"), next("buy", "B"), next("sell", "A"), next("buy", "A")]
    }

    #[test]
    fn a_repeat_makes_the_same_nested_calls() {
        let root = RequestId::generate();
        assert_eq!(nested_ids(root), nested_ids(root));
        assert_ne!(nested_ids(root), nested_ids(RequestId::generate()));
    }

    #[test]
    fn no_two_nested_calls_are_one() {
        let ids = nested_ids(RequestId::generate());
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "{ids:?}");
        }
    }

    #[test]
    fn what_is_called_in_between_changes_nothing() {
        let root = RequestId::generate();
        let (one, other) = (of(root), of(root));
        other.nested(Some(&caller()), "sell", &of_symbol("A"));
        let next = |lineage: &Lineage| lineage.nested(Some(&caller()), "buy", &of_symbol("A")).request_id();
        let first = next(&one);
        assert_eq!(first, next(&other));
        assert_ne!(first, next(&one), "the second of its kind");
        assert_eq!(first, next(&one.again()));
    }

    #[test]
    fn a_nested_call_knows_the_way_to_it_and_the_call_that_it_is_a_part_of() {
        let call_id = CallId::generate();
        let outer = Lineage::of(call_id);
        let buy: ToolName = "buy".parse().expect("a name");
        let nested = outer.nested(Some(&caller()), "desk", &of_symbol("A")).nested(
            Some(&"desk".parse().expect("a name")),
            "buy",
            &of_symbol("A"),
        );
        let path: Vec<_> = nested.path(&buy).iter().map(ToString::to_string).collect();
        assert_eq!(path, ["trade", "desk", "buy"]);
        assert_eq!(outer.path(&buy), [buy]);
        assert_eq!(nested.outermost(), outer.outermost());
        assert!(!nested.with_request_id(RequestId::generate()).outermost().is_repeatable);
        let root = RequestId::generate();
        let expected = Outermost { call_id, request_id: root, is_repeatable: true };
        assert_eq!(outer.with_request_id(root).outermost(), expected);
    }
}
