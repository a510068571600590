//! Lists of tasks, a page at a time.

use data_encoding::BASE64URL_NOPAD;

use super::Tasks;
use crate::{
    context::{TaskId, User},
    contract::Refusal,
    digest::Digest,
    pipeline::refused,
    service::request::refuse,
    store::tasks::{Filter, Place, Scope, Task},
};

/// A page has so many entries unless its caller says otherwise, and at most so many.
const USUAL: u32 = 100;
const MOST: u32 = 1_000;

/// The most elements of one criterion.
const MOST_CRITERIA: usize = 32;

/// A page of tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// What is on it.
    pub tasks: Vec<Task>,
    /// Where the next one begins; empty on the last one.
    pub next: String,
}

impl Tasks {
    /// The user's tasks that pass the filter. `size` 0 is the usual size.
    pub async fn list(&self, user: &User, filter: &Filter, size: i32, token: &str) -> Result<Page, Refusal> {
        check(filter)?;
        let size = size_of("page_size", size, USUAL, MOST)?;
        let bound_to = Digest::of_parts([user.id.as_str().to_owned(), format!("{filter:?}")]);
        let from = if token.is_empty() { None } else { Some(place(token, &bound_to)?) };
        let unnamed = TaskId::generate();
        let id = match &filter.scope {
            Scope::Tree(id) => id,
            Scope::All | Scope::Roots => &unnamed,
        };
        let listed = self.0.store.tasks(&user.id, filter, from, size).await;
        let listed = listed.map_err(|error| refused(id, error))?;
        let next = listed.next.map_or_else(String::new, |place| written(place, &bound_to));
        Ok(Page { tasks: listed.tasks, next })
    }
}

/// Refuses what is too long.
pub(super) fn check(filter: &Filter) -> Result<(), Refusal> {
    let most = format!("must have at most {MOST_CRITERIA} elements");
    for (field, count) in [
        ("filter.states", filter.states.len()),
        ("filter.roles", filter.roles.len()),
        ("filter.labels", filter.labels.len()),
    ] {
        if count > MOST_CRITERIA {
            return Err(refuse(field, "max_items", &most));
        }
    }
    Ok(())
}

/// The size of a page; 0 is the usual one.
pub(super) fn size_of(field: &str, asked: i32, usual: u32, most: u32) -> Result<u32, Refusal> {
    match u32::try_from(asked) {
        Ok(0) => Ok(usual),
        Ok(size) if size <= most => Ok(size),
        _ => Err(refuse(field, "range", &format!("must be from 1 to {most}, or 0 for {usual}"))),
    }
}

fn written(place: Place, bound_to: &Digest) -> String {
    let mut bytes = place.to_be_bytes().to_vec();
    bytes.extend(&bound_to.as_bytes()[..16]);
    BASE64URL_NOPAD.encode(&bytes)
}

fn place(token: &str, bound_to: &Digest) -> Result<Place, Refusal> {
    let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).unwrap_or_default();
    match bytes.split_first_chunk::<8>() {
        Some((place, rest)) if rest == &bound_to.as_bytes()[..16] => Ok(u64::from_be_bytes(*place)),
        _ => {
            let what = "must be the next_page_token of your last page with this filter";
            Err(refuse("page_token", "foreign", what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_on_with_the_list_that_it_came_from_and_with_no_other() {
        let bound = Digest::of_bytes(b"riley's");
        assert_eq!(place(&written(7, &bound), &bound).expect("ours"), 7);
        assert!(place(&written(7, &bound), &Digest::of_bytes(b"demo's")).is_err());
        for bad in ["x", "", "AAAA", "not base64 at all!"] {
            assert!(place(bad, &bound).is_err(), "{bad}");
        }
    }
}
