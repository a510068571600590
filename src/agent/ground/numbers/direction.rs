//! Directions as they stand beside amounts: `+5%`, `fell by 5%`, `a 5% loss`, `5% below`.

use std::{collections::HashMap, sync::LazyLock};

/// Whether something becomes or is more, or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::ground) enum Direction {
    Up,
    Down,
}

/// Verbs and nouns of change; their endings are made.
const UP: &str = "rise gain climb grow increase advance jump surge rally soar spike skyrocket";
const DOWN: &str =
    "fall drop lose decline decrease sink slip slide shrink tumble plunge tank crash plummet slump dip";

/// Forms that no ending makes.
const UP_FORMS: &str = "rose risen grew grown growth profit rallied";
const DOWN_FORMS: &str = "fell fallen lost loss losses sank sunk shrank shrunk slid";

/// Those that say what has happened, where that is not seen by the ending.
const PAST: &[&str] = &["rose", "grew", "fell", "lost", "sank", "shrank", "slid"];

/// Groups of words that say what goes on, each without its first letter, which may be a capital one.
const PHRASES: &[(&str, Direction)] = &[
    ("n the red", Direction::Down),
    ("osing ground", Direction::Down),
    ("ost ground", Direction::Down),
    ("t a loss", Direction::Down),
    ("n the green", Direction::Up),
    ("aining ground", Direction::Up),
    ("ained ground", Direction::Up),
    ("t a profit", Direction::Up),
];

/// Words that say a direction of an amount beside them, and elsewhere much else.
const UP_BESIDE: &str = "up higher above";
const DOWN_BESIDE: &str = "down lower below";

/// Parts of the names of fields that have changes.
const CHANGE_NAMES: &[&str] = &["pct", "change", "return", "growth", "pl", "vs"];

/// Words that may stand between a word of change and its amount.
const BETWEEN: &[&str] =
    &["by", "about", "around", "of", "nearly", "almost", "roughly", "over", "just", "some", "another"];

/// The most words of `BETWEEN` in a row.
const MOST_BETWEEN: usize = 2;

static CHANGES: LazyLock<HashMap<String, Direction>> = LazyLock::new(|| {
    let made = |bases: &'static str, direction| {
        bases.split(' ').flat_map(forms).map(move |form| (form, direction)).collect::<Vec<_>>()
    };
    let listed =
        |forms: &'static str, direction| forms.split(' ').map(move |form| (form.to_owned(), direction));
    let made = made(UP, Direction::Up).into_iter().chain(made(DOWN, Direction::Down));
    made.chain(listed(UP_FORMS, Direction::Up)).chain(listed(DOWN_FORMS, Direction::Down)).collect()
});

/// A word with its endings, some of which no word has.
fn forms(base: &str) -> Vec<String> {
    let stem = base.strip_suffix('e').unwrap_or(base);
    let last = &base[base.len() - 1..];
    let doubled = format!("{base}{last}");
    let endings = ["ed", "ing", "er", "ers"].into_iter();
    let made = endings.flat_map(|ending| [format!("{stem}{ending}"), format!("{doubled}{ending}")]);
    made.chain([base.to_owned(), format!("{base}s"), format!("{base}es")]).collect()
}

/// The direction of a word of change.
pub(super) fn of_word(word: &str) -> Option<Direction> {
    if !word.is_ascii() || word.len() > 12 {
        return None;
    }
    CHANGES.get(word.to_ascii_lowercase().as_str()).copied()
}

/// Whether the name of a field, in parts, says a direction, so that its sign does not.
pub(super) fn is_in_name(name: &str) -> bool {
    name.split('_').any(|part| of_word(part).is_some() || part.contains("down"))
}

/// Whether a field of this name has a change, so that a positive value says that something has become more.
pub(super) fn is_change(name: &str) -> bool {
    name.split('_').any(|part| CHANGE_NAMES.contains(&part))
}

