//! What a seed makes happen: which calls are made when, and which links break when.

use std::time::Duration;

use fastrand::Rng;
use uuid::Builder;

/// Names of the callers' machines. Two of them are of one user.
pub(crate) const CALLERS: [&str; 4] = ["alice-1", "alice-2", "bob-1", "bob-2"];
/// Calls that one user may have under way: few, so that a place that is not given back is missed.
pub(crate) const SHARE: usize = 8;
/// No call lasts longer, not even a write that its caller left.
pub(crate) const CAP: Duration = Duration::from_secs(4);
/// The last link is repaired.
const REPAIRED: Duration = Duration::from_secs(8);
/// Whatever was under way has ended, and every connection that broke has been noticed.
pub(crate) const CALM: Duration = Duration::from_millis(12_500);
/// By then every caller is done.
pub(crate) const END: Duration = Duration::from_secs(20);
/// How long a message takes at most between two machines whose link is whole.
pub(crate) const LATENCY: Duration = Duration::from_millis(20);
/// How much later than promised something may be seen, since messages take their time.
pub(crate) const SLACK: Duration = Duration::from_millis(150);

/// One seed's.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Of each caller.
    pub(crate) operations: [Vec<Operation>; CALLERS.len()],
    pub(crate) faults: Vec<Fault>,
}

/// A call, or the same one until its end is known.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) at: Duration,
    pub(crate) kind: Kind,
    pub(crate) key: String,
    pub(crate) timeout: Duration,
    pub(crate) request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A read, to its end.
    Read,
    /// One that equal calls share.
    Cached,
    /// A read whose stream is reset after so long.
    Reset(Duration),
    /// A read that `CancelCall` ends after so long.
    Cancel(Duration),
    /// A write, repeated until its outcome is known.
    Write,
}

/// Something is wrong with a link for some time.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) link: Link,
    pub(crate) kind: FaultKind,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
}

/// Between the server and another machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Caller(usize),
    Source,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum FaultKind {
    /// Messages are lost.
    Cut,
    /// Those to the server are.
    CutToServer,
    /// Those from it are.
    CutFromServer,
    /// They wait.
    Hold,
    /// They take long.
    Slow(Duration),
}

impl Link {
    /// The other machine.
    pub(crate) fn machine(self) -> &'static str {
        match self {
            Self::Caller(caller) => CALLERS[caller],
            Self::Source => crate::source::HOST,
        }
    }
}

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let operations = std::array::from_fn(|caller| {
            (0..rng.usize(10..20)).map(|number| Operation::of(&mut rng, CALLERS[caller], number)).collect()
        });
        let links = (0..CALLERS.len()).map(Link::Caller).chain([Link::Source]);
        let faults = links.flat_map(|link| faults(&mut rng, link)).collect();
        Self { operations, faults }
    }

    /// Whether a link is whole from one instant to another.
    pub(crate) fn is_whole(&self, link: Link, from: Duration, to: Duration) -> bool {
        // What was sent before a fault may meet it on its way.
        let meets = |fault: &Fault| fault.link == link && fault.from < to && from < fault.to + LATENCY;
        !self.faults.iter().any(meets)
    }
}

impl Operation {
    fn of(rng: &mut Rng, caller: &str, number: usize) -> Self {
        let after = millis(rng, 1..600);
        let kind = match rng.u8(0..10) {
            0..2 => Kind::Read,
            2..4 => Kind::Cached,
            4..6 => Kind::Reset(after),
            6..8 => Kind::Cancel(after),
            _ => Kind::Write,
        };
        // Few different ones, so that callers ask for the same at the same time.
        let key = match kind {
            Kind::Cached => format!("shared-{}", rng.u8(0..4)),
            _ => format!("{caller}-{number}"),
        };
        let bytes = rng.u128(..).to_be_bytes();
        Self {
            at: millis(rng, 0..8_000),
            kind,
            key,
            timeout: millis(rng, 100..2_500),
            request_id: Builder::from_random_bytes(bytes).into_uuid().to_string(),
        }
    }
}

fn faults(rng: &mut Rng, link: Link) -> Vec<Fault> {
    let (mut faults, mut at) = (Vec::new(), Duration::ZERO);
    loop {
        let from = at + millis(rng, 300..4_000);
        let to = from + millis(rng, 50..2_000);
        if to > REPAIRED {
            return faults;
        }
        let kind = match rng.u8(0..5) {
            0 => FaultKind::Cut,
            1 => FaultKind::CutToServer,
            2 => FaultKind::CutFromServer,
            3 => FaultKind::Hold,
            _ => FaultKind::Slow(millis(rng, 50..400)),
        };
        faults.push(Fault { link, kind, from, to });
        at = to;
    }
}

fn millis(rng: &mut Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_millis(rng.u64(range))
}
