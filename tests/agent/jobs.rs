//! Jobs over gRPC: what is said is read in order from any place, who ends one, and whose jobs are whose.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use toolwire::{
    agent::{
        job::{Finished, Run, Workflow},
        service::jobs::Jobs,
    },
    agent_api::JobRequest,
    base::clock,
    contract::proto::agent::v1::{
        CancelJobRequest, GetJobRequest, Job, JobEvent, JobState, WatchJobRequest,
        job_service_client::JobServiceClient, watch_job_response::News,
    },
    state::jobs::JobUpdate,
};

use super::*;

/// Does what it is told: says so many things, and then ends, waits for ever, or panics.
#[derive(Debug)]
struct Task {
    says: u32,
    then: Then,
    hung: Hung,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    End,
    Hang,
    Panic,
}

impl Workflow for Task {
    fn kind(&self) -> &'static str {
        "survey"
    }

    fn run<'a>(&'a self, run: &'a dyn Run) -> BoxFuture<'a, Finished> {
        Box::pin(async move {
            for number in 0..self.says {
                run.say(progress(number)).await;
            }
            match self.then {
                Then::Hang => self.hung.hang().await,
                Then::Panic => panic!("on purpose"),
                Then::End => {}
            }
            Finished { error: None, result: r#"{"n":9007199254740993}"#.to_owned(), said: progress(100) }
        })
    }
}

fn progress(percent: u32) -> JobUpdate {
    JobUpdate { percent, step: "look".to_owned(), message: format!("at {percent}"), call_id: String::new() }
}

impl House {
    fn jobs(&self) -> Arc<Jobs> {
        self.server.app.part()
    }

    /// Starts a job of a user's.
    pub(crate) async fn start(&self, name: &str, says: u32, then: Then) -> Result<String, Status> {
        self.start_as(name, None, says, then, None).await
    }

    async fn start_as(
        &self,
        name: &str,
        request_id: Option<RequestId>,
        says: u32,
        then: Then,
        max_time: Option<Duration>,
    ) -> Result<String, Status> {
        let user = toolwire::tool::context::User::new(name.parse().unwrap());
        let context = toolwire::tool::context::ToolContext::new(user, clock::now() + Duration::from_secs(9));
        let workflow = Arc::new(Task { says, then, hung: self.hung.clone() });
        let wanted = JobRequest { context, request_id, content: json!([says]), max_time, workflow };
        Ok(self.jobs().start(wanted).await?.id.to_string())
    }
}

impl Person {
    pub(crate) fn jobs(&self) -> JobServiceClient<Channel> {
        JobServiceClient::new(self.channel.clone())
    }

    pub(crate) async fn job(&self, job_id: &str) -> Result<Job, Status> {
        let format = ResultFormat::Json.into();
        let request = self.request(GetJobRequest { job_id: job_id.to_owned(), result_format: format });
        Ok(self.jobs().get_job(request).await?.into_inner().job.unwrap())
    }

    async fn cancel_job(&self, job_id: &str) -> Result<Job, Status> {
        let request = self.request(CancelJobRequest { job_id: job_id.to_owned(), ..Default::default() });
        Ok(self.jobs().cancel_job(request).await?.into_inner().job.unwrap())
    }

    /// The events after one, until so many have come or the stream ends.
    pub(crate) async fn watch(
        &self,
        job_id: &str,
        after_sequence: Option<u64>,
        most: usize,
    ) -> Result<Vec<JobEvent>, Status> {
        let job_id = job_id.to_owned();
        let message = WatchJobRequest { job_id, after_sequence, result_format: ResultFormat::Json.into() };
        let mut stream = self.jobs().watch_job(self.request(message)).await?.into_inner();
        let mut events = Vec::new();
        while events.len() < most
            && let Some(response) = stream.message().await?
        {
            if let Some(News::Event(event)) = response.news {
                events.push(event);
            }
        }
        Ok(events)
    }
}

#[tokio::test]
async fn a_watch_goes_on_after_any_event_without_gap_or_duplicate_and_its_end_never_ends_the_job() {
    let house = House::new();
    let riley = house.person("riley").await;
    let job_id = house.start("riley", 3, Then::Hang).await.unwrap();
    // While it runs: each watch ends after one event, and the next goes on after it.
    let mut after = None;
    for sequence in 0..3 {
        let event = riley.watch(&job_id, after, 1).await.unwrap().remove(0);
        assert_eq!(
            (event.sequence, event.line.as_str()),
            (sequence, format!("[{sequence}%] at {sequence}").as_str())
        );
        after = Some(sequence);
    }
    house.hung.waits(1).await;
    assert_eq!(riley.job(&job_id).await.unwrap().state(), JobState::Running);
    let rest = tokio::spawn({
        let (riley, job_id) = (riley.clone(), job_id.clone());
        async move { riley.watch(&job_id, Some(2), 9).await.unwrap() }
    });
    riley.cancel_job(&job_id).await.unwrap();
    let rest = rest.await.unwrap();
    assert_eq!((rest.len(), rest[0].sequence), (1, 3));
    let ended = rest[0].ended.clone().unwrap();
    assert_eq!((ended.state(), ended.percent, ended.events), (JobState::Cancelled, 2, 4));
    // And after its end, from any place.
    let all = riley.watch(&job_id, None, 9).await.unwrap();
    for (next, from) in (1..).zip(0..4) {
        let after = riley.watch(&job_id, Some(from), 9).await.unwrap();
        assert_eq!(after, all[next..]);
    }
    let beyond = riley.watch(&job_id, Some(4), 9).await;
    assert_refused(beyond, Code::OutOfRange, "NO_SUCH_EVENT");
}

