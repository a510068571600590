//! Work in the background that a command of a domain starts, followed at the terminal.
//!
//! Of a server's job only the watch ends with the program; a job of this program ends with it.

use std::time::Duration;

use clap::{ArgMatches, Args};
use futures_util::StreamExt;
use tokio::{select, time::sleep};
use tonic::{Code, Status};

use super::{backend::Backend, connection::Connection, json, signals::wait_for_interrupt, words};
use toolwire_agent_api::JobReport;
use toolwire_base::words::visible;
use toolwire_contract::proto::{
    agent::v1::{CancelJobRequest, JobEvent, JobState, WatchJobRequest, watch_job_response::News},
    v1::ResultFormat,
};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::{Command, Domain, StartWork},
};
use toolwire_tool::context::RequestId;

/// Maximum number of times that a lost watch is resumed, and the pause before each.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// Options of a command that follows a job.
#[derive(Clone, Debug, Args)]
pub(super) struct Follow {
    /// Prints every event as one line of JSON
    #[arg(long)]
    json: bool,
    /// Follows this job instead of starting one
    #[arg(long, value_name = "JOB")]
    job: Option<RequestId>,
}

impl Follow {
    pub(super) async fn run(
        &self,
        (command, start): (&Command, &StartWork),
        matches: &ArgMatches,
        connection: &Connection,
        domains: &[Domain],
    ) -> Result<(), Failure> {
        let backend = connection.open_with_state(domains).await?;
        let job_id = match self.job {
            Some(job_id) => job_id.to_string(),
            None => start(matches, backend.server()).await?,
        };
        let done = select! {
            ended = self.follow(&backend, &job_id) => ended,
            () = wait_for_interrupt() => {
                leave(&backend, &job_id, &connection.to_flags()).await;
                Err(Failure::Interrupted)
            }
        };
        let ended = done?;
        let ended = ended.ended.unwrap_or_default();
        if let Some(report) = command.parts.find::<JobReport>().filter(|_| !self.json) {
            console::print((report.0)(&ended).trim_end())?;
        }
        match ended.state() {
            JobState::Succeeded => Ok(()),
            // Its last event was printed, and tells why.
            _ => Err(Failure::Reported),
        }
    }

    /// Follows a job to its last event. A lost watch is resumed.
    async fn follow(&self, backend: &Backend, job_id: &str) -> Result<JobEvent, Failure> {
        let (mut after, mut left) = (None, TRIES);
        loop {
            let lost = match self.watch(backend, job_id, &mut after).await {
                Ok(last) => return Ok(last),
                Err(WatchEnd::Failed(failure)) => return Err(failure),
                Err(WatchEnd::Stream(status)) => status,
            };
            if lost.code() != Code::Unavailable || left == 0 {
                return Err(client::refusal(&lost));
            }
            left -= 1;
            sleep(PAUSE).await;
        }
    }

    /// The last event, if the watch lasts to the end; `after` is the last one printed.
    async fn watch(
        &self,
        backend: &Backend,
        job_id: &str,
        after: &mut Option<u64>,
    ) -> Result<JobEvent, WatchEnd> {
        let format = if self.json { ResultFormat::Struct } else { ResultFormat::Json };
        let request = WatchJobRequest {
            job_id: job_id.to_owned(),
            after_sequence: *after,
            result_format: format.into(),
        };
        let events = backend.jobs().watch_job(request).await?.into_inner();
        let mut events = backend.cancellable(events.boxed());
        while let Some(response) = events.next().await {
            let Some(News::Event(event)) = response?.news else { continue };
            *after = Some(event.sequence);
            if self.json {
                console::json(&json::message(&event))?;
            } else {
                console::say(&visible(&line(&event)));
            }
            if event.ended.is_some() {
                return Ok(event);
            }
        }
        Err(Status::unavailable("the watch ended before the job").into())
    }
}

/// The line of an event, with the word of the command line for the code that a failed job ends with.
fn line(event: &JobEvent) -> String {
    let error = event.ended.as_ref().and_then(|job| job.error.as_ref());
    error.map_or_else(
        || event.line.clone(),
        |error| event.line.replacen(&error.code, words::job_code(&error.code), 1),
    )
}

/// Why a watch is over.
enum WatchEnd {
    Stream(Status),
    /// Anything else.
    Failed(Failure),
}

impl From<Status> for WatchEnd {
    fn from(status: Status) -> Self {
        Self::Stream(status)
    }
}

impl From<Failure> for WatchEnd {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Cancels an own job, and tells how to follow one of a server again.
async fn leave(backend: &Backend, job_id: &str, flags: &str) {
    if backend.is_own() {
        let request = CancelJobRequest { job_id: job_id.to_owned(), ..CancelJobRequest::default() };
        let _ = backend.cancel_job(request).await;
        console::say("\nThe job is cancelled: it ends with this program.");
        return;
    }
    console::say(&format!("\nThe job goes on. To follow it again, add: --job {job_id}{flags}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::proto::agent::v1::{Job, JobError};

    #[test]
    fn a_job_whose_time_is_over_ends_with_the_word_that_a_call_ends_with() {
        let error = JobError { code: "DEADLINE_EXCEEDED".to_owned(), ..JobError::default() };
        let ended = Some(Job { error: Some(error), ..Job::default() });
        let event =
            JobEvent { line: "[50%] DEADLINE_EXCEEDED: it was late".to_owned(), ended, ..Default::default() };
        assert_eq!(line(&event), "[50%] TIMEOUT: it was late");
        assert_eq!(line(&JobEvent { ended: None, ..event }), "[50%] DEADLINE_EXCEEDED: it was late");
    }
}
