//! An agent's host that lost an answer, or whose server was killed, makes its call again unchanged: once or never.
//!
//! `MCP_ROUNDS` says how often, which is 5 times here. A refund is `debug_write` of its amount: below 100 by a
//! condition of the operator's, and otherwise with a person's approval. Each round is another refund.

use std::{collections::BTreeMap, env, fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    client::{Era, Message, text},
    confirming::{Approver, Client, confirmation_id},
};
use crate::{
    http::{raw::Raw, talk::Talk},
    support::{draws::draws, program::Program},
};

/// The moments at which something is killed.
const STEPS: usize = 6;

fn rounds() -> usize {
    env::var("MCP_ROUNDS").map_or(5, |text| text.parse().expect("a number"))
}

/// A server over one state, which is killed and started again.
struct Shop {
    program: Program,
    place: TempDir,
    log: String,
}

impl Shop {
    async fn open() -> Self {
        let place = tempfile::tempdir().unwrap();
        let condition =
            "[confirmations.approve_unless.debug_write]\nvalue = { pattern = \"^[0-9]{1,2} \" }\n";
        fs::write(place.path().join("toolwire.toml"), condition).unwrap();
        Self { program: Self::start(&place).await, place, log: String::new() }
    }

    async fn start(place: &TempDir) -> Program {
        let state = place.path().join("state");
        let variables = [
            ("TOOLWIRE_STATE", state.to_str().unwrap()),
            ("TOOLWIRE_LOG_FILTER", "toolwire::diagnostics=debug"),
        ];
        Program::start(Path::new(place.path()), &["--http=127.0.0.1:0"], &variables).await
    }

    async fn kill(mut self) -> Self {
        self.log.push_str(&self.program.kill().await);
        Self { program: Self::start(&self.place).await, ..self }
    }

    fn client(&self) -> Client {
        let talk = Talk::to(self.program.http.unwrap(), "riley");
        Client { era: Era::Old, timeout: "1100ms", ..Client::new(talk, json!({})) }
    }

    async fn approver(&self) -> Approver {
        Approver::over(self.program.channel().await, "riley")
    }

    /// A client that asks and closes its connection at once, or once the work has begun.
    async fn lose(&mut self, refund: &Value, once_begun: bool) {
        let mut message = Message::call(Era::Old, "debug_write", refund, &json!({}));
        message.headers.push(("x-toolwire-user", "riley".to_owned()));
        message.headers.push(("content-type", "application/json".to_owned()));
        let headers: Vec<_> =
            message.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let headers: Vec<_> = headers.iter().map(String::as_str).collect();
        let mut raw = Raw::connect(self.program.http.unwrap()).await;
        raw.ask("POST", "/mcp", &headers, &message.body.to_string()).await;
        if once_begun {
            self.begun().await;
        }
    }

    /// Waits until a write has begun.
    async fn begun(&mut self) {
        let (_, before) = self.program.wait_for_log("work began").await;
        self.log.extend(before.iter().map(|line| format!("{line}\n")));
    }

    /// How often each call wrote, by the logs of all servers.
    async fn written(mut self) -> BTreeMap<String, usize> {
        self.log.push_str(&self.program.stop().await);
        let mut written = BTreeMap::new();
        for line in self.log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if line["message"] == "wrote" {
                *written.entry(line["request_id"].as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
        written
    }
}

/// The data of an answer, or the code of its failure.
fn outcome(result: &Value) -> Result<i64, &str> {
    match result["structuredContent"]["writes"].as_i64() {
        Some(writes) => Ok(writes),
        None => Err(text(result, 0).split([' ', ':']).nth(1).unwrap()),
    }
}

fn request_id(result: &Value) -> String {
    result["_meta"]["toolwire/request_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_refund_is_made_once_or_never_whatever_is_killed() {
    let (mut shop, mut draws) = (Shop::open().await, draws());
    let mut ids = Vec::new();
    for round in 0..rounds() {
        let (step, refund) =
            (draws.usize(0..STEPS), json!({"value": format!("150 for {round}"), "duration": "0.05s"}));
        if step == 0 {
            shop.lose(&refund, false).await;
        }
        let told = shop.client().call("debug_write", refund.clone()).await;
        assert_eq!(outcome(&told), Err("CONFIRMATION_REQUIRED"), "{told}");
        if step == 1 {
            shop = shop.kill().await;
        }
        let again = shop.client().call("debug_write", refund.clone()).await;
        assert_eq!(
            (confirmation_id(&again), request_id(&again)),
            (confirmation_id(&told), request_id(&told))
        );
        shop.approver().await.approve(&confirmation_id(&told)).await;
        match step {
            2 => shop = shop.kill().await,
            3 => shop.lose(&refund, true).await,
            4 => {
                shop.lose(&refund, true).await;
                shop = shop.kill().await;
            }
            5 => {
                let answered = shop.client().call("debug_write", refund.clone()).await;
                assert!(outcome(&answered).is_ok(), "{answered}");
                // The answer may be on its way.
                shop = shop.kill().await;
            }
            _ => {}
        }
        let done = shop.client().call("debug_write", refund).await;
        assert_eq!(request_id(&done), request_id(&told), "round {round}, step {step}: {done}");
        let is_unknown = outcome(&done) == Err("OUTCOME_UNKNOWN");
        assert!(outcome(&done).is_ok() || (is_unknown && step == 4), "round {round}, step {step}: {done}");
        ids.push(request_id(&done));
    }
    let written = shop.written().await;
    assert!(
        written.keys().all(|id| ids.contains(id)) && written.values().all(|times| *times == 1),
        "{written:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refund_that_needs_nobody_is_made_once_although_each_answer_is_lost() {
    let mut shop = Shop::open().await;
    let mut ids = Vec::new();
    for round in 0..rounds() {
        let refund = json!({"value": format!("50 for {round}"), "duration": "0.05s"});
        shop.lose(&refund, true).await;
        for _ in 0..3 {
            shop.lose(&refund, false).await;
        }
        let done = shop.client().call("debug_write", refund.clone()).await;
        assert!(outcome(&done).is_ok(), "round {round}: {done}");
        ids.push(request_id(&done));
        // What was answered is over: the same again is another refund.
        let another = shop.client().call("debug_write", refund).await;
        assert_ne!(request_id(&another), request_id(&done), "round {round}: {another}");
        ids.push(request_id(&another));
    }
    let written = shop.written().await;
    assert_eq!(written.len(), ids.len(), "{written:?}");
    assert!(ids.iter().all(|id| written.get(id) == Some(&1)), "{written:?}");
}
