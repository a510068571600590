//! Which messages propose a change: counted over files whose author had not read the planner. Nothing is fitted to
//! `no_orders.jsonl`; what is missed of `orders.jsonl` has been read. Of
//! `held_out/` nothing has been read.

use std::fs;

use serde::Deserialize;
use toolwire::{
    agent::proposal::{self, ProposalAnswer},
    engine::registry::Category,
    planner::{PlannedCall, Step},
};

use super::{
    offered::Bench,
    questions::{Wanted, are_wanted},
};

#[derive(Debug, Deserialize)]
struct Order {
    said: String,
    calls: Vec<Wanted>,
}

#[derive(Debug, Deserialize)]
struct NoOrder {
    said: String,
}

#[derive(Debug, Deserialize)]
struct Reply {
    said: String,
    is_yes: bool,
}

#[derive(Debug, Deserialize)]
struct Generated {
    verbs: Vec<String>,
    nouns: Vec<String>,
    names: Vec<String>,
}

fn text(file: &str) -> String {
    fs::read_to_string(format!("tests/fixtures/agent/consent/{file}")).expect("readable")
}

fn lines<T: for<'de> Deserialize<'de>>(file: &str) -> Vec<T> {
    text(file).lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The calls of a message that change something: those are proposed.
fn proposed(bench: &Bench, said: &str) -> Vec<PlannedCall> {
    let Step::Call(mut calls) = bench.decide(&[], said).step else { return Vec::new() };
    calls.retain(|call| bench.tool(&call.tool).definition.category != Category::Read);
    calls
}

#[test]
fn nine_of_ten_orders_are_proposed_exactly_as_they_were_given() {
    let (bench, orders) = (Bench::new(), lines::<Order>("orders.jsonl"));
    let is_right = |order: &&Order| are_wanted(&bench, &order.calls, &proposed(&bench, &order.said));
    let right = orders.iter().filter(is_right).count();
    let any = orders.iter().filter(|order| !proposed(&bench, &order.said).is_empty()).count();
    println!("orders: {right} of {} proposed as given, {any} proposed at all", orders.len());
    assert_eq!(orders.len(), 80);
    assert!(right >= 72, "{right}");
}

#[test]
fn what_orders_nothing_is_rarely_proposed() {
    let (bench, others) = (Bench::new(), lines::<NoOrder>("no_orders.jsonl"));
    let count = others.iter().filter(|other| !proposed(&bench, &other.said).is_empty()).count();
    println!("no orders: {count} of {} proposed", others.len());
    assert_eq!(others.len(), 80);
    assert!(count <= 4, "{count}");
}

#[test]
fn a_note_is_found_behind_letters_whose_small_form_has_another_length() {
    let bench = Bench::new();
    // Of equal length in small letters, but with other places between them.
    for said in
        ["Add TCS to my watchlist, İ note: é and ẞ", "Add TCS to my watchlist, ẞ with the note é and İ"]
    {
        assert!(proposed(&bench, said).iter().all(|call| call.tool == "add_to_watchlist"), "{said}");
    }
}

#[test]
fn a_question_behind_an_order_is_no_other_order() {
    let bench = Bench::new();
    let said = "Do I own Titan? Add Titan to my watchlist. What about Infosys?";
    let changed: Vec<_> = proposed(&bench, said).into_iter().map(|call| call.arguments).collect();
    assert!(changed.iter().all(|arguments| !format!("{arguments:?}").contains("INFY")), "{changed:?}");
}

#[test]
fn what_is_told_thought_of_or_meant_otherwise_is_no_order() {
    let bench = Bench::new();
    for said in [
        "Watching Titan",
        "Removing Titan from my watchlist",
        "I was thinking of maybe tracking Titan someday",
        "Track Reliance results",
        "I want to keep track of ITC results",
        "Watch Titan on TV for me",
        "Add Wipro to my watchlist later",
        "Stop watching Titan, they said",
        "Stop watching Titan, they said, and the price of TCS",
        "Should I hold TCS or remove it from my watchlist?",
        "Is it better to hold TCS or stop tracking it?",
        "Is TCS in the wait zone, or add to my watchlist?",
        "price of TCS and add it to my watchlist?",
    ] {
        assert_eq!(proposed(&bench, said), [], "{said}");
    }
}

#[test]
fn a_list_behind_instead_of_is_replaced_as_a_whole() {
    let bench = Bench::new();
    for (said, expected) in [
        ("Add TCS instead of Infosys and Wipro", &["TCS"][..]),
        ("Add TCS to my watchlist instead of Infosys and Wipro", &["TCS"]),
        ("Add TCS instead of Infosys, Wipro", &["TCS"]),
        ("Add TCS and Wipro instead of Infosys", &["TCS", "WIPRO"]),
        ("instead of Infosys, add TCS to my watchlist", &["TCS"]),
        ("instead of Infosys and Wipro, add TCS to my watchlist", &["TCS"]),
        ("Instead of Infosys, TCS to my watchlist", &["TCS"]),
        ("Add TCS and Infosys to my watchlist", &["TCS", "INFY"]),
    ] {
        let symbols: Vec<_> =
            proposed(&bench, said).into_iter().map(|call| call.arguments["symbol"].clone()).collect();
        assert_eq!(symbols, expected, "{said}");
    }
}

/// What takes back the message before orders nothing about what is named behind it.
#[test]
fn a_retraction_is_no_order() {
    let bench = Bench::new();
    for (said, tool) in [
        ("forget it, news of TCS", "get_news"),
        ("never mind, the RSI of TCS", "get_technicals"),
        ("never mind the news, the RSI of TCS", "get_technicals"),
        ("not the news, the price of Wipro", "get_technicals"),
        ("No. Show my trades", "get_activity"),
    ] {
        let Step::Call(calls) = bench.decide(&[], said).step else { panic!("{said}") };
        assert_eq!(calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), [tool], "{said}");
    }
    for said in [
        "never mind adding TCS to my list",
        "no, don't remove TCS",
        "keep TCS off my watchlist",
        "keep Reliance out of my watchlist",
        "put Wipro off the watchlist",
        "add TCS to watchlist, no wait, just its price",
        "add Wipro to the watchlist, stop, its RSI",
        "add WIPRO to my watchlist, cancel",
        "unwatch INFY, no wait, its price",
        "add Infosys to the watchlist, hold on, how were its results?",
        "add Wipro to my watchlist, hmm, what's the news",
        "add Wipro to my watchlist, on second thought its price",
        "add Wipro to my watchlist, never mind me, and show its news",
        "add Wipro to my watchlist. Scratch that. Its price",
        "add Wipro to my watchlist, or maybe not",
        "add Wipro to my watchlist; ignore that; price of TCS",
        "add TCS to my watchlist, I take that back",
        "add TCS to my watchlist, that was a joke",
        "add TCS to my watchlist, I mean INFY",
        "add TCS to my watchlist, I was told",
        "add TCS to my watchlist, my broker told me",
        "add TCS to my watchlist, I am not sure",
        "unwatch INFY, forget it",
        "add Wipro to my watchlist, forget it",
        "take TCS off my watchlist, its news said",
        "remind me please to add TCS to my watchlist",
        "remind me to add TCS to my watchlist",
        "remember to add TCS to my watchlist",
    ] {
        assert!(proposed(&bench, said).is_empty(), "{said}");
    }
    let note = proposed(&bench, "add TCS to my watchlist with the note: cheap, wait for the results");
    assert_eq!(note.len(), 1, "what a note says takes nothing back: {note:?}");
}

