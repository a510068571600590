//! One seed, from its plan to what it broke.

use std::{fmt::Write, thread, time::Duration};

use turmoil::{Builder, Sim};

use crate::{
    caller,
    ledger::{Kept, Ledger},
    plan::{CALLERS, CAP, END, Fault, FaultKind, LATENCY, Plan},
    promises::{self, Applied},
    server::{self, Server},
    source,
};

/// Messages are delivered once in so long.
const TICK: Duration = Duration::from_millis(10);

/// How a run ended.
pub(crate) struct End {
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
    pub(crate) kept: Kept,
    /// What did not hold.
    pub(crate) broken: Vec<String>,
    pub(crate) applied: Applied,
}

/// Names the seed if the run panics.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the panic is of seed {}: TOOLWIRE_SIMULATION_SEED={0} runs it again", self.0);
        }
    }
}

/// Runs a seed to its end.
pub(crate) fn run(seed: u64) -> End {
    let _named = Named(seed);
    // Chances within the product: pauses before a request is repeated.
    fastrand::seed(seed);
    let (plan, ledger) = (Plan::of(seed), Ledger::default());
    let server = Server::new(&ledger);
    let mut sim = Builder::new()
        .rng_seed(seed)
        .tick_duration(TICK)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(LATENCY)
        .simulation_duration(END * 2)
        .tcp_capacity(10_000)
        .build();
    let serving = server.clone();
    sim.host(server::HOST, move || serving.clone().serve());
    let at_source = ledger.clone();
    sim.host(source::HOST, move || source::serve(at_source.clone()));
    for (number, name) in CALLERS.into_iter().enumerate() {
        sim.client(name, caller::run(number, plan.operations[number].clone(), ledger.clone()));
    }
    let mut broken = Vec::new();
    let mut ended = Duration::MAX;
    loop {
        plan.faults.iter().for_each(|fault| change(&sim, fault));
        match sim.step() {
            Ok(are_done) if are_done => ended = ended.min(sim.elapsed()),
            Ok(_) => {}
            Err(error) => {
                broken.push(format!("the callers do not come to an end: {error}"));
                break;
            }
        }
        // What nobody waits for any more has until the cap.
        let has_emptied = server.in_flight().is_empty();
        if sim.elapsed() > ended.saturating_add(CAP) || (has_emptied && ended != Duration::MAX) {
            break;
        }
    }
    let kept = ledger.lock().clone();
    let (found, applied) = promises::look(&plan, &kept, server.in_flight().len());
    broken.extend(found);
    End { seed, plan, kept, broken, applied }
}

/// Breaks a link, or repairs it, if it is time.
fn change(sim: &Sim<'_>, fault: &Fault) {
    let (machine, server) = (fault.link.machine(), server::HOST);
    let is_now = |at: Duration| at >= sim.elapsed() && at < sim.elapsed() + TICK;
    if is_now(fault.from) {
        match fault.kind {
            FaultKind::Cut => sim.partition(machine, server),
            FaultKind::CutToServer => sim.partition_oneway(machine, server),
            FaultKind::CutFromServer => sim.partition_oneway(server, machine),
            FaultKind::Hold => sim.hold(machine, server),
            FaultKind::Slow(latency) => sim.set_link_latency(machine, server, latency),
        }
    }
    if is_now(fault.to) {
        match fault.kind {
            FaultKind::Cut => sim.repair(machine, server),
            FaultKind::CutToServer => sim.repair_oneway(machine, server),
            FaultKind::CutFromServer => sim.repair_oneway(server, machine),
            FaultKind::Hold => sim.release(machine, server),
            FaultKind::Slow(_) => sim.set_link_latency(machine, server, LATENCY),
        }
    }
}

impl End {
    /// What did not hold, and how to see it again.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        if !self.broken.is_empty() {
            let seed = self.seed;
            writeln!(text, "seed {seed}; TOOLWIRE_SIMULATION_SEED={seed} runs it again:").unwrap();
            self.broken.iter().for_each(|what| writeln!(text, "  {what}").unwrap());
        }
        text
    }
}
