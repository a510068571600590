//! The numbers of a text: which there are ([`tokens`]), what stands beside them, and whether the facts of a turn
//! hold both ([`Facts`]).
//!
//! The same reader reads answers and results, so that what a result says in words, such as `5 Cr`, and what an answer
//! says of it meet. Not here: ordinals of lists, code and citations, which the caller leaves out.

mod currency;
mod date;
mod direction;
mod facts;
mod number_words;
mod numeral;
mod scale;
mod time;
mod tokens;
mod vague;

pub(crate) use self::number_words::ONES;
pub(in crate::ground) use self::{
    direction::{is_past, phrase, words},
    facts::Facts,
    tokens::{Token, spelled, tokens},
};
