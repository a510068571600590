//! Addresses: what of a text a reader's program may turn into a link, an image or HTML ([`links`]), and which of that
//! an answer may contain ([`Allowed`]).

mod address;
mod allowed;
mod find;
mod link;

pub(in crate::ground) use self::{allowed::Allowed, find::links, link::Link};
