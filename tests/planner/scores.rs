//! How often a message is shown what it asks, and how often something else. docs/PLANNER.md has the figures.

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
    /// Those of them that are one wish in plain English; others are asked about.
    plain: u32,
    plain_right: u32,
    /// Messages that are shown what they do not ask.
    wrong: u32,
    asked: u32,
    irrelevant: u32,
    irrelevant_shown: u32,
    /// Orders that no tool carries out, and those of them that are refused.
    orders: u32,
    refused: u32,
    /// Messages that mean several things, and those of them that are asked about.
    unclear: u32,
    clarified: u32,
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
        self.plain += u32::from(is_call && is_plain(question));
        self.plain_right += u32::from(is_call && is_plain(question) && is_right);
        self.wrong += u32::from(is_shown && !is_right);
        self.asked += u32::from(!is_shown);
        self.irrelevant += u32::from(question.expect == Expect::None);
        self.irrelevant_shown += u32::from(question.expect == Expect::None && is_shown);
        self.orders += u32::from(question.expect == Expect::Refuse);
        let is_refused = matches!(plan.step, Step::Refuse(_));
        self.refused += u32::from(question.expect == Expect::Refuse && is_refused);
        let is_clarified = matches!(plan.step, Step::Clarify(_) | Step::Offer { .. });
        self.unclear += u32::from(question.expect == Expect::Clarify);
        self.clarified += u32::from(question.expect == Expect::Clarify && is_clarified);
        if is_shown != is_right || (is_call && !is_right) {
            let kind = if is_shown { "WRONG" } else { "asked" };
            self.misses.push(format!("{kind} {} {:?}: {}", question.id, question.said, outline(&plan)));
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.all += other.all;
        self.answerable += other.answerable;
        self.right += other.right;
        self.plain += other.plain;
        self.plain_right += other.plain_right;
        self.wrong += other.wrong;
        self.asked += other.asked;
        self.irrelevant += other.irrelevant;
        self.irrelevant_shown += other.irrelevant_shown;
        self.orders += other.orders;
        self.refused += other.refused;
        self.unclear += other.unclear;
        self.clarified += other.clarified;
    }

    fn row(&self, name: &str) -> String {
        let Self { all, answerable, right, plain, plain_right, wrong, asked, .. } = self;
        let Self { irrelevant, irrelevant_shown, orders, refused, unclear, clarified, .. } = self;
        format!(
            "{name}: right and shown {:.3} of {plain} plain ones, {:.3} of {answerable}; shown for another question {wrong} ({:.4}) of {all}; asked {asked}; \
             irrelevant shown {irrelevant_shown} of {irrelevant}; orders refused {refused} of {orders}; \
             clarified {clarified} of {unclear}",
            share(*plain_right, *plain),
            share(*right, *answerable),
            share(*wrong, *all),
        )
    }
}

/// The kinds of questions, by what stands before the hyphen of an id, of which the rule asks: they are not plain
/// English, or ask for two things.
const ASKED: [&str; 3] = ["hinglish", "typo", "two"];

/// Whether a question is one wish in plain English. In the sets whose ids have no kind, only two wishes can be told.
fn is_plain(question: &Question) -> bool {
    let kind = question.id.split('-').next().unwrap_or_default();
    !ASKED.contains(&kind) && question.tools.windows(2).all(|two| two[0].tool == two[1].tool)
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

/// A set of questions, and what it must reach by itself.
struct Set {
    file: &'static str,
    messages: u32,
    /// The least share of plain questions that are right and shown.
    least_right: f64,
    /// The most messages that are shown what they do not ask.
    most_wrong: u32,
}

const fn set(file: &'static str, messages: u32, least_right: f64, most_wrong: u32) -> Set {
    Set { file, messages, least_right, most_wrong }
}

/// The misses in the last three are not printed, so that nobody fits the planner to them.
const SETS: [Set; 9] = [
    set("questions", 313, 0.86, 0),
    set("developed", 929, 0.68, 9),
    set("by_kind", 200, 0.48, 2),
    set("held_out_1", 130, 0.43, 0),
    set("held_out_2", 120, 0.75, 1),
    set("fresh_1", 300, 0.92, 4),
    set("held_out", 194, 0.55, 5),
    set("held_out_3", 200, 0.63, 1),
    set("fresh_2", 150, 0.96, 2),
];
const HELD_OUT: usize = 3;

#[test]
fn what_is_shown_is_what_was_asked() {
    let (bench, mut total) = (Bench::new(), Scores::default());
    for (at, set) in SETS.iter().enumerate() {
        let scores = Scores::of(&bench, set.file);
        let row = scores.row(set.file);
        println!("{row}");
        for miss in scores.misses.iter().filter(|_| at + HELD_OUT < SETS.len()) {
            println!("  {miss}");
        }
        assert_eq!(scores.all, set.messages, "{row}");
        assert!(scores.wrong <= set.most_wrong, "{row}");
        assert!(share(scores.plain_right, scores.plain) >= set.least_right, "{row}");
        total.add_all(&scores);
    }
    let row = total.row("all");
    println!("{row}");
    assert!(share(total.wrong, total.all) <= 0.01, "{row}");
    assert!(share(total.plain_right, total.plain) >= 0.68, "{row}");
    assert!(share(total.irrelevant_shown, total.irrelevant) <= 0.02, "{row}");
    assert!(share(total.refused, total.orders) >= 0.94, "{row}");
}

#[test]
fn only_orders_propose_changes() {
    let bench = Bench::new();
    for set in SETS {
        for question in read(&format!("tests/fixtures/agent/{}.jsonl", set.file)) {
            let plan = decide(&bench, &question);
            for call in shown(&plan) {
                let is_read = bench.tool(&call.tool).definition.category == Category::Read;
                let is_ordered = question.tools.iter().chain(&question.also).any(|it| it.tool == call.tool);
                assert!(is_read || is_ordered, "{}: {call:?}", question.said);
            }
        }
    }
}
