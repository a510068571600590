//! Which messages propose a change: counted over files whose author had not read the planner. Nothing is fitted to
//! `no_orders.jsonl`; what is missed of `orders.jsonl` has been read. Of
//! `held_out/` nothing has been read. `no_whole_orders.txt` are our own messages, of which none is one whole order.

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

/// How many of the orders are one change: several are never proposed.
fn single(orders: &[Order]) -> usize {
    orders.iter().filter(|order| order.calls.len() == 1).count()
}

#[test]
fn most_orders_are_proposed_exactly_as_they_were_given() {
    let (bench, orders) = (Bench::new(), lines::<Order>("orders.jsonl"));
    let is_right = |order: &&Order| are_wanted(&bench, &order.calls, &proposed(&bench, &order.said));
    for order in orders.iter().filter(|order| !is_right(order)) {
        println!("  {}: {:?}", order.said, proposed(&bench, &order.said));
    }
    let right = orders.iter().filter(is_right).count();
    let any = orders.iter().filter(|order| !proposed(&bench, &order.said).is_empty()).count();
    let single = single(&orders);
    println!(
        "orders: {right} of {single} of one change and {} proposed as given, {any} at all",
        orders.len()
    );
    assert_eq!(orders.len(), 80);
    assert!(right * 5 >= single * 3 && any == right, "{right} of {single}, {any}");
}

#[test]
fn what_orders_nothing_is_never_proposed() {
    let (bench, others) = (Bench::new(), lines::<NoOrder>("no_orders.jsonl"));
    let count = others.iter().filter(|other| !proposed(&bench, &other.said).is_empty()).count();
    println!("no orders: {count} of {} proposed", others.len());
    assert_eq!(others.len(), 80);
    assert_eq!(count, 0);
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

/// Whatever stands beside an order may take it back, and is not its: another subject, a condition, a reporter.
#[test]
fn only_a_whole_order_is_proposed() {
    let bench = Bench::new();
    for said in text("no_whole_orders.txt").lines() {
        assert_eq!(proposed(&bench, said), [], "{said}");
    }
    for said in [
        "add TCS to my watchlist with the note: cheap, wait for the results",
        "Add TCS to my watchlist, note: when it falls",
        "watch Titan for me",
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
        assert!(matches!(step, Step::Clarify(_)), "{earlier}: {step:?}");
    }
}

#[test]
fn an_order_that_is_not_understood_is_answered_with_how_to_give_it() {
    let bench = Bench::new();
    for said in [
        "add everything from the small cap screen to my watchlist",
        "If TCS falls below 3000 add it to my watchlist",
        "add TCS to my watchlist, no wait, just its price",
    ] {
        let step = bench.decide(&[], said).step;
        let Step::Clarify(answer) = &step else { panic!("{said}: {step:?}") };
        assert!(answer.starts_with("I change something only if I understand the whole order"), "{answer}");
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
    let (single, all) = (single(&orders), orders.len());
    println!(
        "held out: {right} of {single} of one change and {all} proposed as given, {any} at all; {wrong} of {} others",
        others.len()
    );
    assert_eq!((all, others.len()), (60, 60));
    assert!(right * 2 >= single && any == right && wrong == 0, "{right} of {single}, {any}, {wrong}");
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