/// The direction that a sign right before an amount gives.
pub(super) fn sign(text: &str) -> Option<Direction> {
    let mut chars = text.chars().rev();
    let direction = match chars.next()? {
        '+' => Direction::Up,
        '-' | '−' => Direction::Down,
        _ => return None,
    };
    // `5-6%` is a range.
    chars.next().is_none_or(|c| c.is_whitespace() || "(|*_[$".contains(c)).then_some(direction)
}

/// The direction of a word that leads to an amount: `fell by about `, `down `.
pub(super) fn before(text: &str) -> Option<Direction> {
    let mut words = text.strip_suffix(' ')?.rsplit(' ');
    let mut word = words.next()?;
    for _ in 0..MOST_BETWEEN {
        if !BETWEEN.iter().any(|it| it.eq_ignore_ascii_case(word)) {
            break;
        }
        word = words.next()?;
    }
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    of_word(word).or(match word.to_ascii_lowercase().as_str() {
        "up" => Some(Direction::Up),
        "down" => Some(Direction::Down),
        _ => None,
    })
}

/// The direction behind an amount, unless it leads to the next one.
pub(super) fn behind(text: &str) -> Option<Direction> {
    let rest = text.strip_prefix([' ', '-'])?;
    let end = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (word, rest) = rest.split_at(end);
    let next = rest.trim_start_matches(' ').trim_start_matches("by ");
    let leads_on = next.starts_with(|c: char| c.is_ascii_digit() || "$₹€£+-".contains(c));
    let is = |words: &str| words.split(' ').any(|it| it.eq_ignore_ascii_case(word));
    let direction = match word {
        _ if is(UP_BESIDE) => Some(Direction::Up),
        _ if is(DOWN_BESIDE) => Some(Direction::Down),
        _ => of_word(word),
    };
    direction.filter(|_| !leads_on && !rest.starts_with(char::is_alphanumeric))
}

/// The words of change of a text.
pub(in crate::ground) fn words(text: &str) -> impl Iterator<Item = (Direction, &str)> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter_map(|word| Some((of_word(word)?, word)))
}

/// The first group of words of a text that says that something is more, or less.
pub(in crate::ground) fn phrase(text: &str) -> Option<(Direction, &str)> {
    PHRASES.iter().find_map(|(words, direction)| {
        let at = text.find(words)?;
        let (begin, end) = (at.checked_sub(1)?, at + words.len());
        let ends = !text[end..].starts_with(char::is_alphanumeric);
        text.get(begin..end).filter(|_| ends).map(|phrase| (*direction, phrase))
    })
}

/// Whether a word of change says that it has happened: `rose`, and not `growth`.
pub(in crate::ground) fn is_past(word: &str) -> bool {
    word.len() > 3 && word.ends_with("ed") || PAST.iter().any(|past| past.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_a_sign_or_a_word_beside_an_amount() {
        for (text, expected) in [
            ("It fell ", Some(Direction::Down)),
            ("rose by about ", Some(Direction::Up)),
            ("a gain of ", Some(Direction::Up)),
            ("(down ", Some(Direction::Down)),
            ("fell to ", None),
            ("It is ", None),
            ("", None),
        ] {
            assert_eq!(before(text), expected, "{text}");
        }
        for (text, expected) in [
            ("It is +", Some(Direction::Up)),
            ("(-", Some(Direction::Down)),
            ("between 5-", None),
            ("It is - ", None),
        ] {
            assert_eq!(sign(text), expected, "{text}");
        }
        for (text, expected) in [
            (" lower.", Some(Direction::Down)),
            (" below its average", Some(Direction::Down)),
            (" gain", Some(Direction::Up)),
            ("-drop", Some(Direction::Down)),
            (" down 5%", None),
            (", below", None),
            ("", None),
        ] {
            assert_eq!(behind(text), expected, "{text}");
        }
        assert_eq!(of_word("Dropped"), Some(Direction::Down));
        assert_eq!(
            [of_word("drops"), of_word("rising"), of_word("the")],
            [Some(Direction::Down), Some(Direction::Up), None]
        );
    }
}
