//! Recordings of calls: found until they expire, within the bounds of each user, sealed for one call of one user, and
//! written without a call that waits for it.

use std::time::{Duration, SystemTime};

use crate::support::state;
use secrecy::SecretString;
use toolwire::{
    config::{Calls, RecordLevel},
    db::sql::Statement,
    engine::recordings::{CallData, Found, Missing, Recorder, Settings},
    state::{
        Store,
        recordings::{MAX_BYTES_OF_USER, MAX_ROWS_OF_USER, NewRecording, RETENTION},
    },
    tool::context::CallId,
};

use super::{in_file, now, user};

const TOOL: &str = "get_quotes";

fn recording(of: &str, bytes: usize) -> NewRecording {
    NewRecording { user: user(of), call_id: CallId::generate(), sealed: vec![7; bytes] }
}

/// Keeps recordings as of an instant.
async fn keep(store: &Store, at: SystemTime, recordings: &[NewRecording]) {
    store.at_time(at).keep_recordings(recordings).await.unwrap();
}

async fn is_kept(store: &Store, recording: &NewRecording) -> bool {
    store.recording(recording.call_id).await.unwrap().is_some()
}

#[tokio::test]
async fn a_recording_is_found_for_a_day_and_after_a_restart_and_is_then_deleted() {
    let (store, directory) = in_file();
    let (kept, later) = (recording("riley", 10), recording("riley", 10));
    keep(&store, now(), std::slice::from_ref(&kept)).await;
    // Another one of the same call changes nothing.
    keep(&store, now(), &[NewRecording { sealed: vec![8], ..kept.clone() }]).await;
    keep(&store, now() + Duration::from_secs(1), std::slice::from_ref(&later)).await;
    drop(store);
    let store = state::at(directory.path());
    let found = store.at_time(now()).recording(kept.call_id).await.unwrap().unwrap();
    assert_eq!((found.sealed, found.expires_at), (kept.sealed.clone(), now() + RETENTION));
    assert_eq!(store.recording(CallId::generate()).await.unwrap(), None);
    assert!(!store.sweep_recordings().await.unwrap(), "nothing has expired");
    store.at_time(now() + RETENTION);
    assert!(!is_kept(&store, &kept).await && is_kept(&store, &later).await);
    assert!(store.sweep_recordings().await.unwrap());
    assert!(!store.sweep_recordings().await.unwrap(), "it is deleted");
    assert!(is_kept(&store, &later).await);
}

#[tokio::test]
async fn the_oldest_recordings_of_a_user_make_room_for_bytes() {
    let (store, _directory) = in_file();
    let quarter = usize::try_from(MAX_BYTES_OF_USER / 4).unwrap();
    let (first, other) = (recording("riley", quarter), recording("demo", quarter));
    keep(&store, now(), &[first.clone(), other.clone()]).await;
    let more = [recording("riley", quarter), recording("riley", quarter)];
    keep(&store, now() + Duration::from_secs(1), &more).await;
    assert!(is_kept(&store, &first).await);
    let last = recording("riley", quarter);
    keep(&store, now() + Duration::from_secs(2), std::slice::from_ref(&last)).await;
    assert!(!is_kept(&store, &first).await);
    assert!(is_kept(&store, &other).await && is_kept(&store, &last).await);
}

#[tokio::test]
async fn the_oldest_recordings_of_a_user_make_room_for_rows() {
    let (store, _directory) = in_file();
    let rows = usize::try_from(MAX_ROWS_OF_USER).unwrap();
    let oldest: Vec<_> = (0..3).map(|_| recording("riley", 1)).collect();
    keep(&store, now(), &oldest).await;
    let others: Vec<_> = (3..rows).map(|_| recording("riley", 1)).collect();
    keep(&store, now() + Duration::from_secs(1), &others).await;
    assert!(is_kept(&store, &oldest[0]).await, "as many as there may be");
    let last = [recording("riley", 1), recording("riley", 1), recording("riley", 1), recording("demo", 1)];
    keep(&store, now() + Duration::from_secs(2), &last).await;
    for gone in &oldest {
        assert!(!is_kept(&store, gone).await);
    }
    assert!(is_kept(&store, &others[0]).await && is_kept(&store, &last[0]).await);
}

fn settings(keys: &[&str]) -> Settings {
    let keys: Vec<SecretString> = keys.iter().map(|key| (*key).to_owned().into()).collect();
    let record = if keys.is_empty() { RecordLevel::None } else { RecordLevel::All };
    Settings::new(&Calls { record, keys, ..Calls::default() }).unwrap()
}

fn call(of: &str) -> CallData {
    CallData {
        user: user(of),
        call_id: CallId::generate(),
        tool: TOOL.parse().unwrap(),
        arguments: r#"{"symbol":"AMD"}"#.to_owned(),
        result: Err(Missing::None),
    }
}

/// Records a call, and returns its id once it is written.
async fn record(recorder: &Recorder, call: CallData) -> CallId {
    let call_id = call.call_id;
    recorder.offer(call);
    tokio::select! {
        never = recorder.run() => match never {},
        () = recorder.flush() => call_id,
    }
}

