//! Lists of jobs: one's own, a page at a time, in the states that are asked for; over gRPC and at the terminal.

use std::process::Output;

use tokio::process::Command;
use toolwire::contract::proto::agent::v1::{Job, JobState, ListJobsRequest, ListJobsResponse};

use super::{jobs::Then, *};

impl Person {
    async fn list(&self, message: ListJobsRequest) -> Result<ListJobsResponse, Status> {
        Ok(self.jobs().list_jobs(self.request(message)).await?.into_inner())
    }
}

fn ids(page: &ListJobsResponse) -> Vec<String> {
    page.jobs.iter().map(|job| job.job_id.clone()).collect()
}

/// A server on which a user has so many jobs that have ended, and one that runs; their names, the newest first.
async fn with_jobs(name: &str, ended: usize) -> (House, Person, Vec<String>) {
    let house = House::new();
    let person = house.person(name).await;
    let mut names = Vec::new();
    for _ in 0..ended {
        let id = house.start(name, 1, Then::End).await.unwrap();
        // Its place is free once its end is kept.
        person.watch(&id, None, 9).await.unwrap();
        house.server.app.wait_drained().await;
        names.push(id);
    }
    names.push(house.start(name, 1, Then::Hang).await.unwrap());
    house.hung.waits(1).await;
    names.reverse();
    (house, person, names)
}

#[tokio::test]
async fn pages_have_ones_own_jobs_once_each_the_newest_first_and_without_results() {
    let (house, riley, names) = with_jobs("riley", 3).await;
    house.start("sam", 1, Then::End).await.unwrap();
    let all = riley.list(ListJobsRequest::default()).await.unwrap();
    assert_eq!((ids(&all), all.next_page_token.as_str()), (names.clone(), ""));
    let states: Vec<_> = all.jobs.iter().map(Job::state).collect();
    assert_eq!((states[0], states[3]), (JobState::Running, JobState::Succeeded));
    assert!(all.jobs.iter().all(|job| job.result.is_none() && job.result_json.is_empty()));
    let (mut found, mut page_token) = (Vec::new(), String::new());
    loop {
        let page = ListJobsRequest { page_size: 2, page_token, ..Default::default() };
        let page = riley.list(page).await.unwrap();
        found.extend(ids(&page));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    assert_eq!(found, names);
    let running = ListJobsRequest { states: vec![JobState::Running.into()], ..Default::default() };
    assert_eq!(ids(&riley.list(running).await.unwrap()), names[..1]);
}

#[tokio::test]
async fn what_no_list_has_is_refused() {
    let (_house, riley, _) = with_jobs("riley", 1).await;
    let first = riley.list(ListJobsRequest { page_size: 1, ..Default::default() }).await.unwrap();
    let of_another = ListJobsRequest {
        states: vec![JobState::Failed.into()],
        page_token: first.next_page_token,
        ..Default::default()
    };
    for bad in [
        of_another,
        ListJobsRequest { page_size: 101, ..Default::default() },
        ListJobsRequest { page_size: -1, ..Default::default() },
        ListJobsRequest { page_token: "x".to_owned(), ..Default::default() },
        ListJobsRequest { states: vec![0], ..Default::default() },
        ListJobsRequest { states: vec![99], ..Default::default() },
        ListJobsRequest { states: vec![1; 5], ..Default::default() },
    ] {
        assert_refused(riley.list(bad).await, Code::InvalidArgument, "INVALID_REQUEST");
    }
}

#[tokio::test]
async fn the_terminal_lists_shows_and_cancels_jobs() {
    let (house, riley, names) = with_jobs("riley", 1).await;
    let run = async |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        let address = format!("http://{}", house.server.address);
        command.arg("jobs").args(arguments).args(["--server", &address, "--user", "riley"]);
        let Output { status, stdout, stderr } = command.env_remove("TOOLWIRE_SERVER").output().await.unwrap();
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    };
    let listed = run(&[]).await;
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines[1].starts_with(&names[0]) && lines[1].contains("running, 0% (look)"), "{listed}");
    assert!(lines[2].starts_with(&names[1]) && lines[2].contains("succeeded"), "{listed}");
    let of_json = run(&["--in", "succeeded", "--json"]).await;
    let job: Value = serde_json::from_str(of_json.trim()).unwrap();
    assert_eq!((job["job_id"].as_str(), &job["result"]), (Some(names[1].as_str()), &Value::Null));
    // Integers are exact.
    assert!(run(&[&names[1]]).await.contains(r#""n": 9007199254740993"#));
    assert!(run(&[&names[0], "--cancel"]).await.contains("JOB_STATE_CANCELLED"));
    assert_eq!(riley.job(&names[0]).await.unwrap().state(), JobState::Cancelled);
}
