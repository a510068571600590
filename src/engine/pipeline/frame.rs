//! Frame: text from outside is sent under a nonce that its authors cannot predict.
//!
//! All nonces of responses are generated here: a new one for each, also for a response from a cache or a repeat of an
//! earlier outcome. Not here: the words around it, which are the contract's, and sanitising, which is the sources'.

use data_encoding::HEXLOWER;
use futures_util::{FutureExt, future::Map};

use super::{Call, CallResult, Inner};
use toolwire_base::middleware::Middleware;
use toolwire_contract::{Provenance, Terminal, ToolResult};

const NONCE_BYTES: usize = 16;

/// Adds the nonce to responses that contain text from outside, also in a part of a composite.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame;

impl<S: Inner> Middleware<Box<Call>, S> for Frame {
    type Future = Map<S::Future, fn(CallResult) -> CallResult>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        let is_nested = call.context.depth > 0;
        let transform: fn(CallResult) -> CallResult = match (is_nested, call.tool().definition.untrusted) {
            (false, true) => frame,
            (false, false) => frame_if_marked,
            (true, true) => mark,
            (true, false) => |result| result,
        };
        inner.call(call).map(transform)
    }
}

/// A stored result as a new response, with a nonce of its own if it needs one.
pub fn response(result: ToolResult, untrusted: bool) -> ToolResult {
    let provenance = match (&result.outcome, untrusted || result.provenance.untrusted_nonce.is_some()) {
        (Ok(_), true) => Provenance { untrusted_nonce: Some(nonce()), ..result.provenance },
        _ => result.provenance,
    };
    ToolResult { provenance, ..result }
}

fn frame(result: CallResult) -> CallResult {
    with_nonce(result, |_| Some(nonce()))
}

/// A composite of trusted tools and others carries the mark of the others.
fn frame_if_marked(result: CallResult) -> CallResult {
    with_nonce(result, |mark| mark.map(|_| nonce()))
}

/// A part of a response is only marked: the whole response has one nonce.
fn mark(result: CallResult) -> CallResult {
    with_nonce(result, |_| Some(String::new()))
}

fn with_nonce(mut result: CallResult, nonce: impl FnOnce(Option<String>) -> Option<String>) -> CallResult {
    if let Ok(Terminal::Result(result)) = &mut result
        && result.outcome.is_ok()
    {
        let provenance = &mut result.provenance;
        provenance.untrusted_nonce = nonce(provenance.untrusted_nonce.take());
    }
    result
}

/// 128 random bits in hex.
fn nonce() -> String {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random bytes, which call ids need too");
    HEXLOWER.encode(&bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_nonce_has_128_bits_and_is_never_the_same() {
        let nonces: HashSet<_> = (0..1_000).map(|_| nonce()).collect();
        assert_eq!(nonces.len(), 1_000);
        assert!(nonces.iter().all(|it| it.len() == 32 && it.bytes().all(|b| b.is_ascii_hexdigit())));
    }
}