/// The arguments that are read of a user's call; the error says whether they are only unreadable.
async fn arguments(recorder: &Recorder, of: &str, call_id: CallId, tool: &str) -> Result<String, bool> {
    match recorder.find(&user(of), call_id, tool).await.unwrap() {
        Found::Nothing | Found::Pending => Err(false),
        Found::Unreadable => Err(true),
        Found::Recording { contents, .. } => Ok(contents.arguments.unwrap()),
    }
}

#[tokio::test]
async fn what_is_stored_is_sealed_and_opens_for_its_user_call_and_tool_alone() {
    let (store, _directory) = in_file();
    let recorder = Recorder::new(settings(&["first"]), &store);
    let own = record(&recorder, call("riley")).await;
    let sealed = store.recording(own).await.unwrap().unwrap().sealed;
    assert!(!sealed.windows(3).any(|part| part == b"AMD"));
    assert_eq!(arguments(&recorder, "riley", own, TOOL).await.as_deref(), Ok(r#"{"symbol":"AMD"}"#));
    assert_eq!(arguments(&recorder, "demo", own, TOOL).await, Err(true));
    assert_eq!(arguments(&recorder, "riley", own, "get_facts").await, Err(true));
    assert_eq!(arguments(&recorder, "riley", CallId::generate(), TOOL).await, Err(false));
}

#[tokio::test]
async fn rows_that_were_swapped_or_cut_are_unreadable() {
    let (store, _directory) = in_file();
    let recorder = Recorder::new(settings(&["first"]), &store);
    let (own, other) = (record(&recorder, call("riley")).await, record(&recorder, call("demo")).await);
    let change = async |text| state::run(&store, Statement::new(text, Vec::new())).await;
    change(
        "UPDATE recordings SET sealed = (SELECT sealed FROM recordings WHERE user_id = 'demo')
         WHERE user_id = 'riley'",
    )
    .await;
    assert_eq!(arguments(&recorder, "riley", own, TOOL).await, Err(true));
    assert!(arguments(&recorder, "demo", other, TOOL).await.is_ok());
    for cut in ["20", "5", "0"] {
        let text = match cut {
            "20" => "UPDATE recordings SET sealed = substr(sealed, 1, 20)",
            "5" => "UPDATE recordings SET sealed = substr(sealed, 1, 5)",
            _ => "UPDATE recordings SET sealed = substr(sealed, 1, 0)",
        };
        change(text).await;
        assert_eq!(arguments(&recorder, "demo", other, TOOL).await, Err(true), "{cut}");
    }
}

#[tokio::test]
async fn the_first_key_seals_and_all_open() {
    let (store, _directory) = in_file();
    let recorder = Recorder::new(settings(&["old"]), &store);
    let before = record(&recorder, call("riley")).await;
    recorder.replace(settings(&["new", "old"]));
    let after = record(&recorder, call("riley")).await;
    assert!(arguments(&recorder, "riley", before, TOOL).await.is_ok());
    recorder.replace(settings(&["new"]));
    assert_eq!(arguments(&recorder, "riley", before, TOOL).await, Err(true));
    assert!(arguments(&recorder, "riley", after, TOOL).await.is_ok());
    recorder.replace(settings(&[]));
    assert_eq!(arguments(&recorder, "riley", after, TOOL).await, Err(true));
}

#[tokio::test]
async fn a_call_that_finds_the_queue_full_is_not_recorded_and_does_not_wait() {
    let (store, _directory) = in_file();
    let recorder = Recorder::new(settings(&["first"]), &store);
    // Nothing is written meanwhile, and each offer returns.
    let calls: Vec<_> = (0..1_200).map(|_| call("riley")).collect();
    let ids: Vec<_> = calls.iter().map(|it| it.call_id).collect();
    for call in calls {
        recorder.offer(call);
    }
    assert_eq!(store.recording(ids[0]).await.unwrap(), None);
    let next = record(&recorder, call("riley")).await;
    let rows: Vec<i64> =
        state::rows(&store, Statement::new("SELECT count(*) FROM recordings", Vec::new())).await;
    assert_eq!(rows, [1_000]);
    assert!(arguments(&recorder, "riley", ids[999], TOOL).await.is_ok());
    assert_eq!(arguments(&recorder, "riley", next, TOOL).await, Err(false), "there was no place for it");
    let now_recorded = record(&recorder, call("riley")).await;
    assert!(arguments(&recorder, "riley", now_recorded, TOOL).await.is_ok());
}

#[tokio::test]
async fn a_reader_waits_for_what_is_still_to_be_written() {
    let (store, _directory) = in_file();
    let recorder = Recorder::new(settings(&["first"]), &store);
    let offered = call("riley");
    let call_id = offered.call_id;
    recorder.offer(offered);
    let found = tokio::select! {
        biased;
        found = arguments(&recorder, "riley", call_id, TOOL) => found,
        never = recorder.run() => match never {},
    };
    assert!(found.is_ok());
}
