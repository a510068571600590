//! Lists jobs, page by page.

use strum::VariantArray as _;

use super::Jobs;
use toolwire_contract::Refusal;
use toolwire_server::service::{
    page::{List, PageToken, Sizes},
    request::refuse,
    unavailable::unavailable,
};
use toolwire_state::jobs::{Job, State};
use toolwire_tool::context::User;

const SIZES: Sizes = Sizes { default: 50, max: 100 };

/// As its page tokens name it.
const JOBS: List = List("Jobs");

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The newest first, without results.
    pub jobs: Vec<Job>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

impl Jobs {
    /// The user's jobs in any of these states, in any at all if there is none; `size` 0 is the usual size.
    pub async fn list(&self, user: &User, states: &[State], size: i32, token: &str) -> Result<Page, Refusal> {
        if states.len() > State::VARIANTS.len() {
            let what = format!("must have at most {} elements", State::VARIANTS.len());
            return Err(refuse("states", "max_items", &what));
        }
        let size = SIZES.of(size)?;
        let page_token = PageToken::of(&self.parts.store, JOBS, &user.id, &states).await?;
        let before = page_token.decode(token)?.map(u64::from_be_bytes);
        // One more tells whether there is another page.
        let found = self.parts.store.jobs(&user.id, states, before, size + 1).await;
        let mut found = found.map_err(|error| unavailable(&error))?;
        let goes_on = found.len() > size as usize;
        found.truncate(size as usize);
        let last = found.last().filter(|_| goes_on);
        let next = last.map_or_else(String::new, |(position, _)| page_token.encode(position.to_be_bytes()));
        Ok(Page { jobs: found.into_iter().map(|(_, job)| job).collect(), next })
    }
}