#[tokio::test]
async fn a_result_is_exact_and_comes_with_the_last_event() {
    let house = House::new();
    let riley = house.person("riley").await;
    let job_id = house.start("riley", 1, Then::End).await.unwrap();
    let events = riley.watch(&job_id, None, 9).await.unwrap();
    let ended = events.last().unwrap().ended.clone().unwrap();
    assert_eq!((ended.state(), ended.percent), (JobState::Succeeded, 100));
    assert_eq!(ended.result_json, r#"{"n":9007199254740993}"#);
    assert_eq!(events[..events.len() - 1].iter().filter(|it| it.ended.is_some()).count(), 0);
    assert_eq!(riley.job(&job_id).await.unwrap(), ended);
}

#[tokio::test]
async fn a_user_has_one_job_at_a_time_and_a_repeat_gets_the_job_it_started() {
    let house = House::new();
    let riley = house.person("riley").await;
    let id = RequestId::generate();
    let first = house.start_as("riley", Some(id), 1, Then::Hang, None).await.unwrap();
    assert_eq!(first, id.to_string());
    assert_eq!(house.start_as("riley", Some(id), 1, Then::Hang, None).await.unwrap(), first);
    let reused = house.start_as("riley", Some(id), 2, Then::Hang, None).await;
    assert_refused(reused, Code::AlreadyExists, "REQUEST_ID_REUSED");
    let words = assert_refused(house.start("riley", 1, Then::End).await, Code::Aborted, "JOB_RUNNING");
    assert!(words.contains(&first), "{words}");
    // The same name of another user's is another job.
    assert!(house.start_as("sam", Some(id), 2, Then::End, None).await.is_ok());
    house.hung.waits(1).await;
    assert_eq!(riley.cancel_job(&first).await.unwrap().state(), JobState::Cancelled);
    house.hung.wait_dropped(1).await;
    // Again: the same answer.
    assert_eq!(riley.cancel_job(&first).await.unwrap().state(), JobState::Cancelled);
    assert_eq!(house.start_as("riley", Some(id), 1, Then::Hang, None).await.unwrap(), first);
    assert!(house.start("riley", 1, Then::End).await.is_ok());
}

#[tokio::test]
async fn the_jobs_of_others_are_unknown() {
    let house = House::new();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    let theirs = house.start("riley", 1, Then::Hang).await.unwrap();
    for id in [theirs.clone(), new_id(), "nonsense".to_owned()] {
        let words = format!("no job {id} of yours");
        assert_eq!(assert_refused(sam.job(&id).await, Code::NotFound, "UNKNOWN_JOB"), words);
        assert_eq!(assert_refused(sam.cancel_job(&id).await, Code::NotFound, "UNKNOWN_JOB"), words);
        assert_eq!(assert_refused(sam.watch(&id, None, 1).await, Code::NotFound, "UNKNOWN_JOB"), words);
    }
    assert_eq!(riley.job(&theirs).await.unwrap().state(), JobState::Running);
}

#[tokio::test]
async fn a_job_ends_by_its_deadline_or_a_panic_and_says_so() {
    let house = House::new();
    let riley = house.person("riley").await;
    let short = Some(Duration::from_millis(20));
    let late = house.start_as("riley", None, 1, Then::Hang, short).await.unwrap();
    let ended = riley.watch(&late, None, 9).await.unwrap().pop().unwrap().ended.unwrap();
    let error = ended.error.clone().unwrap();
    assert_eq!(
        (ended.state(), error.code.as_str(), error.retryable),
        (JobState::Failed, "DEADLINE_EXCEEDED", true)
    );
    let broken = loop {
        // Its place is free once its end is kept.
        if let Ok(id) = house.start("riley", 1, Then::Panic).await {
            break id;
        }
    };
    let ended = riley.watch(&broken, None, 9).await.unwrap().pop().unwrap().ended.unwrap();
    assert_eq!(ended.error.unwrap().code, "INTERNAL");
    let far = Some(Duration::from_hours(1));
    assert_refused(
        house.start_as("sam", None, 1, Then::End, far).await,
        Code::InvalidArgument,
        "INVALID_REQUEST",
    );
    house.jobs().wait_empty().await;
    assert_eq!(house.jobs().running(), 0);
}

#[tokio::test]
async fn a_server_that_ends_interrupts_its_jobs_and_keeps_that() {
    let house = House::new();
    let job_id = house.start("riley", 1, Then::Hang).await.unwrap();
    house.hung.waits(1).await;
    let House { server, _state: state, hung } = house;
    let app = server.app.clone();
    server.shut_down().await;
    hung.wait_dropped(1).await;
    let riley = toolwire::tool::context::User::new("riley".parse().unwrap());
    let job = app.part::<Jobs>().get(&riley, &job_id).await.unwrap();
    assert_eq!(job.error.unwrap().code, "INTERRUPTED");
    drop(state);
}

#[tokio::test]
async fn so_many_jobs_run_at_once_and_no_more() {
    let house = House::new();
    for number in 0..64 {
        house.start(&format!("user{number}"), 0, Then::Hang).await.unwrap();
    }
    let refused = house.start("riley", 0, Then::End).await;
    let status = refused.unwrap_err();
    assert!(status.get_details_retry_info().is_some(), "{status:?}");
    assert_refused::<()>(Err(status), Code::ResourceExhausted, "TOO_MANY_JOBS");
}
