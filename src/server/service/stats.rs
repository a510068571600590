//! Statistics of calls: a user's own, and of all users for those who may observe. Of this process, but for
//! confirmations.

use super::{
    Tools,
    calls::{VisibleUsers, Whose},
};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::{Counts, StatsBucket, Steps};
use toolwire_hosts::Hub;
use toolwire_tool::context::User;

/// Statistics of calls that a user sees.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// One for each step, the oldest first.
    pub buckets: Vec<StatsBucket>,
    pub running: usize,
    /// Pending confirmations of these calls' users.
    pub waiting: u32,
    /// The slots of hosts, and how many of them are idle; 0 for a user who may not observe.
    pub slots: (usize, usize),
}

impl Tools {
    /// The calls of these users that ended in each step, and what runs and waits now.
    pub async fn stats(&self, user: &User, whose: &Whose, steps: Steps, hub: &Hub) -> Result<Stats, Refusal> {
        let observes = self.calls().observes(user);
        let visible = match whose.visible_to(user, observes) {
            // Calls are not counted by tool.
            VisibleUsers::One(_) if user.bound_to.is_some() => VisibleUsers::None,
            visible => visible,
        };
        let of = match &visible {
            VisibleUsers::All => None,
            VisibleUsers::One(of) => Some(of),
            VisibleUsers::None => return Ok(Stats { buckets: self.no_calls(steps), ..Stats::default() }),
        };
        let (own, all) = self.confirmations.count_pending(of.unwrap_or(&user.id)).await?;
        let (buckets, running) = self.in_flight().stats(of, steps);
        let names = hub.providers().into_iter().filter(|_| observes);
        let slots = names.map(|name| hub.slots(name.as_str()));
        let slots = slots.fold((0, 0), |(slots, idle), (more, more_idle)| (slots + more, idle + more_idle));
        Ok(Stats { buckets, running, waiting: if of.is_some() { own } else { all }, slots })
    }

    /// The steps without calls.
    fn no_calls(&self, steps: Steps) -> Vec<StatsBucket> {
        let mut buckets = self.in_flight().stats(None, steps).0;
        for bucket in &mut buckets {
            bucket.counts = Counts::default();
        }
        buckets
    }
}
