//! What a pattern takes of the budget of a catalogue: its size once it is compiled, estimated without compiling it.

use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind},
};

/// The least that a pattern counts, in parts: of the smallest too, a matcher takes some KiB.
const MIN_PARTS: usize = 64;
/// One part is about a KiB of automaton.
const STATES_OF_PART: usize = 16;
/// The states that match a class with characters beyond ASCII, of one range each.
const STATES_OF_WIDE_RANGE: usize = 8;

/// The parts of a catalogue that a pattern counts as.
pub(super) fn parts(pattern: &str) -> usize {
    // `\d`, `\s` and `\w` are ASCII in JSON Schema. Classes that name wider characters parse with Unicode only.
    let parse = |unicode| ParserBuilder::new().unicode(unicode).utf8(false).build().parse(pattern).ok();
    let hir = parse(false).or_else(|| parse(true));
    // What does not parse is refused when it is compiled.
    hir.map_or(MIN_PARTS, |hir| (states(&hir) / STATES_OF_PART).max(MIN_PARTS))
}

fn states(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Bytes(class)) if class.is_ascii() => 1,
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1,
        HirKind::Class(Class::Bytes(class)) => STATES_OF_WIDE_RANGE * class.ranges().len(),
        HirKind::Class(Class::Unicode(class)) => STATES_OF_WIDE_RANGE * class.ranges().len(),
        HirKind::Repetition(it) => {
            let copies = it.max.unwrap_or(it.min).max(1) as usize;
            // A copy that may be left out has a state for that.
            let choice = usize::from(it.max != Some(it.min));
            states(&it.sub).saturating_add(choice).saturating_mul(copies)
        }
        HirKind::Capture(it) => states(&it.sub).saturating_add(2),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().map(states).fold(all.len(), usize::saturating_add)
        }
    }
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
