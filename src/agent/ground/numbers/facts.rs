//! The numbers of a turn, by where they come from, and whether one of an answer is among them.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    currency::{self, Currency},
    date::{self, Date},
    direction::{self, Direction},
    scale::{self, Scale},
    tokens::{Claim, Token, spelled, tokens},
};
use crate::ground::plain::plain;

/// The error of rounding itself, in proportion.
const SLACK: f64 = 1e-9;

/// Maximum number of origins that have a bit of their own. All further origins share the last bit.
const MOST: usize = 64;

/// The numbers of a turn.
#[derive(Debug, Default)]
pub(in crate::ground) struct Facts {
    /// Whether what is said in words, or beside numbers, is held against them too.
    pub(in crate::ground) is_strict: bool,
    /// The numbers that belong to no result, such as those of the user's message.
    free: Numbers,
    origins: Vec<Numbers>,
}

/// Where a number was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ground) struct FactSource {
    /// Whether it belongs to no result.
    pub(in crate::ground) free: bool,
    pub(in crate::ground) origins: u64,
}

#[derive(Debug, Default)]
struct Numbers {
    /// The values without their signs, in order after `sort`.
    values: Vec<f64>,
    /// The values that an answer may call a rise, and a fall.
    ups: Vec<f64>,
    downs: Vec<f64>,
    /// Whether something is said to have risen, and to have fallen.
    has_risen: bool,
    has_fallen: bool,
    currencies: Vec<Currency>,
    /// Dates and times, each in all the ways in which it can be said.
    moments: Vec<u64>,
    foreign: Vec<Box<str>>,
}

impl Facts {
    /// Takes the numbers of a text that belongs to no result.
    pub(in crate::ground) fn add_free(&mut self, text: &str) {
        self.free.add_text(text, self.is_strict);
        self.free.currencies.extend(currency::named(text));
    }

    /// Takes the numbers of one more result: its data, and texts that belong to it.
    pub(in crate::ground) fn add_origin<'a>(
        &mut self,
        data: impl IntoIterator<Item = &'a Value>,
        texts: impl IntoIterator<Item = &'a str>,
        values: impl IntoIterator<Item = f64>,
    ) {
        if self.origins.len() < MOST {
            self.origins.push(Numbers::default());
        }
        let Some(origin) = self.origins.last_mut() else { return };
        data.into_iter().for_each(|value| origin.add_json(value, self.is_strict));
        for text in texts {
            origin.add_text(text, self.is_strict);
            origin.currencies.extend(currency::named(text));
        }
        values.into_iter().for_each(|value| origin.add(value, None));
    }

    /// Takes the currencies that descriptions of the last result's fields name.
    pub(in crate::ground) fn add_currencies(&mut self, schema: &Value) {
        let Some(origin) = self.origins.last_mut() else { return };
        let mut open = vec![schema];
        while let Some(value) = open.pop() {
            match value {
                Value::Array(items) => open.extend(items),
                Value::Object(map) => {
                    let text = map.get("description").and_then(Value::as_str).unwrap_or_default();
                    origin.currencies.extend(currency::named(text));
                    open.extend(map.values());
                }
                _ => {}
            }
        }
    }

    /// Whether anything in the turn has risen, or fallen.
    pub(in crate::ground) fn has_direction(&self, direction: Direction) -> bool {
        let has = |numbers: &Numbers| match direction {
            Direction::Up => numbers.has_risen,
            Direction::Down => numbers.has_fallen,
        };
        has(&self.free) || self.origins.iter().any(has)
    }

    /// Puts all in order. Nothing is found before.
    pub(in crate::ground) fn sort(&mut self) {
        self.origins.iter_mut().for_each(Numbers::sort);
        self.free.sort();
    }

    /// The source of what a token says; `None` if only the answer says so.
    pub(in crate::ground) fn find(&self, token: &Token<'_>) -> Option<FactSource> {
        let mut origins = 0;
        for (at, numbers) in self.origins.iter().enumerate() {
            if numbers.has(token, self.is_strict) {
                origins |= 1 << at;
            }
        }
        let free = self.free.has(token, self.is_strict);
        (free || origins != 0).then_some(FactSource { free, origins })
    }
}

impl Numbers {
    /// Takes a number; without a direction it may be called a rise and a fall.
    fn add(&mut self, value: f64, direction: Option<Direction>) {
        if !value.is_finite() {
            return;
        }
        self.values.push(value.abs());
        if direction != Some(Direction::Down) {
            self.ups.push(value.abs());
        }
        if direction != Some(Direction::Up) {
            self.downs.push(value.abs());
        }
    }

