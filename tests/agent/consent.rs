//! The embedded planner changes nothing without a yes: it proposes the exact call, and the very next message of the
//! session makes it, once.

use std::fs;

use toolwire::contract::proto::v1::tool_result::Outcome;

use super::*;

fn house() -> House {
    House::of(|_| (), |parts| parts, |_| ())
}

fn message(text: &str) -> TurnInput {
    TurnInput {
        say: Some(Say::Message(text.to_owned())),
        result_format: ResultFormat::Json.into(),
        ..Default::default()
    }
}

/// Says something in a session.
async fn say(person: &Person, session: &str, text: &str) -> Reply {
    person.reply(within(session, message(text))).await
}

/// What is watched, each with its note.
async fn watchlist(person: &Person) -> Vec<(String, String)> {
    let reply = person.reply(message("What is on my watchlist?")).await;
    let result = &reply.tool_results.first().unwrap_or_else(|| panic!("{reply:?}")).result;
    let Some(Outcome::DataJson(text)) = &result.as_ref().unwrap().outcome else { panic!("{result:?}") };
    let data: Value = serde_json::from_str(text).unwrap();
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let items = data["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| (text(item, "symbol"), text(item, "note"))).collect()
}

fn symbols(watched: &[(String, String)]) -> Vec<&str> {
    watched.iter().map(|(symbol, _)| symbol.as_str()).collect()
}

#[tokio::test]
async fn an_order_is_proposed_with_the_exact_call_and_made_once_by_a_yes() {
    let house = house();
    let riley = house.person("demo").await;
    let order = "Put Reliance on my watchlist with the note sell at 1500";
    let proposed = say(&riley, "s", order).await;
    let question = "Add RELIANCE to the watchlist (note: “sell at 1500”)? Yes or no.";
    assert_eq!(answer(&proposed), question);
    assert_eq!(proposed.response.as_ref().unwrap().clarifying_question(), question);
    let proposal = proposed.proposal.as_ref().expect("a proposal");
    assert_eq!((proposal.calls.len(), proposal.calls[0].tool.as_str()), (1, "add_to_watchlist"));
    assert!(proposed.tool_results.is_empty() && watchlist(&riley).await.is_empty(), "{proposed:?}");
    let done = say(&riley, "s", "Yes.").await;
    assert_eq!(done.tool_results.len(), 1, "{done:?}");
    let expected = [("RELIANCE".to_owned(), "sell at 1500".to_owned())];
    assert_eq!(watchlist(&riley).await, expected);
    let again = say(&riley, "s", "yes").await;
    assert!(again.tool_results.is_empty() && answer(&again).starts_with("There is nothing to confirm"));
}

#[tokio::test]
async fn anything_but_a_clear_yes_as_the_next_message_drops_a_proposal() {
    let house = house();
    let riley = house.person("demo").await;
    for other in
        ["yes, but only INFY", "ok thanks", "sure, how is Apple?", "no", "What is Apple trading at?", "yes?"]
    {
        say(&riley, "s", "Add Wipro to my watchlist").await;
        let reply = say(&riley, "s", other).await;
        let writes = reply.tool_results.iter().filter(|it| it.tool == "add_to_watchlist").count();
        assert_eq!(writes, 0, "{other}");
        let late = say(&riley, "s", "yes").await;
        assert!(late.tool_results.is_empty(), "{other}: {late:?}");
    }
    assert!(watchlist(&riley).await.is_empty());
    for other in ["yes, but not now", "hmm, whatever", "price of TCS"] {
        say(&riley, "u", "Add Wipro to my watchlist").await;
        let dropped = say(&riley, "u", other).await;
        assert!(answer(&dropped).ends_with("\n\nNothing was changed."), "{other}: {dropped:?}");
    }
    for no in ["no, thanks", "hold on", "no, keep it"] {
        say(&riley, "t", "Add Wipro to my watchlist").await;
        assert_eq!(answer(&say(&riley, "t", no).await), "Nothing was changed.", "{no}");
    }
}

#[tokio::test]
async fn a_company_of_which_nothing_is_held_is_no_mistake() {
    let house = house();
    let riley = house.person("demo").await;
    for (said, symbol) in
        [("Do I own Nvidia?", "NVDA"), ("Do I own Reliance?", "RELIANCE"), ("do I have any Infosys?", "INFY")]
    {
        let reply = say(&riley, "s", said).await;
        assert!(answer(&reply).contains(&format!("does not hold {symbol}")), "{reply:?}");
    }
}

#[tokio::test]
async fn a_no_ends_a_question_back() {
    let house = house();
    let riley = house.person("demo").await;
    let alone = say(&riley, "s", "Apple").await;
    for no in ["no", "never mind"] {
        let asked = say(&riley, no, "How much do I own?").await;
        assert!(answer(&asked).ends_with('?'), "{asked:?}");
        let dropped = say(&riley, no, no).await;
        assert_eq!((answer(&dropped), dropped.tool_results.len()), ("All right.", 0), "{no}");
        // Neither the question nor the no is completed by what comes next.
        assert_eq!(answer(&say(&riley, no, "Apple").await), answer(&alone), "{no}");
    }
}

#[tokio::test]
async fn a_yes_may_restate_the_order_and_nothing_else() {
    let house = house();
    let riley = house.person("demo").await;
    let add = async || {
        say(&riley, "a", "Add TCS to my watchlist").await;
        say(&riley, "a", "Yes, add it.").await;
        assert_eq!(symbols(&watchlist(&riley).await), ["TCS"]);
    };
    add().await;
    for other in [
        "yes, but remove it later",
        "yes, remove it later",
        "yes, add it",
        "yes, remove INFY",
        "yes and remove INFY",
        "yes, remove it and INFY",
        "yes, remove the note",
        "yes, remove its note",
        "yes, not TCS",
        "yes, don't remove it",
        "yes, remove it?",
        "no, remove it",
        "ok, remove it",
    ] {
        say(&riley, "r", "Remove TCS from my watchlist").await;
        let reply = say(&riley, "r", other).await;
        assert!(!reply.tool_results.iter().any(|it| it.tool.ends_with("_watchlist")), "{other}: {reply:?}");
        assert_eq!(symbols(&watchlist(&riley).await), ["TCS"], "{other}");
    }
    for yes in [
        "yes, remove it",
        "Yes please, remove it from the watchlist.",
        "yes, remove that, thanks",
        "yes remove TCS",
        "yes remove TCS from the watchlist",
        "go ahead, remove",
    ] {
        say(&riley, "r", "Remove TCS from my watchlist").await;
        say(&riley, "r", yes).await;
        assert!(watchlist(&riley).await.is_empty(), "{yes}");
        add().await;
    }
    let two = say(&riley, "r", "Remove TCS from my watchlist and add INFY to it").await;
    assert!(two.proposal.is_none(), "two orders are none: {two:?}");
}

#[tokio::test]
async fn a_yes_counts_in_the_session_that_asked_and_for_its_user_only() {
    let house = house();
    let (riley, sam) = (house.person("demo").await, house.person("sam").await);
    say(&riley, "s", "Add Wipro to my watchlist").await;
    for (person, session) in [(&sam, "s"), (&riley, "t")] {
        let reply = say(person, session, "yes").await;
        assert!(reply.tool_results.is_empty() && answer(&reply).contains("in the same session"), "{reply:?}");
    }
    // Without a session there is none in which it was asked.
    let alone = riley.reply(message("yes")).await;
    assert!(alone.tool_results.is_empty() && answer(&alone).contains("`session_id`"), "{alone:?}");
    assert!(watchlist(&riley).await.is_empty() && watchlist(&sam).await.is_empty());
    let begun = riley.reply(message("Add Wipro to my watchlist")).await;
    assert!(answer(&begun).contains(&begun.session_id), "{begun:?}");
    say(&riley, &begun.session_id, "yes").await;
    assert_eq!(symbols(&watchlist(&riley).await), ["WIPRO"]);
}

#[tokio::test]
async fn a_change_beside_anything_else_is_not_proposed() {
    let house = house();
    let riley = house.person("demo").await;
    for both in [
        "Add ITC to my watchlist and show me its fundamentals",
        "Remove ITC from my watchlist and add Wipro to it",
    ] {
        let reply = say(&riley, "s", both).await;
        let is_told = answer(&reply).starts_with("I change something only if I understand the whole order");
        assert!(is_told && reply.proposal.is_none() && reply.tool_results.is_empty(), "{both}: {reply:?}");
        say(&riley, "s", "yes please").await;
    }
    assert!(watchlist(&riley).await.is_empty());
}

#[tokio::test]
async fn what_is_not_understood_is_named_and_a_yes_shows_the_rest() {
    let house = house();
    let riley = house.person("demo").await;
    let ask = async |session: &str| {
        let asked = say(&riley, session, "my 401k return this year").await;
        let words = answer(&asked);
        assert!(
            words.starts_with("I can show: ") && words.contains("I did not understand: 401k."),
            "{words}"
        );
        assert!(asked.tool_results.is_empty() && asked.proposal.is_some(), "{asked:?}");
        asked
    };
    assert!(answer(&ask("s").await).ends_with("Show that? Yes or no."));
    let shown = say(&riley, "s", "yes").await;
    assert_eq!(shown.tool_results.len(), 1, "{shown:?}");
    ask("t").await;
    assert_eq!(answer(&say(&riley, "t", "no").await), "All right.");
    ask("t").await;
    let other = say(&riley, "t", "What is Apple trading at?").await;
    assert!(!answer(&other).contains("Nothing was changed."), "{other:?}");
    let late = say(&riley, "t", "yes").await;
    assert!(late.tool_results.is_empty(), "{late:?}");
    let alone = riley.reply(message("my 401k return this year")).await;
    assert!(answer(&alone).contains("send the call as it is: `{\"tool\":\"get_performance"), "{alone:?}");
}

#[tokio::test]
async fn a_yes_whose_answer_was_lost_is_said_again_and_makes_the_same_call() {
    let house = house();
    let riley = house.person("demo").await;
    say(&riley, "s", "Add Wipro to my watchlist").await;
    let named = TurnInput { request_id: new_id(), ..within("s", message("yes")) };
    let first = riley.reply(named.clone()).await;
    let again = riley.reply(named).await;
    assert_eq!(first, again, "a repeat gets the stored end");
    assert_eq!(symbols(&watchlist(&riley).await), ["WIPRO"]);
}

#[tokio::test]
async fn a_changed_definition_drops_a_proposal() {
    let data = crate::support::data_directory();
    let directory = data.path().to_owned();
    let mut registry = None;
    let keep = |app: &mut App| registry = Some(Arc::clone(&app.registry));
    let house = House::of(|config| config.data.dir = Some(directory), |parts| parts, keep);
    let riley = house.person("demo").await;
    say(&riley, "s", "Add Wipro to my watchlist").await;
    let file = data.path().join("tools/add_to_watchlist.json");
    crate::support::patch_json(&file, &json!({"title": "Put on the watchlist"}));
    let registry = registry.unwrap();
    registry.reload();
    let title = registry.snapshot().get("add_to_watchlist").unwrap().definition.title.clone();
    assert_eq!(title, "Put on the watchlist");
    let late = say(&riley, "s", "yes").await;
    assert!(late.tool_results.is_empty() && answer(&late).contains("has changed"), "{late:?}");
}

/// Every verb, noun and name in two orders, in sessions of their own: nothing is written without a yes.
#[tokio::test]
async fn no_generated_phrase_changes_anything() {
    let house = house();
    let riley = house.person("demo").await;
    say(&riley, "seed", "Add TCS to my watchlist with the note keep me").await;
    say(&riley, "seed", "yes").await;
    let before = watchlist(&riley).await;
    assert_eq!(symbols(&before), ["TCS"]);
    let text = fs::read_to_string("tests/fixtures/agent/consent/generated.json").unwrap();
    let parts: Value = serde_json::from_str(&text).unwrap();
    let list = |key: &str| -> Vec<String> { serde_json::from_value(parts[key].clone()).unwrap() };
    let (verbs, nouns, names) = (list("verbs"), list("nouns"), list("names"));
    let mut count = 0;
    for verb in &verbs {
        for noun in &nouns {
            // Every second name, so that each verb and noun meets some and the test is not long.
            for name in names.iter().skip(count % 2).step_by(2) {
                let phrase = if count % 2 == 0 {
                    format!("{verb} {name} {noun}")
                } else {
                    format!("{noun} {name} {verb}")
                };
                let reply = riley.reply(message(phrase.trim())).await;
                let is_change = |tool: &str| matches!(tool, "add_to_watchlist" | "remove_from_watchlist");
                assert!(!reply.tool_results.iter().any(|it| is_change(&it.tool)), "{phrase}");
                count += 1;
            }
        }
    }
    assert!(count >= 500, "{count}");
    assert_eq!(watchlist(&riley).await, before);
}

/// What people wrote that orders nothing, or nothing that is clear: the watch-list stays as it is, notes and all.
#[tokio::test]
async fn no_phrase_that_once_changed_the_watchlist_changes_it() {
    const PHRASES: [&str; 15] = [
        "track TCS",
        "please track HDFC Bank for me",
        "TCS watchlist",
        "watchlist TCS",
        "Explain how to delete TCS from my watchlist",
        "show me how to stop watching TCS",
        "TCS dropped",
        "stop loss for TCS",
        "strike price TCS",
        "kick off TCS analysis",
        "watch list TCS INFY",
        "I already added WIPRO to my watchlist",
        "Add WIPRO to my watchlist tomorrow",
        "add WIPRO to my watchlist, actually no",
        "replace TCS with INFY",
    ];
    let house = house();
    let riley = house.person("demo").await;
    for name in ["TCS", "INFY", "HDFC Bank"] {
        say(&riley, "seed", &format!("Add {name} to my watchlist with the note kept")).await;
        say(&riley, "seed", "yes").await;
    }
    let before = watchlist(&riley).await;
    assert_eq!(symbols(&before), ["HDFCBANK", "INFY", "TCS"]);
    for phrase in PHRASES {
        riley.reply(message(phrase)).await;
        say(&riley, "s", phrase).await;
        assert_eq!(watchlist(&riley).await, before, "{phrase}");
    }
}
