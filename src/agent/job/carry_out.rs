//! Carries a job out to its end, which is stored whatever happens. Not here: what the workflow does.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use tokio::{
    select,
    time::{sleep, sleep_until},
};

use super::{Finished, JobRun, Run, Workflow};
use toolwire_base::clock;
use toolwire_state::jobs::{Ending, Failure, State};
use toolwire_telemetry::metric;

/// The pause between attempts to store an end.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Why a job ends before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its user cancelled it, and that is stored already.
    Cancelled,
    Interrupted,
}

/// Carries a job out until it has ended or is stopped.
pub async fn carry_out(workflow: &dyn Workflow, run: &JobRun, stopped: impl Future<Output = Stop>) {
    let began = clock::now();
    let work = AssertUnwindSafe(workflow.run(run)).catch_unwind();
    let ending = select! {
        // A stop or an end elsewhere is stored already: it wins over what the workflow still brings.
        biased;
        stop = stopped => match stop {
            Stop::Cancelled => Ending::cancelled(),
            Stop::Interrupted => Ending::failed(Failure::interrupted(), String::new()),
        },
        // Another process of the same state ended it, and that is stored already.
        () = run.wait_lost() => Ending::cancelled(),
        () = sleep_until(run.context().deadline.at()) => Ending::failed(late(), String::new()),
        finished = work => finished.map_or_else(|_| Ending::failed(broken(run), String::new()), to_ending),
    };
    tracing::info!(
        target: "toolwire::agent",
        user_id = %run.context().user.id,
        job_id = %run.id(),
        kind = workflow.kind(),
        state = ending.state.into_str(),
        error = ending.error.as_ref().map(|error| error.code.as_str()),
        took_ms = toolwire_telemetry::milliseconds(clock::now() - began),
        "job"
    );
    metric::cycle_ended("job", run.calls());
    keep(run, &ending).await;
}

fn to_ending(finished: Finished) -> Ending {
    let Finished { error, result, said } = finished;
    let state = if error.is_some() { State::Failed } else { State::Succeeded };
    // The message of a failure is that of its error.
    let said = error.is_none().then_some(said);
    Ending { state, error, result, said }
}

/// Stores the end. Until it is stored no other job can start, so it is tried until it succeeds or the process ends.
async fn keep(run: &JobRun, ending: &Ending) {
    let (store, user) = (run.store(), &run.context().user.id);
    while let Err(error) = store.end_job(user, run.id(), ending).await {
        tracing::error!(%error, job_id = %run.id(), "the end of a job cannot be kept yet");
        sleep(RETRY_INTERVAL).await;
    }
}

/// The failure of a job whose time is over.
fn late() -> Failure {
    Failure {
        code: "DEADLINE_EXCEEDED".to_owned(),
        message: "its time was over before it was done; start it again with more".to_owned(),
        retryable: true,
    }
}

/// The failure of a job that panicked. The message of the panic is in the log alone.
fn broken(run: &JobRun) -> Failure {
    Failure {
        code: "INTERNAL".to_owned(),
        message: format!("internal error; quote job_id {} to the operator", run.id()),
        retryable: false,
    }
}