    /// Numbers, texts, names of fields, and how long lists are.
    fn add_json(&mut self, value: &Value, is_strict: bool) {
        let mut open = vec![("", None, value)];
        while let Some((name, unit, value)) = open.pop() {
            match value {
                Value::Number(number) => self.add_field(name, unit, number.as_f64().unwrap_or(f64::NAN)),
                Value::String(text) => {
                    self.add_text(text, is_strict);
                    if name.ends_with("currency") {
                        self.currencies.extend(Currency::of_code(text));
                    }
                }
                Value::Array(items) => {
                    self.add_count(items.len());
                    open.extend(items.iter().map(|item| (name, unit, item)));
                }
                Value::Object(map) => {
                    map.keys().for_each(|name| self.add_name(name, is_strict));
                    let said = map.get("unit").and_then(Value::as_str);
                    let unit = said.map_or(unit, scale::factor_of);
                    open.extend(map.iter().map(|(name, value)| (name.as_str(), unit, value)));
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    /// The value of a field, in the unit that stands beside it. `market_cap_cr` is in crore, and `drawdown` says by its
    /// name which way it goes.
    fn add_field(&mut self, name: &str, unit: Option<f64>, value: f64) {
        let direction = match value {
            _ if direction::is_in_name(name) => None,
            ..0.0 => Some(Direction::Down),
            0.0 => None,
            _ => Some(Direction::Up),
        };
        self.has_fallen |= value < 0.0;
        self.has_risen |= value > 0.0 && direction::is_change(name);
        self.add(value, direction);
        if let Some(factor) = name.rsplit('_').next().and_then(scale::factor_of).or(unit) {
            self.add(value * factor, direction);
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a list is not that long")]
    fn add_count(&mut self, count: usize) {
        self.add(count as f64, None);
    }

    /// `rsi_14` is computed over 14 days, and `loss` is a word for a fall.
    fn add_name(&mut self, name: &str, is_strict: bool) {
        if name.bytes().any(|byte| byte.is_ascii_digit()) {
            let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
            numbers.for_each(|number| self.add(number, None));
        }
        if is_strict {
            self.add_directions(name.split('_'));
            self.currencies
                .extend(name.split('_').filter(|part| part.len() > 2).filter_map(Currency::of_name));
        }
    }

    fn add_text(&mut self, text: &str, is_strict: bool) {
        self.add_tokens(text, is_strict);
        // An answer quotes it as a plain line, in which other characters stand side by side.
        if let Cow::Owned(plain) = plain(text) {
            self.add_tokens(&plain, is_strict);
        }
    }

    fn add_directions<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        for direction in words.filter_map(direction::of_word) {
            match direction {
                Direction::Up => self.has_risen = true,
                Direction::Down => self.has_fallen = true,
            }
        }
    }

    fn add_tokens(&mut self, text: &str, is_strict: bool) {
        tokens(text).for_each(|(token, _)| self.add_token(&token));
        if is_strict {
            spelled(text).for_each(|(token, _)| self.add_token(&token));
            self.add_directions(text.split(|c: char| !c.is_alphanumeric()));
        }
    }

    fn add_token(&mut self, token: &Token<'_>) {
        match *token {
            Token::Number { value, scale, claim: Claim { currency, direction }, .. } => {
                self.add(value, direction);
                self.add(value * scale.factor, direction);
                self.currencies.extend(currency);
            }
            Token::Date(date) => self.moments.extend(date.ways().map(day)),
            Token::Time(time) => self.moments.extend(time.ways().map(|it| u64::from(it.code()))),
            Token::Foreign(text) => self.foreign.push(text.into()),
        }
    }

    fn sort(&mut self) {
        for values in [&mut self.values, &mut self.ups, &mut self.downs] {
            values.sort_unstable_by(f64::total_cmp);
        }
        self.currencies.sort_unstable();
        self.currencies.dedup();
        self.moments.sort_unstable();
        self.moments.dedup();
        self.foreign.sort_unstable();
    }

    fn has(&self, token: &Token<'_>, is_strict: bool) -> bool {
        match token {
            Token::Number { value, step, scale, is_year, claim } => {
                let Claim { currency, direction } = if is_strict { *claim } else { Claim::default() };
                let values = match direction {
                    None => &self.values,
                    Some(Direction::Up) => &self.ups,
                    Some(Direction::Down) => &self.downs,
                };
                let is_priced = currency.is_none_or(|it| self.currencies.binary_search(&it).is_ok());
                is_priced
                    && (has_number(values, *value, *step, *scale) || (*is_year && self.has_year(*value)))
            }
            Token::Date(date) => self.moments.binary_search(&day(*date)).is_ok(),
            Token::Time(time) => self.moments.binary_search(&u64::from(time.code())).is_ok(),
            Token::Foreign(text) => self.foreign.binary_search_by(|it| (**it).cmp(text)).is_ok(),
        }
    }

    /// Whether there is a date of that year.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "four digits")]
    fn has_year(&self, value: f64) -> bool {
        let year = value as u16;
        date::is_year(year) && self.moments.binary_search(&day(Date::year(year))).is_ok()
    }
}

/// Dates stand behind all times.
fn day(date: Date) -> u64 {
    (1 << 32) | u64::from(date.code())
}

/// Whether one of the values, which are in order, is that number once it is rounded to the digits that are shown.
fn has_number(values: &[f64], value: f64, step: f64, scale: Scale) -> bool {
    let within = |factor: f64, below: f64| {
        let half = (0.5 + SLACK) * step * factor;
        let slack = value * factor * SLACK;
        let (least, most) = (value * factor - half - slack, (value * factor + half + slack).min(below));
        let first = values.partition_point(|it| *it < least);
        values.get(first).is_some_and(|it| *it <= most)
    };
    // A share below 1 is said as percent too.
    value.is_finite() && (within(scale.factor, f64::INFINITY) || (scale.percent && within(0.01, 1.0)))
}
