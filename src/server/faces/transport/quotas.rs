//! How much of something there may be at once, in all and for each holder, so that nobody takes it all.

use std::{
    collections::HashMap,
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolwire_tool::context::UserId;

/// Who holds a share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Principal {
    User(UserId),
    Peer(Origin),
}

/// Where a peer comes from: its IPv4 address, or the /64 of its IPv6 address, of which one machine has all.
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

/// Which bound is exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    Each,
    /// That of all holders together.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) all: usize,
    pub(super) each: usize,
}

/// What is taken of something bounded. Cheap to clone; clones share state.
#[derive(Debug, Clone)]
pub(super) struct Quotas {
    bounds: Bounds,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_holder: HashMap<Principal, usize>,
}

/// A share that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    taken: Arc<Mutex<Taken>>,
    holder: Option<Principal>,
    amount: usize,
}

impl Quotas {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, taken: Arc::default() }
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Takes an amount for a holder; without one only the bound of all counts.
    pub(super) fn take(&self, holder: Option<Principal>, amount: usize) -> Result<Share, Full> {
        let mut taken = lock(&self.taken);
        let Taken { all, by_holder } = &mut *taken;
        let held = holder.as_ref().and_then(|holder| by_holder.get(holder)).copied().unwrap_or_default();
        if holder.is_some() && held + amount > self.bounds.each {
            return Err(Full::Each);
        }
        if *all + amount > self.bounds.all {
            return Err(Full::All);
        }
        *all += amount;
        if let Some(holder) = &holder {
            by_holder.insert(holder.clone(), held + amount);
        }
        drop(taken);
        Ok(Share { taken: Arc::clone(&self.taken), holder, amount })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all -= self.amount;
        let Some(holder) = &self.holder else { return };
        let left = taken.by_holder.get_mut(holder).map(|held| {
            *held -= self.amount;
            *held
        });
        if left == Some(0) {
            taken.by_holder.remove(holder);
        }
    }
}

fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(id: &str) -> Principal {
        Principal::User(id.parse().unwrap())
    }

    #[test]
    fn a_holder_takes_its_share_and_all_take_the_whole() {
        let shares = Quotas::new(Bounds { all: 5, each: 3 });
        let first = shares.take(Some(user("a")), 3).unwrap();
        assert_eq!(shares.take(Some(user("a")), 1).unwrap_err(), Full::Each);
        let _second = shares.take(Some(user("b")), 1).unwrap();
        let _nobodys = shares.take(None, 1).unwrap();
        assert_eq!(shares.take(Some(user("b")), 1).unwrap_err(), Full::All);
        assert_eq!(shares.take(None, 1).unwrap_err(), Full::All);
        drop(first);
        let _again = shares.take(Some(user("a")), 3).unwrap();
    }

    #[test]
    fn who_holds_nothing_leaves_no_trace() {
        let shares = Quotas::new(Bounds { all: 5, each: 3 });
        drop((shares.take(Some(user("a")), 1), shares.take(Some(user("b")), 0)));
        let taken = lock(&shares.taken);
        assert!(taken.by_holder.is_empty() && taken.all == 0, "{taken:?}");
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