#[test]
fn an_order_may_stand_beside_a_statement_or_a_question() {
    let bench = Bench::new();
    for (said, expected) in [
        ("add Wipro to my watchlist and show me its price", &["add_to_watchlist", "get_technicals"][..]),
        ("add Wipro to my watchlist, and its news please", &["add_to_watchlist", "get_news"]),
        ("TCS price, and add it to my watchlist", &["get_technicals", "add_to_watchlist"]),
        (
            "add TCS to my watchlist, show me its RSI and news",
            &["add_to_watchlist", "get_technicals", "get_news"],
        ),
        ("add Wipro to my watchlist. It looks good", &["add_to_watchlist"]),
        ("TCS looks good, add it to my list", &["add_to_watchlist"]),
        ("I am done with TCS, take it off my list", &["remove_from_watchlist"]),
        ("On my list, add TCS", &["add_to_watchlist"]),
    ] {
        let Step::Call(calls) = bench.decide(&[], said).step else { panic!("{said}") };
        assert_eq!(calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), expected, "{said}");
    }
    // A question orders nothing.
    let Step::Call(calls) = bench.decide(&[], "did I add infosys to my watchlist?").step else { panic!() };
    assert_eq!(calls[0].tool, "browse_watchlist");
    // An order that is not understood is not left out in silence.
    for said in [
        "unwatch INFY and show me what's left",
        "add apple to my watchlist",
        "add everything from the small cap screen to my watchlist",
        "take everything off my watchlist",
    ] {
        let step = bench.decide(&[], said).step;
        assert!(
            matches!(&step, Step::Clarify(answer) if answer.starts_with("I change something")),
            "{said}: {step:?}"
        );
    }
}

