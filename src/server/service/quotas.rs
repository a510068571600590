//! What is left of quotas: a user's own, and those of all users for those who may observe.

use std::cmp::Reverse;

use super::{
    Tools,
    calls::{VisibleUsers, Whose},
    page::{List, Sizes},
    unavailable::unavailable,
};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::{QuotaLeft, QuotaUsers};
use toolwire_state::reservations::UsePlace;
use toolwire_tool::context::User;

const SIZES: Sizes = Sizes { default: 100, max: 1_000 };

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaPage {
    /// The fullest first.
    pub quotas: Vec<QuotaLeft>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

impl Tools {
    /// What is left of the quotas of these users that the user sees; `size` 0 is the default size.
    pub async fn quotas(
        &self,
        user: &User,
        whose: &Whose,
        size: i32,
        token: &str,
    ) -> Result<QuotaPage, Refusal> {
        let size = SIZES.of(size)?;
        let page_token = self.calls().page_token(List::QUOTAS, &user.id, whose).await?;
        let behind = page_token.decode::<String>(token)?.and_then(|place| read_place(&place));
        let visible = whose.visible_to(user, self.calls().observes(user));
        let of = match &visible {
            VisibleUsers::All => QuotaUsers::All,
            // Calls are not counted by tool.
            VisibleUsers::One(_) if user.bound_to.is_some() => return Ok(QuotaPage::default()),
            VisibleUsers::One(of) if *of == user.id => QuotaUsers::Own,
            VisibleUsers::One(of) => QuotaUsers::One(of),
            VisibleUsers::None => return Ok(QuotaPage::default()),
        };
        let quotas = self.pipeline.quotas().left(user, of, behind.as_ref(), size + 1).await;
        let mut quotas = quotas.map_err(|error| unavailable(&error))?;
        let goes_on = quotas.len() > size as usize;
        quotas.truncate(size as usize);
        let last = quotas.last().filter(|_| goes_on);
        let next = last.map(|it| page_token.encode(write_place(&it.place))).unwrap_or_default();
        Ok(QuotaPage { quotas, next })
    }
}

/// Neither a user nor a name has a space.
fn write_place(UsePlace { share, user, name }: &UsePlace) -> String {
    format!("{} {user} {name}", share.0)
}

fn read_place(text: &str) -> Option<UsePlace> {
    let [share, user, name] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    Some(UsePlace { share: Reverse(share.parse().ok()?), user: user.to_owned(), name: name.to_owned() })
}
