//! Resource usage of the process, by the semantic conventions for processes: read from `/proc` on each scrape.
//!
//! Without `/proc`, nothing is reported.

use std::fs;

use opentelemetry::{KeyValue, metrics::Meter};

use super::name;
use toolwire_base::backlog;

/// The unit of CPU time in `/proc/PID/stat`: `USER_HZ`, which is 100 on every platform that Linux presents it on today.
const TICKS_A_SECOND: f64 = 100.0;

/// CPU time, in seconds.
#[derive(Debug, PartialEq)]
struct Cpu {
    user: f64,
    system: f64,
}

/// Declares the instruments, which look when they are read.
pub(super) fn declare(meter: &Meter) {
    let cpu = meter.f64_observable_counter(name::PROCESS_CPU_TIME).with_unit("s");
    cpu.with_description("CPU time taken.")
        .with_callback(|observer| {
            let Some(Cpu { user, system }) = file("stat").as_deref().and_then(cpu_in) else { return };
            observer.observe(user, &[KeyValue::new(name::CPU_MODE, "user")]);
            observer.observe(system, &[KeyValue::new(name::CPU_MODE, "system")]);
        })
        .build();
    let amount = |name, unit, about, read: fn() -> Option<i64>| {
        let instrument = meter.i64_observable_up_down_counter(name).with_unit(unit).with_description(about);
        instrument
            .with_callback(move |observer| read().into_iter().for_each(|it| observer.observe(it, &[])))
            .build();
    };
    amount(name::PROCESS_MEMORY_USAGE, "By", "Physical memory held.", || {
        status("VmRSS:").map(|kib| kib * 1_024)
    });
    amount(name::PROCESS_THREADS, "{thread}", "Threads.", || status("Threads:"));
    let runtime = tokio::runtime::Handle::try_current().ok();
    let tasks =
        meter.u64_observable_gauge(name::TASKS).with_description("Tasks of the runtime that have not ended.");
    let alive = move || runtime.as_ref().map(|runtime| runtime.metrics().num_alive_tasks() as u64);
    tasks.with_callback(move |observer| alive().into_iter().for_each(|it| observer.observe(it, &[]))).build();
    amount(name::UNREAD, "By", "Bytes that wait for peers.", || {
        i64::try_from(backlog::held_by_process()).ok()
    });
    amount(name::PROCESS_OPEN_FDS, "{file_descriptor}", "Open file descriptors.", || {
        i64::try_from(fs::read_dir("/proc/self/fd").ok()?.count()).ok()
    });
}

fn file(name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/self/{name}")).ok()
}

fn status(field: &str) -> Option<i64> {
    number_in(&file("status")?, field)
}

/// The number of a field of `/proc/PID/status`.
fn number_in(status: &str, field: &str) -> Option<i64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(field))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// `utime` and `stime` of `/proc/PID/stat` (proc(5)): the 14th and 15th fields. The second may hold spaces and
/// brackets.
fn cpu_in(stat: &str) -> Option<Cpu> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_A_SECOND);
    Some(Cpu { user: seconds()?, system: seconds()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_kernel_are_understood() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 10 0 0 0 250 75 0 0 20 0 9 0 100 1 1";
        assert_eq!(cpu_in(stat), Some(Cpu { user: 2.5, system: 0.75 }));
        let status = "Name:\tx\nVmRSS:\t   1234 kB\nThreads:\t9\n";
        assert_eq!((number_in(status, "VmRSS:"), number_in(status, "Threads:")), (Some(1_234), Some(9)));
        assert_eq!((cpu_in("7 (x"), number_in(status, "VmSwap:")), (None, None));
    }
}
