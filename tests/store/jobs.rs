//! Jobs: begun once, one a user at a time, what they say in order and without gap, ended once, and forgotten in time.

use std::{sync::Arc, time::Duration};

use crate::support::state;
use toolwire::{
    base::digest::Digest,
    state::{
        Store,
        jobs::{
            Begun, Ending, Event, Failure, JobId, JobUpdate, MAX_JOBS_PER_USER, NewJob, RETENTION, State,
        },
    },
    tool::context::RequestId,
};

use super::{SECOND, in_file, now, user};

fn new(name: &str, content: &str) -> NewJob {
    NewJob {
        user: user(name),
        id: RequestId::generate(),
        digest: Digest::of_bytes(content.as_bytes()),
        kind: "survey".to_owned(),
        deadline: now() + 60 * SECOND,
    }
}

fn said(percent: u32, message: &str) -> JobUpdate {
    JobUpdate { percent, step: "look".to_owned(), message: message.to_owned(), call_id: String::new() }
}

pub(super) async fn begun(store: &Store, name: &str) -> JobId {
    let new = new(name, "a");
    match store.at_time(now()).begin_job(&new).await.unwrap() {
        Begun::New(job) => assert_eq!((job.id, job.state, job.next), (new.id, State::Running, 0)),
        other => panic!("{other:?}"),
    }
    new.id
}

async fn events(store: &Store, name: &str, id: JobId, from: u64) -> Vec<Event> {
    store.job_events(&user(name), id, from, 100).await.unwrap()
}

#[tokio::test]
async fn what_a_job_says_is_read_in_order_from_any_place_and_its_percentage_never_falls() {
    let (store, _directory) = in_file();
    let id = begun(&store, "riley").await;
    for (percent, message) in [(10, "one"), (30, "two"), (20, "three")] {
        assert!(
            store.at_time(now()).append_job_event(&user("riley"), id, &said(percent, message)).await.unwrap()
        );
    }
    let done = Ending::succeeded(r#"{"n":1}"#.to_owned(), said(100, "done"));
    assert!(store.at_time(now() + SECOND).end_job(&user("riley"), id, &done).await.unwrap());
    let all = events(&store, "riley", id, 0).await;
    let read: Vec<_> = all.iter().map(|it| (it.sequence, it.said.percent, it.is_last)).collect();
    assert_eq!(read, [(0, 10, false), (1, 30, false), (2, 30, false), (3, 100, true)]);
    for (next, from) in (0..).zip(0..=4) {
        assert_eq!(events(&store, "riley", id, from).await, all[next..]);
    }
    assert_eq!(events(&store, "sam", id, 0).await, []);
    let job = store.job(&user("riley"), id).await.unwrap().unwrap();
    assert_eq!((job.state, job.percent, job.next), (State::Succeeded, 100, 4));
    assert_eq!((job.result.as_str(), job.ended_at), (r#"{"n":1}"#, Some(now() + SECOND)));
}

#[tokio::test]
async fn whoever_ends_a_job_first_does_and_nothing_is_said_after_its_end() {
    let (store, _directory) = in_file();
    let id = begun(&store, "riley").await;
    let riley = user("riley");
    store.at_time(now()).append_job_event(&riley, id, &said(10, "one")).await.unwrap();
    let ends: Vec<_> = (0..8)
        .map(|number| {
            let (store, riley) = (Arc::clone(&store), riley.clone());
            let ending = if number % 2 == 0 {
                Ending::cancelled()
            } else {
                Ending::failed(Failure::interrupted(), String::new())
            };
            tokio::spawn(async move { store.at_time(now()).end_job(&riley, id, &ending).await.unwrap() })
        })
        .collect();
    let mut winners = 0;
    for end in ends {
        winners += usize::from(end.await.unwrap());
    }
    assert_eq!(winners, 1);
    assert!(!store.at_time(now()).append_job_event(&riley, id, &said(50, "late")).await.unwrap());
    let all = events(&store, "riley", id, 0).await;
    assert_eq!((all.len(), all[1].is_last, all[1].said.percent), (2, true, 10));
}

#[tokio::test]
async fn a_job_whose_process_is_gone_is_over_and_keeps_nobody_from_another() {
    let (store, directory) = in_file();
    let (riley, sam) = (begun(&store, "riley").await, begun(&store, "sam").await);
    store.at_time(now()).append_job_event(&user("riley"), riley, &said(30, "one")).await.unwrap();
    let other = state::at(directory.path());
    assert_eq!(other.at_time(now()).interrupt_jobs().await.unwrap(), 0, "its process is there");
    assert_eq!(other.at_time(now()).begin_job(&new("riley", "b")).await.unwrap(), Begun::Running(riley));
    drop(store);
    // Of its own accord, before another begins; the rest when somebody looks.
    let begins = async || other.at_time(now()).begin_job(&new("riley", "b")).await.unwrap();
    state::until(async || matches!(begins().await, Begun::New(_))).await;
    assert_eq!(other.at_time(now()).interrupt_jobs().await.unwrap(), 0);
    for (name, id) in [("riley", riley), ("sam", sam)] {
        let job = other.job(&user(name), id).await.unwrap().unwrap();
        let error = job.error.unwrap();
        assert_eq!((job.state, error.code.as_str(), error.retryable), (State::Failed, "INTERRUPTED", true));
        assert!(events(&other, name, id, 0).await.last().unwrap().is_last);
    }
}

#[tokio::test]
async fn a_user_keeps_the_newest_jobs_and_no_job_for_ever() {
    let (store, _directory) = in_file();
    let mut ids = Vec::new();
    for _ in 0..MAX_JOBS_PER_USER + 2 {
        let id = begun(&store, "riley").await;
        assert!(store.at_time(now()).end_job(&user("riley"), id, &Ending::cancelled()).await.unwrap());
        ids.push(id);
    }
    let kept = async |id: JobId| store.job(&user("riley"), id).await.unwrap().is_some();
    assert!(!kept(ids[0]).await && kept(ids[2]).await);
    assert_eq!(events(&store, "riley", ids[0], 0).await, []);
    while store.at_time(now() + RETENTION - Duration::from_secs(1)).sweep_jobs().await.unwrap() {}
    assert!(kept(ids[2]).await);
    while store.at_time(now() + RETENTION).sweep_jobs().await.unwrap() {}
    assert!(!kept(ids[2]).await && !kept(*ids.last().unwrap()).await);
}
