//! Suggestions: the names nearest to one that does not exist.

/// Maximum number of suggestions.
const MAX_NAMES: usize = 3;

/// Minimum likeness of a suggestion.
const MIN_LIKENESS: f64 = 0.6;

/// The names most like the given one, nearest first, at most three. Case does not matter.
pub fn names<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Vec<String> {
    let name = truncate(name);
    let scored = among.map(|candidate| (likeness(&name, &truncate(candidate)), candidate));
    let mut alike: Vec<_> = scored.filter(|(score, _)| *score >= MIN_LIKENESS).collect();
    alike.sort_by(|(a, left), (b, right)| b.total_cmp(a).then(left.cmp(right)));
    alike.dedup();
    alike.into_iter().take(MAX_NAMES).map(|(_, candidate)| candidate.to_owned()).collect()
}

/// `. Did you mean a or b?`, or nothing without near names.
pub fn question(near: &[String]) -> String {
    match near {
        [] => String::new(),
        names => format!(". Did you mean {}?", names.join(" or ")),
    }
}

/// The question for the names most like the given one.
pub fn did_you_mean<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> String {
    question(&names(name, among))
}

/// A name in lower case, cut to the longest that one has: comparing costs the product of the lengths.
fn truncate(name: &str) -> String {
    name.chars().take(64).collect::<String>().to_lowercase()
}

/// The likeness of two names, from 0 to 1: by edit distance, or by the words they share.
fn likeness(left: &str, right: &str) -> f64 {
    let shared = shared_words(left, right);
    let lengths = (left.chars().count(), right.chars().count());
    // As many letters as one is longer must be added. To compare the two would take longer than all else.
    #[allow(clippy::cast_precision_loss, reason = "64 at most")]
    let most = lengths.0.min(lengths.1) as f64 / lengths.0.max(lengths.1).max(1) as f64;
    if most < MIN_LIKENESS {
        return shared;
    }
    strsim::normalized_damerau_levenshtein(left, right).max(shared)
}

fn shared_words(left: &str, right: &str) -> f64 {
    let (left, right): (Vec<_>, Vec<_>) = (left.split('_').collect(), right.split('_').collect());
    let shared = left.iter().filter(|word| right.contains(word)).count();
    #[allow(clippy::cast_precision_loss, reason = "a handful of words")]
    let share = shared as f64 / left.len().max(right.len()) as f64;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["get_quotes", "get_positions", "get_positions_list", "rank_portfolio", "YTD"];

    #[track_caller]
    fn check(name: &str, expected: &[&str]) {
        assert_eq!(names(name, NAMES.into_iter()), expected);
    }

    #[test]
    fn the_nearest_comes_first_and_the_unlike_do_not_come() {
        check("get_quote", &["get_quotes"]);
        check("get_position", &["get_positions", "get_positions_list"]);
        check("ytd", &["YTD"]);
        check("send_mail", &[]);
        check("", &[]);
    }
}
