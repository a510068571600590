//! How often plans are right, with the floors that they must not fall below.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::planner::{Plan, PlannedCall, Step};

use super::{
    offered::Bench,
    questions::{Expect, Question, Wanted, are_wanted, read},
};

/// What was counted over a file.
#[derive(Debug, Default)]
struct Scores {
    relevant: u32,
    first: u32,
    among_three: u32,
    refused: u32,
    arguments: u32,
    irrelevant: u32,
    called: u32,
    asked: (u32, u32),
    orders: (u32, u32),
    clean: u32,
    misses: Vec<String>,
}

impl Scores {
    fn of(path: &str) -> Self {
        let (bench, mut scores) = (Bench::new(), Self::default());
        for question in read(path) {
            let plan = decide(&bench, &question);
            scores.add_or_miss(&bench, &question, &plan);
        }
        scores
    }

    fn add_or_miss(&mut self, bench: &Bench, question: &Question, plan: &Plan) -> bool {
        let is_right = self.add(bench, question, plan);
        if !is_right {
            self.misses.push(format!("{} {:?}: {:?}", question.id, question.said, plan.step));
        }
        is_right
    }

    fn add(&mut self, bench: &Bench, question: &Question, plan: &Plan) -> bool {
        let calls = match &plan.step {
            Step::Call(calls) => &calls[..],
            _ => &[],
        };
        match question.expect {
            Expect::Call => self.add_relevant(bench, question, plan, calls),
            Expect::None => {
                self.irrelevant += 1;
                self.called += u32::from(!calls.is_empty());
                calls.is_empty()
            }
            Expect::Clarify => counted(&mut self.asked, matches!(plan.step, Step::Clarify(_))),
            Expect::Refuse => counted(&mut self.orders, matches!(plan.step, Step::Refuse(_))),
        }
    }

    /// Adds a question, and counts it as clean if all of it has a part in the right calls.
    fn add_clean(&mut self, bench: &Bench, question: &Question) {
        let plan = decide(bench, question);
        let is_right = self.add_or_miss(bench, question, &plan);
        let Step::Call(calls) = &plan.step else { return };
        let mut words = bench.left_out(&question.said, calls).words;
        words.retain(|word| !question.unused.iter().any(|it| it.eq_ignore_ascii_case(word)));
        if is_right && words.is_empty() {
            self.clean += 1;
        } else if is_right {
            self.misses.push(format!("{} {:?}: right, but leaves out {words:?}", question.id, question.said));
        }
    }

    fn add_relevant(
        &mut self,
        bench: &Bench,
        question: &Question,
        plan: &Plan,
        calls: &[PlannedCall],
    ) -> bool {
        let chosen: BTreeSet<_> = calls.iter().map(|it| it.tool.as_str()).collect();
        // What is as good counts where it was chosen.
        let names = |calls: &[Wanted]| calls.iter().map(|it| it.tool.clone()).collect::<BTreeSet<_>>();
        let is_other = !question.also.is_empty() && names(&question.also).iter().eq(chosen.iter());
        let tools = if is_other { &question.also } else { &question.tools };
        let wanted: BTreeSet<_> = tools.iter().map(|it| it.tool.as_str()).collect();
        let others = plan.alternatives.iter().map(|it| it.tool.as_str());
        let near: BTreeSet<_> = chosen.iter().copied().chain(others).take(wanted.len() + 2).collect();
        self.relevant += 1;
        self.first += u32::from(chosen == wanted);
        self.among_three += u32::from(wanted.is_subset(&near));
        self.refused += u32::from(calls.is_empty());
        let is_right = chosen == wanted && are_wanted(bench, tools, calls);
        self.arguments += u32::from(is_right);
        is_right
    }

    fn table(&self, name: &str) -> String {
        let Self {
            relevant, first, among_three, refused, arguments, irrelevant, called, asked, orders, ..
        } = self;
        format!(
            "{name}: tool acc@1 {:.3}, acc@3 {:.3} of {relevant}; all arguments right, given the tool {:.3}; \
             irrelevant called {:.3} of {irrelevant}; relevant refused {:.3}; asked back {} of {}; orders refused {} of {}",
            share(*first, *relevant),
            share(*among_three, *relevant),
            share(*arguments, *first),
            share(*called, *irrelevant),
            share(*refused, *relevant),
            asked.0,
            asked.1,
            orders.0,
            orders.1
        )
    }
}

fn decide(bench: &Bench, question: &Question) -> Plan {
    let earlier: Vec<_> = question.dialogue.iter().flatten().map(String::as_str).collect();
    bench.decide(&earlier, &question.said)
}

fn counted((right, all): &mut (u32, u32), is_right: bool) -> bool {
    *all += 1;
    *right += u32::from(is_right);
    is_right
}

fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all.max(1))
}

/// What a file must reach.
struct Floors {
    first: f64,
    among_three: f64,
    arguments: f64,
    called: f64,
    refused: f64,
}

impl Floors {
    #[track_caller]
    fn hold(&self, name: &str, scores: &Scores) {
        let table = scores.table(name);
        assert!(share(scores.first, scores.relevant) >= self.first, "acc@1: {table}");
        assert!(share(scores.among_three, scores.relevant) >= self.among_three, "acc@3: {table}");
        assert!(share(scores.arguments, scores.first) >= self.arguments, "arguments: {table}");
        assert!(share(scores.called, scores.irrelevant) <= self.called, "irrelevant: {table}");
        assert!(share(scores.refused, scores.relevant) <= self.refused, "refused: {table}");
    }
}

