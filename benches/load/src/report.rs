//! The figures of each row, as a table and as JSON.

use std::{fmt, time::Duration};

use hdrhistogram::Histogram;
use serde::Serialize;

/// What one measurement of one server gave.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Processor time of the server for each request, in microseconds.
    cpu_us: f64,
    /// Answered requests a second.
    per_second: f64,
    /// Latency in microseconds.
    p50_us: u64,
    /// Latency in microseconds.
    p90_us: u64,
    /// Latency in microseconds.
    p99_us: u64,
    /// Latency in microseconds.
    p999_us: u64,
}

/// All rows.
#[derive(Debug, Serialize)]
pub struct Report {
    machine: String,
    /// Resident memory of the server before any call, in KiB.
    idle_resident_kib: u64,
    /// Anonymous part of it.
    idle_anonymous_kib: u64,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    ours: Vec<Figures>,
    bare: Vec<Figures>,
}

impl Figures {
    /// The figures of some requests that took the server this processor time.
    pub fn new(requests: u64, elapsed: Duration, processor: Duration, latency: &Histogram<u64>) -> Self {
        #[allow(clippy::cast_precision_loss)]
        let count = requests.max(1) as f64;
        let at = |quantile| latency.value_at_quantile(quantile);
        Self {
            cpu_us: processor.as_secs_f64() * 1e6 / count,
            per_second: count / elapsed.as_secs_f64(),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
        }
    }
}

impl Report {
    /// A report of a server that took this much memory before any call: resident and anonymous, in KiB.
    pub fn new(machine: String, (idle_resident_kib, idle_anonymous_kib): (u64, u64)) -> Self {
        Self { machine, idle_resident_kib, idle_anonymous_kib, rows: Vec::new() }
    }

    /// Adds a round of a row.
    pub fn add(&mut self, name: &'static str, ours: Figures, bare: Option<Figures>) {
        if self.rows.last().is_none_or(|row| row.name != name) {
            self.rows.push(Row { name, ours: Vec::new(), bare: Vec::new() });
        }
        if let Some(row) = self.rows.last_mut() {
            row.ours.push(ours);
            row.bare.extend(bare);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        let mib = |kib: u64| kib / 1024;
        let (all, anonymous) = (mib(self.idle_resident_kib), mib(self.idle_anonymous_kib));
        writeln!(f, "idle: {all} MiB resident, {anonymous} MiB of it anonymous\n")?;
        writeln!(
            f,
            "{:<24} {:<5} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8}",
            "row", "", "CPU µs", "requests/s", "p50 µs", "p90", "p99", "p99.9"
        )?;
        self.rows.iter().try_for_each(|row| row.fmt(f))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, self.name, "ours", &self.ours)?;
        if self.bare.is_empty() {
            return Ok(());
        }
        line(f, "", "bare", &self.bare)?;
        let ratios = |of: fn(&Figures) -> f64| {
            let pairs = self.ours.iter().zip(&self.bare);
            let mut ratios: Vec<_> = pairs.map(|(ours, bare)| of(ours) / of(bare)).collect();
            ratios.sort_by(f64::total_cmp);
            ratios
        };
        #[allow(clippy::cast_precision_loss)]
        let (cpu, p50) = (ratios(|it| it.cpu_us), ratios(|it| it.p50_us as f64));
        writeln!(f, "{:<24} CPU × {} · p50 × {}", "", spread(&cpu), spread(&p50))
    }
}

/// The median, and from where to where, of sorted figures.
fn spread(sorted: &[f64]) -> String {
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    format!("{:.2} ({least:.2}–{most:.2})", sorted[sorted.len() / 2])
}

/// The medians of some rounds.
fn line(f: &mut fmt::Formatter<'_>, name: &str, side: &str, rounds: &[Figures]) -> fmt::Result {
    let median = |of: fn(&Figures) -> f64| {
        let mut values: Vec<_> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    #[allow(clippy::cast_precision_loss)]
    let columns: [f64; 4] = [
        median(|it| it.p50_us as f64),
        median(|it| it.p90_us as f64),
        median(|it| it.p99_us as f64),
        median(|it| it.p999_us as f64),
    ];
    let [p50, p90, p99, p999] = columns;
    let (cpu, per_second) = (median(|it| it.cpu_us), median(|it| it.per_second));
    writeln!(
        f,
        "{name:<24} {side:<5} {cpu:>8.1} {per_second:>10.0} {p50:>8.0} {p90:>8.0} {p99:>8.0} {p999:>8.0}"
    )
}
