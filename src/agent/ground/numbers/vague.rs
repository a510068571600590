//! Words that say a number without naming it: `doubled`, `half of it`, `crores`, `a few lakh`.

use super::{direction::Direction, scale};

/// A number that a word says by itself: how much of what was before, in percent, or how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Vague {
    /// Percent more or less, or of the whole.
    Percent(f64, Option<Direction>),
    /// Half of what stands behind it, if something does.
    Half,
    /// Some of this unit.
    Some(f64),
    /// Some of the unit behind it, if one is there.
    Few,
}

/// Words before `half` that make a time or a part of a text of it.
const NO_HALF: &[&str] = &["first", "second", "latter", "other", "this", "last", "next", "better", "a"];

/// What stands behind `half` where it is one of an amount.
const OF_WHAT: &[&str] = &[" of ", " the ", " its ", " your ", " my "];

/// `Doubled` and `half` are said of what is about that.
const STEP: f64 = 10.0;

/// `Crores` are said of one to 999.
const MIDDLE: f64 = 500.0;
const SOME_STEP: f64 = 998.0;

/// The number of a word in small letters.
pub(super) fn of_word(lower: &str) -> Option<Vague> {
    Some(match lower {
        "doubled" => Vague::Percent(100.0, Some(Direction::Up)),
        "tripled" | "trebled" => Vague::Percent(200.0, Some(Direction::Up)),
        "quadrupled" => Vague::Percent(300.0, Some(Direction::Up)),
        "halved" => Vague::Percent(50.0, Some(Direction::Down)),
        "half" => Vague::Half,
        "few" | "several" | "many" => Vague::Few,
        "hundreds" => Vague::Some(1e2),
        "thousands" => Vague::Some(1e3),
        "lakhs" | "lakhon" => Vague::Some(1e5),
        "millions" => Vague::Some(1e6),
        "crores" | "croron" => Vague::Some(1e7),
        "billions" => Vague::Some(1e9),
        _ => return None,
    })
}

/// What a word between two texts says: the number, how far it may be off, and the length of what was read behind it.
pub(super) fn read(word: Vague, before: &str, rest: &str) -> Option<(f64, f64, usize)> {
    let last = before.trim_end_matches(|c: char| !c.is_alphanumeric()).rsplit(' ').next().unwrap_or_default();
    match word {
        Vague::Percent(value, _) => Some((value, STEP, 0)),
        Vague::Half => {
            let is_time = NO_HALF.iter().any(|it| it.eq_ignore_ascii_case(last));
            (!is_time && OF_WHAT.iter().any(|it| rest.starts_with(it))).then_some((50.0, STEP, 0))
        }
        // `5 crores` has its number before it, `lakh crores` its first unit, and `in crores` is a unit.
        Vague::Some(_) if last.ends_with(|c: char| c.is_ascii_digit()) => None,
        Vague::Some(_) if scale::factor_of(&last.to_ascii_lowercase()).is_some() => None,
        Vague::Some(_) if last.trim_start_matches('(').eq_ignore_ascii_case("in") => None,
        Vague::Some(factor) => {
            let (factor, len) = units(factor, rest);
            Some((MIDDLE * factor, SOME_STEP * factor, len))
        }
        Vague::Few => {
            let unit = rest.strip_prefix(' ').map(first_word)?;
            let factor = scale::factor_of(&unit.to_ascii_lowercase()).filter(|_| unit.len() > 2)?;
            let (factor, len) = units(factor, &rest[1 + unit.len()..]);
            Some((MIDDLE * factor, SOME_STEP * factor, 1 + unit.len() + len))
        }
    }
}

/// `Thousands of crores`: the unit with those behind it.
fn units(mut factor: f64, rest: &str) -> (f64, usize) {
    let mut len = 0;
    while let Some(tail) = rest[len..].strip_prefix(" of ").or_else(|| rest[len..].strip_prefix(' ')) {
        let word = first_word(tail);
        let lower = word.to_ascii_lowercase();
        let more = match of_word(&lower) {
            Some(Vague::Some(more)) => Some(more),
            _ => scale::factor_of(&lower).filter(|_| word.len() > 2),
        };
        let Some(more) = more else { break };
        factor *= more;
        len = rest.len() - tail.len() + word.len();
    }
    (factor, len)
}

fn first_word(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_alphabetic).count()]
}

/// The Hindi numbers that are said before a unit: elsewhere some of them are other words.
pub(super) fn hindi(lower: &str) -> Option<f64> {
    Some(match lower {
        "ek" => 1.0,
        "dedh" => 1.5,
        "do" => 2.0,
        "dhai" => 2.5,
        "teen" => 3.0,
        "char" | "chaar" => 4.0,
        "panch" | "paanch" => 5.0,
        "chhe" => 6.0,
        "saat" => 7.0,
        "aath" => 8.0,
        "nau" => 9.0,
        "das" => 10.0,
        "bees" => 20.0,
        "pachas" | "pachaas" => 50.0,
        _ => return None,
    })
}
