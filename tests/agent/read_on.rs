//! Results that are longer than a turn shows its model: it reads on in them by `read_result`.

use crate::support::state;
use toolwire::sources::models::scripted::{self, Scripted};

use super::{by_model::*, *};

/// Of which a result is shown up to 1,600 tokens; three prompts with the parameters of all tools fit in.
const TURN_TOKENS: u32 = 24_000;

/// What follows some words in a text, up to a space.
fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    text.split(words).nth(1)?.split(' ').next()
}

#[tokio::test]
async fn a_model_reads_on_in_a_result_that_is_longer_than_it_is_shown() {
    let model =
        Scripted::by(|request, turn| match (turn, after(&whole(request), "read_result with call_id ")) {
            (0, _) => plan("browse_reddit", &json!({"limit": 50})),
            (1, Some(call_id)) => {
                plan("read_result", &json!({"call_id": call_id, "offset": 100, "max_tokens": 500}))
            }
            (2, _) => none(),
            _ => scripted::text("That is what it says."),
        });
    let house = House::asking(model.clone(), PROMPTED, |config| config.agent.max_tokens = TURN_TOKENS);
    let (events, status) = house.person("demo").await.events(message("What does Reddit say?")).await;
    assert!(status.is_none(), "{status:?}");
    assert_eq!(started_tools(&events), ["browse_reddit", "read_result"]);
    let shown = whole(&model.requests()[2]);
    assert!(shown.contains("\"next_offset\":"), "{shown}");
    // Two lines around each result, and a word before it.
    assert_eq!(shown.matches("USER_GENERATED_CONTENT_BELOW").count(), 6, "{shown}");
}

#[tokio::test]
async fn without_a_model_nothing_is_kept_and_the_tool_is_not_chosen() {
    let house = House::of(|_| (), |parts| parts, |_| ());
    let riley = house.person("demo").await;
    for said in
        ["Read on in the result.", "Read result 0198c1f2-7d1e-7c3a-9d55-2f6a1b0c4e8f", "How did I do?"]
    {
        let (events, _) = riley.events(message(said)).await;
        assert!(!started_tools(&events).contains(&"read_result".to_owned()), "{said}");
    }
    let kept: i64 = state::row(&house.server.app.state, "SELECT count(*) FROM kept_results").await;
    assert_eq!(kept, 0);
}
