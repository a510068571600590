//! What a pattern takes of the budget of a catalogue: its size once it is compiled, estimated without compiling it.

use toolwire_schema::pattern::states;

/// The least that a pattern counts, in parts: of the smallest too, a matcher takes some KiB.
const MIN_PARTS: usize = 64;
/// One part is about a KiB of automaton.
const STATES_OF_PART: usize = 16;

/// The parts of a catalogue that a pattern counts as.
pub(super) fn parts(pattern: &str) -> usize {
    // What is no pattern is refused when it is compiled.
    states(pattern).map_or(MIN_PARTS, |states| (states / STATES_OF_PART).max(MIN_PARTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_pattern_counts_the_least_and_one_that_repeats_much_for_all_its_copies() {
        for ordinary in [
            r"^[A-Z]-[0-9]+$",
            r"^\w+([.-]\w+)*@\w+([.-]\w+)*$",
            r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$",
            "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            "^[À-ÿ ]+$",
            r"^\S.*$",
        ] {
            assert_eq!(parts(ordinary), MIN_PARTS, "{ordinary}");
        }
        assert_eq!(parts("^(a{100}){60}$"), (60 * 102 + 4) / STATES_OF_PART);
        assert!(parts(r"^\p{L}{64}$") > 10_000, "{}", parts(r"^\p{L}{64}$"));
        assert!(parts("^(((a{1000}){1000}){1000}){1000}$") > 1_000usize.pow(4) / STATES_OF_PART);
    }
}
