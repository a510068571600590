//! How often a message is shown what it asks, and how often something else. docs/PLANNER.md has the figures.

use std::collections::BTreeMap;

use toolwire::{
    engine::registry::Category,
    planner::{Plan, PlannedCall, Step},
};

use super::{
    offered::Bench,
    questions::{Expect, Question, Wanted, are_wanted, read},
};

/// What was counted over some messages.
#[derive(Debug, Default)]
struct Scores {
    all: u32,
    /// Messages that a tool can answer, and those of them that are shown just that.
    answerable: u32,
    right: u32,
    /// Messages that are shown what they do not ask.
    wrong: u32,
    asked: u32,
    irrelevant: u32,
    irrelevant_shown: u32,
    /// Orders that no tool carries out, and those of them that are refused.
    orders: u32,
    refused: u32,
    misses: Vec<String>,
}

impl Scores {
    fn of(bench: &Bench, file: &str) -> Self {
        let mut scores = Self::default();
        for question in read(&format!("tests/fixtures/agent/{file}.jsonl")) {
            scores.add(bench, &question);
        }
        scores
    }

    fn add(&mut self, bench: &Bench, question: &Question) {
        let plan = decide(bench, question);
        let calls = shown(&plan);
        let fits = |wanted: &[Wanted]| !wanted.is_empty() && are_wanted(bench, wanted, calls);
        let is_right = fits(&question.tools) || fits(&question.also);
        let (is_shown, is_call) = (!calls.is_empty(), question.expect == Expect::Call);
        self.all += 1;
        self.answerable += u32::from(is_call);
        self.right += u32::from(is_call && is_right);
        self.wrong += u32::from(is_shown && !is_right);
        self.asked += u32::from(!is_shown);
        self.irrelevant += u32::from(question.expect == Expect::None);
        self.irrelevant_shown += u32::from(question.expect == Expect::None && is_shown);
        self.orders += u32::from(question.expect == Expect::Refuse);
        let is_refused = matches!(plan.step, Step::Refuse(_));
        self.refused += u32::from(question.expect == Expect::Refuse && is_refused);
        if is_shown != is_right || (is_call && !is_right) {
            let kind = if is_shown { "WRONG" } else { "asked" };
            self.misses.push(format!("{kind} {} {:?}: {}", question.id, question.said, outline(&plan)));
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.all += other.all;
        self.answerable += other.answerable;
        self.right += other.right;
        self.wrong += other.wrong;
        self.asked += other.asked;
        self.irrelevant += other.irrelevant;
        self.irrelevant_shown += other.irrelevant_shown;
        self.orders += other.orders;
        self.refused += other.refused;
    }

    fn row(&self, name: &str) -> String {
        let Self {
            all, answerable, right, wrong, asked, irrelevant, irrelevant_shown, orders, refused, ..
        } = self;
        format!(
            "{name}: right and shown {:.3} of {answerable}; shown for another question {:.3} of {all}; asked {asked}; \
             irrelevant shown {irrelevant_shown} of {irrelevant}; orders refused {refused} of {orders}",
            share(*right, *answerable),
            share(*wrong, *all),
        )
    }
}

fn decide(bench: &Bench, question: &Question) -> Plan {
    let earlier: Vec<_> = question.dialogue.iter().flatten().map(String::as_str).collect();
    bench.decide(&earlier, &question.said)
}

/// The calls whose results are shown, or that are proposed where they change something.
fn shown(plan: &Plan) -> &[PlannedCall] {
    match &plan.step {
        Step::Call(calls) => calls,
        _ => &[],
    }
}

fn outline(plan: &Plan) -> String {
    let call =
        |call: &PlannedCall| format!("{}{}", call.tool, serde_json::Value::Object(call.arguments.clone()));
    let calls = |calls: &[PlannedCall]| calls.iter().map(call).collect::<Vec<_>>().join(" + ");
    match &plan.step {
        Step::Call(all) => calls(all),
        Step::Offer { calls: all, unclear } => format!("{} without {unclear:?}", calls(all)),
        other => format!("{other:?}"),
    }
}

fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all.max(1))
}

/// The sets of questions; the misses in the last two are not printed, so that nobody fits the planner to them.
const SETS: [&str; 8] =
    ["questions", "developed", "by_kind", "held_out_1", "held_out_2", "fresh_1", "held_out", "held_out_3"];
const HELD_OUT: usize = 2;

#[test]
fn what_is_shown_is_what_was_asked() {
    let (bench, mut total) = (Bench::new(), Scores::default());
    for (at, set) in SETS.iter().enumerate() {
        let scores = Scores::of(&bench, set);
        println!("{}", scores.row(set));
        for miss in scores.misses.iter().filter(|_| at + HELD_OUT < SETS.len()) {
            println!("  {miss}");
        }
        total.add_all(&scores);
    }
    println!("{}", total.row("all"));
    assert!(share(total.wrong, total.all) <= 0.01, "{}", total.row("all"));
    assert!(share(total.right, total.answerable) >= 0.75, "{}", total.row("all"));
    assert!(share(total.irrelevant_shown, total.irrelevant) <= 0.02, "{}", total.row("all"));
}

/// The kinds of the fresh questions, by what stands before the hyphen of an id.
#[test]
fn no_kind_of_question_is_shown_something_else() {
    let (bench, mut kinds) = (Bench::new(), BTreeMap::<String, Scores>::new());
    for question in read("tests/fixtures/agent/fresh_1.jsonl") {
        let kind = question.id.split('-').next().expect("a kind").to_owned();
        kinds.entry(kind).or_default().add(&bench, &question);
    }
    for (kind, scores) in &kinds {
        println!("{}", scores.row(kind));
        assert!(share(scores.wrong, scores.all) <= 0.05, "{}", scores.row(kind));
    }
}

#[test]
fn only_orders_propose_changes() {
    let bench = Bench::new();
    for set in SETS {
        for question in read(&format!("tests/fixtures/agent/{set}.jsonl")) {
            let plan = decide(&bench, &question);
            for call in shown(&plan) {
                let is_read = bench.tool(&call.tool).definition.category == Category::Read;
                let is_ordered = question.tools.iter().chain(&question.also).any(|it| it.tool == call.tool);
                assert!(is_read || is_ordered, "{}: {call:?}", question.said);
            }
        }
    }
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
