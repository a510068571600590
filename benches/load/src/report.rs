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
    idle_resident_kib: u64,
    idle_anonymous_kib: u64,
    rows: Vec<Row>,
}

/// The rounds of one row.
#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    /// The first is what the others are compared with.
    sides: Vec<Side>,
}

/// The rounds of one server.
#[derive(Debug, Serialize)]
struct Side {
    name: String,
    rounds: Vec<Figures>,
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

    /// Adds a round of a server to a row.
    pub fn add(&mut self, row: &'static str, side: &str, figures: Figures) {
        if self.rows.last().is_none_or(|last| last.name != row) {
            self.rows.push(Row { name: row, sides: Vec::new() });
        }
        let Some(row) = self.rows.last_mut() else { return };
        match row.sides.iter_mut().find(|it| it.name == side) {
            Some(side) => side.rounds.push(figures),
            None => row.sides.push(Side { name: side.to_owned(), rounds: vec![figures] }),
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
            "{:<24} {:<12} {:>9} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}",
            "row", "", "CPU µs", "per CPU s", "per s", "p50 µs", "p90", "p99", "p99.9"
        )?;
        self.rows.iter().try_for_each(|row| row.fmt(f))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.sides.split_first() else { return Ok(()) };
        line(f, self.name, first)?;
        others.iter().try_for_each(|side| line(f, "", side))?;
        others.iter().try_for_each(|side| {
            #[allow(clippy::cast_precision_loss)]
            let p50 = ratios(first, side, |it| it.p50_us as f64);
            let cpu = ratios(first, side, |it| it.cpu_us);
            let (first, side) = (&first.name, &side.name);
            writeln!(f, "{:<24} {first} / {side}: CPU × {} · p50 × {}", "", spread(&cpu), spread(&p50))
        })
    }
}

/// What the first is to the second, round by round, sorted.
fn ratios(first: &Side, second: &Side, of: fn(&Figures) -> f64) -> Vec<f64> {
    let pairs = first.rounds.iter().zip(&second.rounds);
    let mut ratios: Vec<_> = pairs.map(|(first, second)| of(first) / of(second)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

/// The median, and from where to where, of sorted figures.
fn spread(sorted: &[f64]) -> String {
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    let middle = sorted[sorted.len() / 2];
    // A small ratio needs its digits.
    let digits = if middle < 0.2 { 4 } else { 2 };
    format!("{middle:.digits$} ({least:.digits$}–{most:.digits$})")
}

/// The medians of some rounds.
fn line(f: &mut fmt::Formatter<'_>, name: &str, Side { name: side, rounds }: &Side) -> fmt::Result {
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
    let per_cpu_second = 1e6 / cpu;
    writeln!(
        f,
        "{name:<24} {side:<12} {cpu:>9.1} {per_cpu_second:>10.0} {per_second:>10.0} {p50:>8.0} {p90:>8.0} {p99:>8.0} {p999:>8.0}"
    )
}