#[test]
fn an_order_on_a_condition_is_none() {
    let bench = Bench::new();
    for said in [
        "If TCS falls below 3000 add it to my watchlist",
        "If TCS falls below 3000, add it to my watchlist",
        "TCS if it falls, add it to my watchlist",
        "When TCS reports, please add it to my watchlist",
        "Once TCS falls, add it to my watchlist.",
        "Unless TCS rises, remove TCS from my watchlist",
        "Add TCS to my watchlist, once it falls",
        "Add TCS to my watchlist. If it falls below 3000.",
        "If it falls. Add TCS to my watchlist",
        "Should TCS fall, add it to my watchlist",
        "In case TCS falls, add it to my watchlist",
        "If TCS is overbought then add it to my watchlist",
        "show my holdings and if TCS falls, add it to my watchlist",
    ] {
        let step = bench.decide(&[], said).step;
        let Step::Clarify(answer) = &step else { panic!("{said}: {step:?}") };
        assert!(answer.starts_with("I change nothing on a condition."), "{said}: {answer}");
    }
    for said in [
        "Add TCS to my watchlist with the note buy if it falls below 3000",
        "Add TCS to my watchlist, note: when it falls",
        "Tell me if TCS is overbought and add Wipro to my watchlist",
        "When is TCS reporting? Add TCS to my watchlist",
    ] {
        assert_eq!(proposed(&bench, said).len(), 1, "{said}");
    }
}

#[test]
fn what_may_be_either_of_two_is_not_changed() {
    let bench = Bench::new();
    for earlier in ["Compare TCS and Infosys", "price of TCS and Infosys", "price of TCS and news of Infosys"]
    {
        let step = bench.decide(&[earlier], "add that to my watchlist").step;
        let expected = "Which stock do you mean: INFY, TCS?";
        assert_eq!(step, Step::Clarify(expected.to_owned()), "{earlier}");
    }
    let Step::Call(calls) = bench.decide(&["price of TCS"], "add that to my watchlist").step else {
        panic!("one thing is meant")
    };
    assert_eq!(calls[0].arguments["symbol"], "TCS");
}

