//! Addresses: what of a text a reader's program may turn into a link, an image or HTML ([`links`]), and which of that
//! an answer may contain ([`AllowList`]).

mod address;
mod allow_list;
mod find;
mod link;

pub(in crate::ground) use self::{allow_list::AllowList, find::links, link::Link};
