//! A state file that an earlier program wrote opens, and everything in it is read back through the program.

use std::{fs, process::Command};

use prost_reflect::DescriptorPool;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwire::{
    db::StoreError,
    state::{
        Store,
        backup::{self, BackupError},
        results::Results,
    },
};

use super::now;

/// The keys of the results in the file: of `get_technicals`, `get_stock_thesis` and `get_news`.
const RESULTS: [&str; 3] = [
    "07f7c4df0c3e02cf63d8c8178816cd8ada916b23823a6188f3be9562eef41188",
    "73526eb2b15c478548ef62dd5b0bc022f9181c2e0a104a9dc39df8a08d5d5d40",
    "c7503c56376dd0619605480fe6e14995efc6f8286361c7c99b87cfab7a69f16d",
];

/// A copy of the file in a directory of its own.
fn copy() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/state/toolwire-0.1.db");
    fs::write(directory.path().join("toolwire.db"), fs::read(kept).unwrap()).unwrap();
    directory
}

/// What `toolwire call` prints: data, or else what it says of the failure.
fn call(state: &TempDir, arguments: &[&str]) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.arg("call").args(arguments).arg("--state").arg(state.path());
    let ended = command.output().unwrap();
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    // Without the lines between which text of others stands.
    let data: String = shown.lines().filter(|line| !line.starts_with("-----")).collect();
    serde_json::from_str(&data).map_err(|_| String::from_utf8_lossy(&ended.stderr).into_owned())
}

/// The request identifiers in the file differ in their last digit.
fn request_id(digit: u8) -> String {
    format!("00000000-0000-4000-8000-00000000000{digit}")
}

fn repeat(state: &TempDir, digit: u8, arguments: &[&str]) -> Result<Value, String> {
    call(state, &[arguments, &["--request-id", &request_id(digit)]].concat())
}

fn symbols(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["symbol"].as_str().unwrap()).collect()
}

#[test]
fn calls_that_an_earlier_program_recorded_are_answered_from_its_record() {
    let state = copy();
    let tcs = ["add_to_watchlist", "symbol=TCS", "note=wait for the results"];
    // It is watched already: carried out again, nothing would have been added.
    assert_eq!(repeat(&state, 1, &tcs), Ok(json!({"symbol": "TCS", "added": true, "items_count": 1})));
    let infy = repeat(&state, 2, &["add_to_watchlist", "symbol=INFY", "--user", "riley"]).unwrap();
    assert_eq!(infy["added"], true);
    let unknown = repeat(&state, 3, &["add_to_watchlist", "symbol=NOSUCHSTOCK"]).unwrap_err();
    assert!(unknown.contains("NOT_FOUND: Unknown symbol 'NOSUCHSTOCK'"), "{unknown}");
    let write = ["debug_write", "value=kept", "--diagnostics"];
    assert_eq!(repeat(&state, 4, &write).unwrap()["written_at"], "2026-11-22T01:02:01.589Z");
    let unfinished = repeat(&state, 5, &write).unwrap_err();
    assert!(unfinished.contains("OUTCOME_UNKNOWN"), "{unfinished}");
}

