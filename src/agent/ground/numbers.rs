//! The numbers of a text: which there are ([`tokens`]), and whether the facts of a turn hold them ([`Facts`]).
//!
//! The same reader reads answers and results, so that what a result says in words, such as `5 Cr`, and what an answer
//! says of it meet. Not here: ordinals of lists, code and citations, which the caller leaves out.

mod date;
mod facts;
mod numeral;
mod scale;
mod time;
mod tokens;

pub(in crate::ground) use self::{
    facts::Facts,
    tokens::{Token, tokens},
};
