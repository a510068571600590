//! `The first one` behind an answer that lists things, and lists that show more than what was asked for.

use super::*;

fn house() -> House {
    House::of(|_| (), |parts| parts, |_| ())
}

async fn say(person: &Person, session: &str, text: &str) -> Reply {
    let message = TurnInput {
        say: Some(Say::Message(text.to_owned())),
        result_format: ResultFormat::Json.into(),
        ..Default::default()
    };
    person.reply(within(session, message)).await
}

/// The calls of a reply, each with its arguments.
fn calls(reply: &Reply) -> Vec<String> {
    reply.tool_results.iter().map(|it| format!("{} {}", it.tool, it.arguments_json)).collect()
}

#[tokio::test]
async fn a_place_of_a_list_that_was_shown_is_its_entry() {
    let house = house();
    let demo = house.person("demo").await;
    let positions = say(&demo, "s", "Show my positions").await;
    assert_eq!(calls(&positions), ["get_positions_list {}"], "{positions:?}");
    let price = say(&demo, "s", "What is the first one trading at?").await;
    assert_eq!(calls(&price), [r#"get_quotes {"symbol":"AAPL"}"#], "{price:?}");
    let second = say(&demo, "s", "and the second one?").await;
    assert_eq!(calls(&second), [r#"get_quotes {"symbol":"MSFT"}"#], "{second:?}");
    let asked = say(&demo, "t", "What news is there on Tata?").await;
    assert!(answer(&asked).starts_with("Which stock do you mean: Tata Consultancy Services,"), "{asked:?}");
    let news = say(&demo, "t", "the first one").await;
    assert_eq!(calls(&news), [r#"get_news {"symbol":"TCS"}"#], "{news:?}");
    let nothing = say(&demo, "u", "the first one").await;
    assert_eq!(answer(&nothing), "Which one do you mean? No list with names was shown before.");
}

#[tokio::test]
async fn what_a_list_shows_among_other_things_is_taken_into_account() {
    let house = house();
    let demo = house.person("demo").await;
    for (said, begins) in [
        ("When did I last buy Apple?", "The newest buy of AAPL in Brokerage [tool:activity:v1]:\n\n|"),
        ("When did I last buy Nvidia?", "Brokerage has no buys of NVDA"),
        ("What did I buy in September 2024?", "Brokerage has 3 buys from 1 September 2024 until"),
        ("Show my withdrawals", "Brokerage has 4 withdrawals, newest first"),
        ("Show my pending deposits", "This is not narrowed to what you name: pending."),
        ("Show my holdings and write a poem about them", "Not taken into account: write a poem about them."),
        ("What are my best and worst stocks this year?", "This is not narrowed to the time you name."),
    ] {
        let reply = say(&demo, said, said).await;
        assert!(answer(&reply).starts_with(begins), "{said}: {}", answer(&reply));
    }
}
