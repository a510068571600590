//! Transcoders between messages and payload JSON, each compiled once from its descriptor: from bytes to text or a
//! structure, and from JSON to bytes, without an intermediate value.
//!
//! What a compiled form does not know it leaves to the walk over the message's descriptor, which is slower and knows
//! everything: both say the same, as the tests of this module see to. Not here: what payload JSON is, and who keeps it.

mod encode;
mod kind;
mod render;
mod sink;
mod wire;

pub use self::{
    encode::Encoder,
    render::{Omitted, Renderer},
};

#[cfg(test)]
mod tests;
