//! `debug_sleep`: takes as long as its input says.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{or_zero, provenance, stop_record::StopRecord};
use crate::proto::v1::{DebugSleepInput, DebugSleepOutput};
use toolwire_base::clock;
use toolwire_contract::convert;
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished},
};

/// Waits, and reports progress where asked.
#[derive(Clone, Copy, Debug)]
pub struct DebugSleep;

impl Tool for DebugSleep {
    const NAME: &'static str = "debug_sleep";
    type Input = DebugSleepInput;
    type Output = DebugSleepOutput;

    async fn execute(
        &self,
        input: DebugSleepInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugSleepOutput>, Unfinished> {
        let record = StopRecord::begin(Self::NAME, context);
        let started = clock::now();
        let end = started + or_zero(input.duration);
        let interval = or_zero(input.progress_interval);
        while clock::now() < end {
            sleep_until(next_stop(interval, end)).await;
            report(context, interval, started, end);
        }
        record.complete();
        let slept = convert::duration(clock::now() - started);
        Ok(Reply { data: DebugSleepOutput { slept: Some(slept) }, provenance: provenance() })
    }
}

fn next_stop(interval: Duration, end: Instant) -> Instant {
    if interval.is_zero() { end } else { end.min(clock::now() + interval) }
}

fn report(context: &ToolContext, interval: Duration, started: Instant, end: Instant) {
    if interval.is_zero() {
        return;
    }
    let slept = clock::now() - started;
    let fraction = slept.as_secs_f64() / (end - started).as_secs_f64();
    context.events.progress(Some(fraction.min(1.0)), format!("Slept for {:.1} s", slept.as_secs_f64()));
}
