//! The machine: which processor a process runs on, and how much time it took.

use std::{fs, time::Duration};

use rustix::{
    param::clock_ticks_per_second,
    thread::{CpuSet, sched_setaffinity},
};

use crate::Result;

/// Keeps this process, and those it starts from now on, on one processor.
pub fn stay_on(processor: usize) -> Result<()> {
    let mut processors = CpuSet::new();
    processors.set(processor);
    sched_setaffinity(None, &processors)?;
    Ok(())
}

/// The processor time that a process has taken so far, all its threads together.
pub fn processor_time(process: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // What follows the name, which may hold anything, up to its last parenthesis.
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in /proc/PID/stat")?;
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    Ok(Duration::from_secs(ticks).div_f64(clock_ticks_per_second() as f64))
}

/// Resident and anonymous memory of a process, in KiB.
pub fn memory(process: u32) -> Result<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or_default()
    };
    Ok((of("VmRSS:"), of("RssAnon:")))
}

/// The processor and the system, in words.
pub fn describe() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models = || cpuinfo.lines().filter_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // Not what this process may use: it keeps to one of them.
    let processors = models().count();
    let model = models().next().map_or("an unknown processor", |(_, name)| name);
    format!("{processors} × {model}, Linux {}", kernel.trim())
}