#[test]
fn the_questions_of_the_fixture_are_understood() {
    let scores = Scores::of("tests/fixtures/agent/questions.jsonl");
    println!("{}\n  {}", scores.table("questions"), scores.misses.join("\n  "));
    assert!(scores.relevant >= 200 && scores.irrelevant >= 40 && scores.asked.1 >= 20, "{scores:?}");
    let floors = Floors { first: 0.95, among_three: 0.99, arguments: 0.95, called: 0.08, refused: 0.03 };
    floors.hold("questions", &scores);
    assert_eq!(scores.orders.0, scores.orders.1, "an order is never carried out, and always refused");
}

/// Written by somebody who knew names and titles of the tools alone. Nothing is fitted to it, and its misses are not
/// printed, so that nobody does. What it reaches stands in docs/PLANNER.md; it must not get worse.
#[test]
fn the_questions_of_another_author_are_understood_as_well_as_stated() {
    let scores = Scores::of("tests/fixtures/agent/held_out.jsonl");
    println!("{}", scores.table("held out"));
    let floors = Floors { first: 0.90, among_three: 0.97, arguments: 0.90, called: 0.12, refused: 0.05 };
    floors.hold("held out", &scores);
}

/// What was held out before: its kinds of misses have been read.
#[test]
fn the_questions_that_were_held_out_before_are_understood_as_well_as_stated() {
    let scores = Scores::of("tests/fixtures/agent/held_out_1.jsonl");
    println!("{}", scores.table("held out 1"));
    let floors = Floors { first: 0.90, among_three: 0.97, arguments: 0.90, called: 0.12, refused: 0.05 };
    floors.hold("held out 1", &scores);
}

/// What the thresholds are fitted on.
#[test]
fn the_questions_of_development_are_understood_as_well_as_stated() {
    let scores = Scores::of("tests/fixtures/agent/developed.jsonl");
    println!("{}", scores.table("developed"));
    let floors = Floors { first: 0.92, among_three: 0.97, arguments: 0.95, called: 0.08, refused: 0.04 };
    floors.hold("developed", &scores);
}

/// The scores of each kind, by what stands before the hyphen of an id.
fn by_kind(path: &str) -> BTreeMap<String, Scores> {
    let (bench, mut kinds) = (Bench::new(), BTreeMap::<String, Scores>::new());
    for question in read(path) {
        let kind = question.id.split('-').next().expect("a kind").to_owned();
        for name in [kind, "total".to_owned()] {
            kinds.entry(name).or_default().add_clean(&bench, &question);
        }
    }
    for (name, scores) in &kinds {
        println!("{}; right and clean {:.3}", scores.table(name), share(scores.clean, scores.relevant));
    }
    kinds
}

/// The goals stand in the file: no floors.
#[test]
fn questions_by_kind() {
    let kinds = by_kind("tests/fixtures/agent/by_kind.jsonl");
    let total = &kinds["total"];
    println!("  {}", total.misses.join("\n  "));
    assert_eq!(total.relevant + total.irrelevant + total.asked.1 + total.orders.1, 200);
    // Its misses have been read: the floors are just below what it has come to, and not what is to be expected.
    assert!(share(total.first, total.relevant) >= 0.95, "right tool");
    assert!(share(total.clean, total.relevant) >= 0.94, "right and clean");
    assert!(share(total.called, total.irrelevant) <= 0.08, "irrelevant");
}

/// By another author, after the planner was made better by those of `by_kind`; its misses have been read since.
#[test]
fn questions_by_kind_that_were_held_out_before() {
    let total = &by_kind("tests/fixtures/agent/held_out_2.jsonl")["total"];
    println!("  {}", total.misses.join("\n  "));
    assert_eq!(total.relevant + total.irrelevant + total.asked.1 + total.orders.1, 120);
    assert!(share(total.first, total.relevant) >= 0.90, "right tool");
    assert!(share(total.clean, total.relevant) >= 0.85, "right and clean");
    assert!(share(total.called, total.irrelevant) <= 0.08, "irrelevant");
}

/// By a third author, after the planner was made better by those of `held_out_2`; its misses are not printed.
#[test]
fn questions_by_kind_that_are_held_out() {
    let total = &by_kind("tests/fixtures/agent/held_out_3.jsonl")["total"];
    assert_eq!(total.relevant + total.irrelevant + total.asked.1 + total.orders.1, 200);
    assert!(share(total.first, total.relevant) >= 0.90, "right tool");
    assert!(share(total.clean, total.relevant) >= 0.85, "right and clean");
    assert!(share(total.called, total.irrelevant) <= 0.08, "irrelevant");
}

#[test]
fn every_tool_is_asked_for_at_least_five_times() {
    let bench = Bench::new();
    let questions = read("tests/fixtures/agent/questions.jsonl");
    let wanted: Vec<_> = questions.iter().flat_map(|it| &it.tools).map(|it| it.tool.as_str()).collect();
    for tool in bench.offer.tools().iter().filter(|tool| !tool.routing.keywords.is_empty()) {
        let name = tool.definition.name.as_str();
        let count = wanted.iter().filter(|it| **it == name).count();
        assert!(count >= 5, "{name}: {count}");
    }
}
