//! Suggestions: the known setting nearest to an unknown one.

use toolwire_contract::near;

/// What is said of a name where another was probably meant.
pub(super) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let nearest = near::names(name, known).into_iter().next()?;
    Some(format!("unknown setting. Did you mean {nearest}?"))
}
