//! Did you mean: the setting most like one that means nothing.

use toolwire_contract::near;

/// What is said of a name where another was probably meant.
pub(super) fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let nearest = near::names(name, known).into_iter().next()?;
    Some(format!("unknown setting. Did you mean {nearest}?"))
}
