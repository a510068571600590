//! `toolwire jobs`: background work, its outcome, and its cancellation.
//!
//! Not here: following a job, which the command that starts its kind does (`job`).

use clap::{Args, ValueEnum};

use super::{
    backend::{Backend, into_answer, require},
    connection::Connection,
    json,
    signals::unless_interrupted,
    table::Table,
    words,
};
use toolwire_base::words::visible;
use toolwire_contract::proto::{
    agent::v1::{CancelJobRequest, GetJobRequest, Job, JobState, ListJobsRequest},
    v1::ResultFormat,
};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Page size of requests.
const PAGE: i32 = 100;

/// Lists your jobs, the newest first. Shows one of them with its result
#[derive(Debug, Args)]
pub(super) struct Jobs {
    /// A job, shown whole; without it they are listed
    #[arg(value_name = "JOB")]
    job: Option<String>,
    /// Lists only jobs in this state; may be repeated
    #[arg(long = "in", value_enum, value_name = "STATE", conflicts_with = "job")]
    in_state: Vec<StateArg>,
    /// Cancels the job, and the calls it is making
    #[arg(long, requires = "job")]
    cancel: bool,
    /// Prints each as one JSON line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

/// The states by their words.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum StateArg {
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

impl From<StateArg> for JobState {
    fn from(state: StateArg) -> Self {
        match state {
            StateArg::Running => Self::Running,
            StateArg::Succeeded => Self::Succeeded,
            StateArg::Failed => Self::Failed,
            StateArg::Cancelled => Self::Cancelled,
        }
    }
}

impl Jobs {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        unless_interrupted(self.carry_out(domains)).await
    }

    async fn carry_out(&self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open_with_state(domains).await?;
        match &self.job {
            Some(job) if self.cancel => self.end(&backend, job.clone()).await,
            Some(job) => self.show(&backend, job.clone()).await,
            None => self.list(&backend).await,
        }
    }

    async fn show(&self, backend: &Backend, job_id: String) -> Result<(), Failure> {
        let request = GetJobRequest { job_id, result_format: ResultFormat::Json.into() };
        let job = require(into_answer(backend.jobs().get_job(request)).await?.job)?;
        let job = json::job(&job);
        if self.json { console::json(&job).map(|_| ()) } else { console::json_pretty(&job) }
    }

    async fn end(&self, backend: &Backend, job_id: String) -> Result<(), Failure> {
        let request = CancelJobRequest { job_id, ..CancelJobRequest::default() };
        backend.cancel_job(request.clone()).await.map_err(|status| client::refusal(&status))?;
        self.show(backend, request.job_id).await
    }

    async fn list(&self, backend: &Backend) -> Result<(), Failure> {
        let states: Vec<_> = self.in_state.iter().map(|state| JobState::from(*state).into()).collect();
        let (mut jobs, mut page_token) = (Vec::new(), String::new());
        loop {
            let request = ListJobsRequest { states: states.clone(), page_size: PAGE, page_token };
            let page = into_answer(backend.jobs().list_jobs(request)).await?;
            jobs.extend(page.jobs);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return self.print(&jobs);
            }
        }
    }

    fn print(&self, jobs: &[Job]) -> Result<(), Failure> {
        if self.json {
            return console::json_lines(jobs.iter().map(json::job));
        }
        if jobs.is_empty() {
            console::say("no such jobs");
            return Ok(());
        }
        Table::new(jobs.iter().map(row))
            .with_heading(["JOB", "KIND", "STATE", "BEGAN"])
            .with_ids(0)
            .with_short(&[3])
            .with_dispensable(&[1])
            .print()
    }
}

/// `running, 35% (drill_down)`, `failed: BLOCKED`.
fn row(job: &Job) -> [String; 4] {
    let word = job.state().as_str_name().trim_start_matches("JOB_STATE_").to_lowercase();
    let state = match (job.state(), &job.error) {
        (JobState::Running, _) => format!("{word}, {}% ({})", job.percent, visible(&job.step)),
        (_, Some(error)) => format!("{word}: {}", visible(words::job_code(&error.code))),
        (_, None) => word,
    };
    let began = job.created_at.as_ref().map(ToString::to_string).unwrap_or_default();
    [job.job_id.clone(), visible(&job.kind), state, began]
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::proto::agent::v1::JobError;

    #[test]
    fn a_job_on_a_line_says_how_far_it_is_or_why_it_failed() {
        let job = |state: JobState, error: Option<&str>| Job {
            state: state.into(),
            percent: 35,
            step: "drill_down".to_owned(),
            error: error.map(|code| JobError { code: code.to_owned(), ..JobError::default() }),
            ..Job::default()
        };
        let state = |job: Job| row(&job)[2].clone();
        assert_eq!(state(job(JobState::Running, None)), "running, 35% (drill_down)");
        assert_eq!(state(job(JobState::Failed, Some("BLOCKED"))), "failed: BLOCKED");
        assert_eq!(state(job(JobState::Failed, Some("DEADLINE_EXCEEDED"))), "failed: TIMEOUT");
        assert_eq!(state(job(JobState::Succeeded, None)), "succeeded");
    }
}
