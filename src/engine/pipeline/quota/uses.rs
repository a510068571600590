//! What is left of the quotas in force, of a user or of all users. It is read from the state, and nothing is counted.
//!
//! Which groups a user is in, only the user's credentials say. Of another user, a quota for a group is known by the
//! calls that are counted under it.

use std::{collections::HashMap, time::SystemTime};

use super::{EnforceQuotas, bounds::Allowance};
use toolwire_config::Quota;
use toolwire_db::StoreError;
use toolwire_state::reservations::{Use, UsePlace, instant};
use toolwire_tool::context::{User, UserId};

/// What is left of a quota of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaLeft {
    pub user: UserId,
    /// The quota in words, such as `10 calls in 1m`.
    pub quota: String,
    /// The calls that it allows.
    pub most: u32,
    /// Those that it would allow now.
    pub left: u32,
    /// When it allows one more call than now, or any call if it allows none now. `None` if none is counted, and of
    /// calls at once, which may end at any time.
    pub free_at: Option<SystemTime>,
    /// Where it stands in a list.
    pub place: UsePlace,
}

/// The users whose quotas are meant.
#[derive(Clone, Copy, Debug)]
pub enum QuotaUsers<'a> {
    /// The one who asks: all quotas of this user.
    Own,
    /// The quotas for all, those for this user by name, and those under which calls of this user are counted.
    One(&'a UserId),
    /// All quotas under which calls are counted now.
    All,
}

impl EnforceQuotas {
    /// What is left of quotas, the fullest first, then by user, behind a place.
    pub async fn left(
        &self,
        reader: &User,
        of: QuotaUsers<'_>,
        behind: Option<&UsePlace>,
        at_most: u32,
    ) -> Result<Vec<QuotaLeft>, StoreError> {
        let one = match of {
            QuotaUsers::Own => self.left_of(reader, &reader.id, |quota| quota.is_of(reader)).await?,
            QuotaUsers::One(id) => {
                let user = User::new(id.clone());
                self.left_of(reader, id, |quota| quota.is_of(&user)).await?
            }
            QuotaUsers::All => return self.left_of_all(reader, behind, at_most).await,
        };
        let mut left: Vec<_> =
            one.into_iter().filter(|it| behind.is_none_or(|behind| it.place > *behind)).collect();
        left.sort_by(|one, other| one.place.cmp(&other.place));
        left.truncate(usize::try_from(at_most).unwrap_or(usize::MAX));
        Ok(left)
    }

    /// What is left of the quotas of a user, in their order, and of those under which calls of the user are counted.
    async fn left_of(
        &self,
        reader: &User,
        user: &UserId,
        is_of_user: impl Fn(&Quota) -> bool,
    ) -> Result<Vec<QuotaLeft>, StoreError> {
        let quotas = self.quotas.load();
        let is_own = reader.id == *user;
        let meant =
            quotas.iter().map(|quota| (quota, is_of_user(quota))).filter(|(_, is_of)| *is_of || !is_own);
        let (allowances, are_of): (Vec<_>, Vec<_>) = meant
            .flat_map(|(quota, is_of)| Allowance::all(quota).map(move |allowance| (allowance, is_of)))
            .unzip();
        let limits: Vec<_> = allowances.iter().map(|it| it.limit.clone()).collect();
        let found = self.store.uses(&limits, Some(user), &reader.id, None, u32::MAX).await?;
        let mut by_name: HashMap<_, _> = found.into_iter().map(|it| (it.name.clone(), it)).collect();
        let left = allowances.iter().zip(are_of).filter_map(|(allowance, is_of)| {
            let name = allowance.limit.name_of(user);
            let unused = || Use { user: user.clone(), name: name.clone(), count: 0, share: 0, first: 0 };
            let found = by_name.remove(&name).or_else(|| is_of.then(unused))?;
            Some(left(allowance, &found))
        });
        Ok(left.collect())
    }

    async fn left_of_all(
        &self,
        reader: &User,
        behind: Option<&UsePlace>,
        at_most: u32,
    ) -> Result<Vec<QuotaLeft>, StoreError> {
        let allowances: Vec<_> = self.quotas.load().iter().flat_map(Allowance::all).collect();
        let limits: Vec<_> = allowances.iter().map(|it| it.limit.clone()).collect();
        let uses = self.store.uses(&limits, None, &reader.id, behind, at_most).await?;
        let by_group: HashMap<_, _> = allowances.iter().map(|it| (it.limit.group.as_str(), it)).collect();
        let left = uses.iter().filter_map(|found| {
            let group = found.name.strip_suffix(found.user.as_str())?.strip_suffix(':')?;
            Some(left(by_group.get(group)?, found))
        });
        Ok(left.collect())
    }
}

fn left(allowance: &Allowance, found: &Use) -> QuotaLeft {
    let limit = &allowance.limit;
    let is_freed_by_time = found.count > 0 && !allowance.is_of_permits();
    QuotaLeft {
        user: found.user.clone(),
        quota: allowance.words(),
        most: limit.most,
        left: limit.most.saturating_sub(found.count),
        // It counts until its window has passed, that instant included.
        free_at: is_freed_by_time
            .then(|| instant(found.first.saturating_add(limit.window).saturating_add(1))),
        place: found.place(),
    }
}
