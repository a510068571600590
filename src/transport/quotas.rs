//! Quotas of a resource in concurrent use, in total and per principal, so that no principal can exhaust it.

use std::{
    collections::HashMap,
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolwire_tool::context::UserId;

/// The owner of a permit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Principal {
    User(UserId),
    Peer(Origin),
}

/// The origin of a peer: its IPv4 address, or the /64 network of its IPv6 address, since one machine usually has a
/// whole /64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Origin(IpAddr);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => write!(f, "user:{user}"),
            Self::Peer(origin) => write!(f, "peer:{origin}"),
        }
    }
}

/// Why a permit is not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuotaExceeded {
    Each,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) all: usize,
    pub(super) each: usize,
}

/// The quotas of one resource and its current use. Cheap to clone; clones share state.
#[derive(Debug, Clone)]
pub(super) struct Quotas {
    bounds: Bounds,
    usage: Arc<Mutex<Usage>>,
}

#[derive(Debug, Default)]
struct Usage {
    all: usize,
    by_principal: HashMap<Principal, usize, foldhash::fast::RandomState>,
}

/// A permit for an amount of the resource, released on drop.
#[derive(Debug)]
pub(super) struct QuotaPermit {
    usage: Arc<Mutex<Usage>>,
    principal: Option<Principal>,
    amount: usize,
}

impl Quotas {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, usage: Arc::default() }
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Acquires an amount for a principal. Without a principal only the total counts.
    pub(super) fn take(
        &self,
        principal: Option<Principal>,
        amount: usize,
    ) -> Result<QuotaPermit, QuotaExceeded> {
        let mut usage = lock(&self.usage);
        let Usage { all, by_principal } = &mut *usage;
        let held =
            principal.as_ref().and_then(|principal| by_principal.get(principal)).copied().unwrap_or_default();
        if principal.is_some() && held + amount > self.bounds.each {
            return Err(QuotaExceeded::Each);
        }
        if *all + amount > self.bounds.all {
            return Err(QuotaExceeded::All);
        }
        *all += amount;
        if let Some(principal) = &principal {
            by_principal.insert(principal.clone(), held + amount);
        }
        drop(usage);
        Ok(QuotaPermit { usage: Arc::clone(&self.usage), principal, amount })
    }
}

impl Drop for QuotaPermit {
    fn drop(&mut self) {
        let mut usage = lock(&self.usage);
        usage.all -= self.amount;
        let Some(principal) = &self.principal else { return };
        let left = usage.by_principal.get_mut(principal).map(|held| {
            *held -= self.amount;
            *held
        });
        if left == Some(0) {
            usage.by_principal.remove(principal);
        }
    }
}

fn lock(usage: &Mutex<Usage>) -> MutexGuard<'_, Usage> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(id: &str) -> Principal {
        Principal::User(id.parse().unwrap())
    }

    #[test]
    fn a_holder_takes_its_share_and_all_take_the_whole() {
        let quotas = Quotas::new(Bounds { all: 5, each: 3 });
        let first = quotas.take(Some(user("a")), 3).unwrap();
        assert_eq!(quotas.take(Some(user("a")), 1).unwrap_err(), QuotaExceeded::Each);
        let _second = quotas.take(Some(user("b")), 1).unwrap();
        let _nobodys = quotas.take(None, 1).unwrap();
        assert_eq!(quotas.take(Some(user("b")), 1).unwrap_err(), QuotaExceeded::All);
        assert_eq!(quotas.take(None, 1).unwrap_err(), QuotaExceeded::All);
        drop(first);
        let _again = quotas.take(Some(user("a")), 3).unwrap();
    }

    #[test]
    fn who_holds_nothing_leaves_no_trace() {
        let quotas = Quotas::new(Bounds { all: 5, each: 3 });
        drop((quotas.take(Some(user("a")), 1), quotas.take(Some(user("b")), 0)));
        let usage = lock(&quotas.usage);
        assert!(usage.by_principal.is_empty() && usage.all == 0, "{usage:?}");
    }

    #[test]
    fn all_addresses_of_one_ipv6_network_are_one_origin() {
        let origin = |address: &str| Origin::from(address.parse::<IpAddr>().unwrap());
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:1"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_eq!(origin("::ffff:192.0.2.7"), origin("192.0.2.7"));
        assert_ne!(origin("192.0.2.7"), origin("192.0.2.8"));
    }
}
