//! The word list: what is said of stocks and companies, in lower case and in order. Neither complete nor weighted.

/// Words of hope.
#[rustfmt::skip]
pub(super) const POSITIVE: &[&str] = &[
    "accumulate", "accumulating", "attractive", "beat", "beats", "best", "bonus", "boom", "breakout",
    "bullish", "buy", "buying", "cheap", "compounder", "compounding", "confident", "conviction",
    "deleveraging", "dividend", "efficient", "excellent", "expand", "expanding", "expansion", "gain",
    "gained", "gains", "good", "great", "grew", "grow", "growing", "growth", "healthy", "high-quality",
    "improve", "improved", "improvement", "improving", "jump", "jumped", "jumps", "leader", "leadership",
    "moat", "momentum", "multibagger", "opportunity", "optimistic", "outperform", "outperformed", "profit",
    "profitable", "promising", "rallied", "rally", "rebound", "record", "recover", "recovered", "recovery",
    "resilient", "rise", "rises", "robust", "rose", "solid", "stellar", "strong", "stronger", "surge",
    "surged", "surges", "tailwind", "tailwinds", "undervalued", "upgrade", "upgraded", "upside", "win",
    "winner", "wins",
];

/// Words of worry.
#[rustfmt::skip]
pub(super) const NEGATIVE: &[&str] = &[
    "avoid", "bad", "bearish", "bubble", "collapse", "concern", "concerned", "concerns", "correction",
    "crash", "crashed", "cut", "cuts", "decline", "declined", "declines", "declining", "default", "delay",
    "delayed", "dilution", "disappointed", "disappointing", "downgrade", "downgraded", "downside", "drop",
    "dropped", "drops", "exit", "exited", "expensive", "fail", "failed", "fall", "falling", "falls", "fell",
    "fraud", "headwind", "headwinds", "impairment", "investigation", "lawsuit", "lose", "loses", "loss",
    "losses", "lost", "manipulation", "miss", "missed", "misses", "overvalued", "penalty", "pessimistic",
    "pledge", "pledged", "plunge", "plunged", "plunges", "poor", "pressure", "probe", "risk", "risks",
    "risky", "scam", "sell", "selling", "slow", "slowdown", "slowing", "slump", "slumped", "stagnant",
    "stress", "struggle", "struggling", "trap", "tumble", "tumbled", "uncertain", "uncertainty",
    "underperform", "underperformed", "volatile", "warning", "weak", "weaker", "weakness", "worried", "worry",
    "worse", "worst", "write-off",
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
