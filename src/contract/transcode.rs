//! Transcoders between messages and payload JSON, each compiled once from its descriptor: from bytes to text or a
//! structure, and from JSON to bytes, without an intermediate value.
//!
//! What a compiled form does not cover is left to the slow path, the walk over the message's descriptor, which covers
//! everything. Both have the same result, which the tests of this module compare. Not here: the definition of payload
//! JSON, and its cache (`payload`).

mod encode;
mod kind;
mod render;
mod rounding;
mod sink;
mod wire;

pub use self::{
    encode::Encoder,
    render::{Omitted, Renderer},
    rounding::find_rounded,
};

#[cfg(test)]
mod tests;