#[test]
fn screens_and_watch_lists_of_an_earlier_program_are_served() {
    let state = copy();
    let screen = call(&state, &["browse_screener"]).unwrap();
    assert_eq!((&screen["from_cache"], &screen["stocks_count"]), (&json!(true), &json!(58)));
    assert_eq!(screen["last_updated"], "2026-01-16T10:00:00Z", "that of the prices, whenever they were read");
    let again = call(&state, &["browse_screener", "force_refresh=true"]).unwrap();
    assert_eq!(again["from_cache"], true, "the day's scrape is spent");
    let all = call(&state, &["browse_watchlist", "source=all"]).unwrap();
    assert_eq!(all["items"].as_array().unwrap().len(), 58);
    let watched = call(&state, &["browse_watchlist"]).unwrap();
    assert_eq!(symbols(&watched["items"]), ["TCS"], "what the user picked");
    let tcs = watched["items"].as_array().unwrap().iter().find(|item| item["symbol"] == "TCS").unwrap();
    assert_eq!(
        *tcs,
        json!({
            "symbol": "TCS", "name": "Tata Consultancy Services", "source": "user", "note": "wait for the results",
            "added_at": "2026-11-22T01:01:51Z", "updated_at": "2026-11-22T01:02:05Z", "cmp": 3206.4,
            "cmp_at": "2026-01-16T10:00:00Z",
        })
    );
    let live = ["--sources", "embedded,screener=live"];
    let watched = call(&state, &[&["browse_watchlist"][..], &live].concat()).unwrap();
    assert_eq!(symbols(&watched["items"]), ["HDFCBANK"], "what live sources left is apart");

    let config = state.path().join("toolwire.toml");
    let own =
        "[[sources.screener.screens]]\nuser_id = 'demo'\nscreen_id = 'default'\npath = 'screens/1/mine/'";
    fs::write(&config, own).unwrap();
    let own = ["browse_screener", "--config", config.to_str().unwrap()];
    let screen = call(&state, &[&own[..], &live].concat()).unwrap();
    assert_eq!((&screen["screen_name"], &screen["from_cache"]), (&json!("My own screen"), &json!(true)));
    assert_eq!(symbols(&screen["stocks"]), ["TCS", "ITC"]);
    assert_eq!((&screen["stocks"][0]["pe"], &screen["stocks"][1]["pe"]), (&json!(null), &json!(24.5)));
}

#[test]
fn cool_downs_that_an_earlier_program_began_still_hold() {
    let live = ["symbol=TCS", "--sources", "embedded,nse=live"];
    let refused = call(&copy(), &[&["get_institutional_holdings"], &live[..]].concat()).unwrap_err();
    assert!(refused.contains("BLOCKED: NSE refused us with 403"), "{refused}");
}

#[tokio::test]
async fn results_that_an_earlier_program_kept_are_found() {
    let state = copy();
    let store = Store::at(state.path());
    store.open().await.unwrap();
    let pool = DescriptorPool::decode(toolwire::domains::research::proto::DESCRIPTORS).unwrap();
    let mut found = Vec::new();
    for key in RESULTS {
        let digits = key.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
        let key: Vec<_> = digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let result = store.get(&key.try_into().unwrap(), now()).await.unwrap().unwrap();
        let name = result.output_message.clone().unwrap();
        let output = pool.get_message_by_name(&name);
        found.push((name, result.read(output.as_ref()).unwrap().outcome.unwrap().json().clone()));
    }
    let [(technicals, data), (thesis, forum), (news, articles)] = found.try_into().unwrap();
    assert_eq!(technicals, "toolwire.research.v1.GetTechnicalsOutput");
    assert_eq!(data["rsi_14"].as_f64().map(|it| format!("{it:.3}")).as_deref(), Some("56.498"));
    assert_eq!(
        (thesis.as_str(), &forum["posts_count"]),
        ("toolwire.research.v1.GetStockThesisOutput", &json!(34))
    );
    assert_eq!((news.as_str(), &articles["articles"]), ("toolwire.research.v1.GetNewsOutput", &json!([])));
}

#[tokio::test]
async fn an_earlier_file_is_upgraded_only_when_no_other_process_uses_it() {
    let state = copy();
    let processes = state.path().join("processes");
    fs::create_dir(&processes).unwrap();
    let lock = || {
        let file = fs::File::create(processes.join("of-another-process")).unwrap();
        file.lock().unwrap();
        file
    };
    let earlier = lock();
    let refused = Store::at(state.path()).open().await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
    assert!(refused.to_string().contains("End that process"), "{refused}");
    assert!(
        matches!(backup::check(state.path()).await, Err(BackupError::Older { .. })),
        "nothing was changed"
    );
    drop(earlier);
    Store::at(state.path()).open().await.unwrap();
    // From then on there is nothing to upgrade.
    let _later = lock();
    Store::at(state.path()).open().await.unwrap();
    assert_eq!(backup::check(state.path()).await.unwrap().problems, Vec::<String>::new());
}
