//! Did you mean: the name most like one that means nothing.

/// How alike two names must be for one to be offered for the other.
const LIKENESS: f64 = 0.85;

/// What is said where one name was probably meant.
pub(super) fn meant(near: &str) -> String {
    format!("unknown setting. Did you mean {near}?")
}

/// The name most like the given one, if any is.
pub(super) fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |candidate: &str| strsim::jaro_winkler(name, candidate);
    let best = known.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) >= LIKENESS).then_some(best)
}
