//! Messages that take long to plan: what others ask goes on meanwhile.

use std::{
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture, future::ready};
use tokio::sync::mpsc as events;
use toolwire::planner::{Plan, PlanError, PlanRequest, Planner, Step};

use super::*;

/// Plans as long as it takes, of a long message until the test lets it go on, and says on which thread.
#[derive(Debug)]
struct Slow {
    began: events::UnboundedSender<Option<String>>,
    may_end: Mutex<mpsc::Receiver<()>>,
}

impl Planner for Slow {
    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        self.began.send(thread::current().name().map(ToOwned::to_owned)).unwrap();
        if request.message.starts_with("long") {
            let waits = self.may_end.lock().unwrap().recv_timeout(Duration::from_mins(1));
            waits.expect("the test goes on while this is planned");
        }
        let (step, reason) = (Step::Clarify("Which one?".to_owned()), String::new());
        ready(Ok(Plan { step, reason, confidence: 0.0, alternatives: Vec::new() })).boxed()
    }
}

fn message(text: &str) -> TurnInput {
    TurnInput { say: Some(Say::Message(text.to_owned())), ..TurnInput::default() }
}

#[tokio::test]
async fn a_long_message_is_planned_beside_the_turns_of_others() {
    let ((start, mut started), (release, may_end)) = (events::unbounded_channel(), mpsc::channel());
    let planner = Arc::new(Slow { began: start, may_end: Mutex::new(may_end) });
    let replace = |parts| Parts { mode: Mode::Embedded, planner, ..parts };
    let house = House::of(|_| (), replace, |_| ());
    let (riley, mallory) = (house.person("riley").await, house.person("mallory").await);
    // The first turn indexes the tools, which takes long too.
    riley.reply(message("short")).await;
    started.recv().await.unwrap();
    let long = tokio::spawn(async move { mallory.reply(message(&"long ".repeat(100))).await });
    // Where this is planned, the server goes on: it has this thread alone.
    assert_eq!(started.recv().await.unwrap().as_deref(), Some("long-work"));
    riley.reply(message("short")).await;
    assert_ne!(started.recv().await.unwrap().as_deref(), Some("long-work"), "a short one goes nowhere");
    assert!(!long.is_finished());
    release.send(()).unwrap();
    assert_eq!(long.await.unwrap().response.unwrap().clarifying_question.as_deref(), Some("Which one?"));
}
