//! Suggestions: the known setting nearest to an unknown one.

use toolwire_contract::near;

/// The problem of an unknown name that is near to a known one.
pub(super) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let nearest = near::names(name, known).into_iter().next()?;
    Some(format!("unknown setting. Did you mean {nearest}?"))
}