#[test]
fn an_order_may_end_with_its_verb_in_hindi() {
    let bench = Bench::new();
    for (said, tool) in [
        ("TCS ko watchlist mein daal do", "add_to_watchlist"),
        ("yaar titan ko watchlist me daal do", "add_to_watchlist"),
        ("Wipro ko meri watchlist mein add kar do please", "add_to_watchlist"),
        ("meri watchlist se Cipla nikaal do", "remove_from_watchlist"),
        ("watchlist se Trent remove kar dijiye", "remove_from_watchlist"),
    ] {
        let proposed = proposed(&bench, said);
        assert_eq!(proposed.iter().map(|call| &call.tool).collect::<Vec<_>>(), [tool], "{said}");
    }
    for said in [
        "TCS ko watchlist mein mat daalo",
        "Rahul ne kaha TCS ko watchlist mein daal do",
        "maine TCS ko watchlist mein daala",
        "kya TCS ko watchlist mein daal do",
        "agar gire to TCS ko watchlist mein daal do",
        "TCS ko portfolio mein daal do",
        "kal TCS ko watchlist mein daal do",
        "TCS hatao aur Infosys daal do",
        "TCS gira to watchlist mein daal do",
        "TCS ko drop karo",
        "TCS ko get karo",
    ] {
        assert_eq!(self::proposed(&bench, said), [], "{said}");
    }
}

#[test]
fn a_verb_without_its_object_is_no_order() {
    let bench = Bench::new();
    for said in
        ["Set Titan", "change Titan", "create Titan", "watch list of TCS", "watch list Titan", "ad of Titan"]
    {
        assert_eq!(proposed(&bench, said), [], "{said}");
    }
    for said in ["track Titan", "monitor Titan", "set the note on Titan to: buy below 3000"] {
        assert_eq!(proposed(&bench, said).len(), 1, "{said}");
    }
}

/// Another author's, of whom nothing has been read: what it reaches stands in docs/PLANNER.md and must not get worse.
#[test]
fn the_orders_of_another_author_are_proposed_as_stated() {
    let bench = Bench::new();
    let (orders, others) =
        (lines::<Order>("held_out/orders.jsonl"), lines::<NoOrder>("held_out/no_orders.jsonl"));
    let is_right = |order: &&Order| are_wanted(&bench, &order.calls, &proposed(&bench, &order.said));
    let right = orders.iter().filter(is_right).count();
    let any = orders.iter().filter(|order| !proposed(&bench, &order.said).is_empty()).count();
    let wrong = others.iter().filter(|other| !proposed(&bench, &other.said).is_empty()).count();
    println!(
        "held out: {right} of {} proposed as given, {any} at all; {wrong} of {} others",
        orders.len(),
        others.len()
    );
    assert_eq!((orders.len(), others.len()), (60, 60));
    assert!(right >= 49 && wrong <= 1, "{right}, {wrong}");
}

#[test]
fn only_a_clear_yes_accepts_a_proposal() {
    let answers = lines::<Reply>("answers.jsonl");
    assert_eq!(answers.len(), 60);
    for Reply { said, is_yes } in &answers {
        let accepts = proposal::answer(said) == ProposalAnswer::Yes;
        assert!(*is_yes || !accepts, "{said:?} accepts");
    }
    let understood =
        answers.iter().filter(|it| it.is_yes && proposal::answer(&it.said) == ProposalAnswer::Yes).count();
    let yeses = answers.iter().filter(|it| it.is_yes).count();
    println!("answers: {understood} of {yeses} yeses understood");
    assert!(understood * 10 >= yeses * 9, "{understood} of {yeses}");
}

#[test]
fn a_generated_phrase_accepts_nothing_by_itself() {
    let Generated { verbs, nouns, names } = serde_json::from_str(&text("generated.json")).expect("JSON");
    let mut count = 0;
    for verb in &verbs {
        for (noun, name) in nouns.iter().flat_map(|noun| names.iter().map(move |name| (noun, name))) {
            for phrase in [format!("{verb} {name} {noun}"), format!("{noun} {name} {verb}")] {
                assert_ne!(proposal::answer(&phrase), ProposalAnswer::Yes, "{phrase}");
                count += 1;
            }
        }
    }
    assert!(count >= 500, "{count}");
}
