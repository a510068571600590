//! The word list: words about stocks and companies, in lower case and sorted. Neither complete nor weighted.

#[rustfmt::skip]
pub(super) const POSITIVE: &[&str] = &[
    "accumulate", "accumulating", "attractive", "beat", "beats", "best", "bonus", "boom", "breakout",
    "bullish", "buy", "buying", "cheap", "compounder", "compounding", "confident", "conviction", "convinced",
    "deleveraging", "dividend", "efficient", "excellent", "expand", "expanding", "expansion", "gain",
    "gained", "gains", "good", "great", "healthy", "high-quality", "improve", "improved", "improvement",
    "improving", "leader", "leadership", "moat", "multibagger", "opportunity", "optimistic", "outperform",
    "outperformed", "profit", "profitable", "promising", "rallied", "rally", "re-rating", "rebound", "record", "recover",
    "recovered", "recovery", "rerating", "resilient", "robust", "solid", "stellar", "strong", "stronger", "tailwind",
    "tailwinds", "undervalued", "upbeat", "upgrade", "upgraded", "upside", "win", "winner", "wins",
];

#[rustfmt::skip]
pub(super) const NEGATIVE: &[&str] = &[
    "avoid", "bad", "bearish", "broken", "bubble", "collapse", "concern", "concerned", "concerns",
    "correction", "crash", "crashed", "cut", "cuts", "default", "delay", "delayed", "dilution",
    "disappointed", "disappointing", "downgrade", "downgraded", "downside", "exit", "exited", "expensive",
    "fail", "failed", "fraud", "headwind", "headwinds", "impairment", "investigation", "lawsuit", "lose",
    "loses", "loss", "losses", "lost", "manipulation", "miss", "missed", "misses", "overvalued", "penalty",
    "pessimistic", "pledge", "pledged", "poor", "pressure", "probe", "risk", "risks", "risky", "scam", "sell",
    "selling", "slow", "slowdown", "slowing", "stagnant", "stress", "stretched", "struggle", "struggling",
    "trap", "trimmed", "trimming", "uncertain", "uncertainty", "underperform", "underperformed", "volatile",
    "warning", "weak", "weaker", "weakness", "worried", "worries", "worry", "worrying", "worse", "worst",
    "write-off",
];

/// Something went up: good, unless it is one of [`BURDENS`].
#[rustfmt::skip]
pub(super) const RISES: &[&str] = &[
    "grew", "grow", "growing", "jump", "jumped", "jumps", "raised", "rise", "rises", "rising", "rose",
    "surge", "surged", "surges",
];

/// Something went down: bad, unless it is one of [`BURDENS`].
#[rustfmt::skip]
pub(super) const FALLS: &[&str] = &[
    "decline", "declined", "declines", "declining", "drop", "dropped", "drops", "fall", "falling", "falls", "fell",
    "plunge", "plunged", "plunges", "slump", "slumped", "tumble", "tumbled",
];

/// What is better the less there is of it.
#[rustfmt::skip]
pub(super) const BURDENS: &[&str] = &[
    "attrition", "borrowing", "borrowings", "cost", "costs", "debt", "debtors", "dues", "expense", "expenses",
    "inventories", "inventory", "leverage", "loss", "losses", "npa", "npas", "payables", "pledge", "pledges",
    "provisions", "receivables", "slippages", "tax", "taxes",
];

/// Words that say something together, and another thing or nothing alone: with what they are worth.
pub(super) const PHRASES: &[(&str, i32)] = &[
    ("added more", 1),
    ("downside is limited", 1),
    ("downside limited", 1),
    ("downside looks limited", 1),
    ("downside seems limited", 1),
    ("limited downside", 1),
    ("margin of safety", 1),
    ("profit booking", 0),
    ("red flag", -1),
    ("red flags", -1),
];

/// Words that turn those behind them into their opposite.
#[rustfmt::skip]
pub(super) const NEGATIONS: &[&str] = &[
    "aren't", "barely", "can't", "cannot", "cant", "couldn't", "didn't", "doesn't", "doesnt", "don't", "dont",
    "hadn't", "hardly", "hasn't", "haven't", "isn't", "isnt", "lack", "neither", "never", "no", "nobody",
    "none", "nor", "not", "nothing", "shouldn't", "wasn't", "weren't", "without", "won't", "wouldn't",
];

/// Words that begin a clause of its own.
pub(super) const CONTRASTS: &[&str] = &["although", "but", "however", "though", "yet"];

/// Words that a question begins with.
#[rustfmt::skip]
pub(super) const QUESTIONS: &[&str] = &[
    "any", "anyone", "are", "can", "could", "did", "do", "does", "how", "is", "should", "was", "what", "when",
    "where", "which", "who", "why", "will", "would",
];
