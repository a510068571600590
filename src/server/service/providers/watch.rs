//! Watches providers: those of a user as they are, then each that differs. They have no common source of notifications,
//! so that they are looked at every second.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::{
    super::{Tools, changes::HEARTBEAT},
    ProviderStatus, Providers,
};
use toolwire_base::clock;
use toolwire_tool::context::User;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// An event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub enum ProviderChange {
    Added(Box<ProviderStatus>),
    Changed(Box<ProviderStatus>),
    /// The provider of a name is gone, or the user may see it no more.
    Removed(String),
    /// What there is is complete.
    Synced,
    /// There was no event for a while.
    Heartbeat,
}

/// Watches on behalf of one user.
#[derive(Debug)]
pub struct ProviderWatch {
    tools: Tools,
    providers: Providers,
    user: User,
    /// What was sent; `None` before the beginning.
    told: Option<BTreeMap<String, ProviderStatus>>,
    pending: VecDeque<ProviderChange>,
    /// The time of the last event, or of the beginning.
    last_sent: Instant,
}

impl ProviderWatch {
    pub fn new(tools: Tools, providers: Providers, user: User) -> Self {
        let pending = VecDeque::new();
        Self { tools, providers, user, told: None, pending, last_sent: clock::now() }
    }

    /// The next event.
    pub async fn next(&mut self) -> ProviderChange {
        loop {
            if let Some(change) = self.pending.pop_front() {
                self.last_sent = clock::now();
                return change;
            }
            let is_first = self.told.is_none();
            if !is_first {
                sleep(INTERVAL).await;
            }
            self.look();
            if is_first {
                self.pending.push_back(ProviderChange::Synced);
            }
            if self.pending.is_empty() && clock::now() >= self.last_sent + HEARTBEAT {
                self.pending.push_back(ProviderChange::Heartbeat);
            }
        }
    }

    fn look(&mut self) {
        let now = self.tools.providers(&self.user, &self.providers);
        let now: BTreeMap<_, _> = now.into_iter().map(|status| (status.name.clone(), status)).collect();
        self.pending.extend(differences(self.told.as_ref().unwrap_or(&BTreeMap::new()), &now));
        self.told = Some(now);
    }
}

fn differences(
    before: &BTreeMap<String, ProviderStatus>,
    now: &BTreeMap<String, ProviderStatus>,
) -> Vec<ProviderChange> {
    let gone = before.keys().filter(|name| !now.contains_key(*name)).cloned().map(ProviderChange::Removed);
    let others = now.iter().filter_map(|(name, status)| match before.get(name) {
        None => Some(ProviderChange::Added(Box::new(status.clone()))),
        Some(before) if before != status => Some(ProviderChange::Changed(Box::new(status.clone()))),
        Some(_) => None,
    });
    gone.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(statuses: &[(&str, usize)]) -> BTreeMap<String, ProviderStatus> {
        let status = |(name, tools): &(&str, usize)| {
            let status = ProviderStatus {
                name: (*name).to_owned(),
                is_mcp: false,
                tools: *tools,
                reason: None,
                hosts: Vec::new(),
                refused: Vec::new(),
            };
            ((*name).to_owned(), status)
        };
        statuses.iter().map(status).collect()
    }

    #[test]
    fn what_is_new_differs_or_is_gone_is_a_change() {
        let (before, now) =
            (all(&[("docs", 1), ("shop", 2), ("gone", 1)]), all(&[("docs", 1), ("shop", 3), ("new", 1)]));
        let new = |name: &str| Box::new(now[name].clone());
        let expected = [
            ProviderChange::Removed("gone".to_owned()),
            ProviderChange::Added(new("new")),
            ProviderChange::Changed(new("shop")),
        ];
        assert_eq!(differences(&before, &now), expected);
        assert_eq!(differences(&now, &now), []);
    }
}
