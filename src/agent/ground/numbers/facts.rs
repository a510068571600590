//! The numbers of a turn, by where they come from, and whether one of an answer is among them.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    date::{self, Date},
    scale::Scale,
    tokens::{Token, tokens},
};
use crate::ground::plain::plain;

/// What rounding itself may add, in proportion.
const SLACK: f64 = 1e-9;

/// The most origins that are distinguished; those beyond count as the last.
const MOST: usize = 64;

/// The numbers of a turn.
#[derive(Debug, Default)]
pub(in crate::ground) struct Facts {
    /// What belongs to no result, such as the user's message.
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
    /// Without sign, in order once `sort` is done.
    values: Vec<f64>,
    /// Dates and times, each in all the ways in which it can be said.
    moments: Vec<u64>,
    foreign: Vec<Box<str>>,
}

impl Facts {
    /// Takes the numbers of a text that belongs to no result.
    pub(in crate::ground) fn add_free(&mut self, text: &str) {
        self.free.add_text(text);
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
        data.into_iter().for_each(|value| origin.add_json(value));
        texts.into_iter().for_each(|text| origin.add_text(text));
        values.into_iter().for_each(|value| origin.add(value));
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
            if numbers.has(token) {
                origins |= 1 << at;
            }
        }
        let free = self.free.has(token);
        (free || origins != 0).then_some(FactSource { free, origins })
    }
}

impl Numbers {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.values.push(value.abs());
        }
    }

    /// Numbers, texts, names of fields, and how long lists are.
    fn add_json(&mut self, value: &Value) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::Number(number) => self.add(number.as_f64().unwrap_or(f64::NAN)),
                Value::String(text) => self.add_text(text),
                Value::Array(items) => {
                    self.add_count(items.len());
                    open.extend(items);
                }
                Value::Object(map) => {
                    map.keys().for_each(|name| self.add_name(name));
                    open.extend(map.values());
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a list is not that long")]
    fn add_count(&mut self, count: usize) {
        self.add(count as f64);
    }

    /// `rsi_14` is computed over 14 days.
    fn add_name(&mut self, name: &str) {
        if name.bytes().any(|byte| byte.is_ascii_digit()) {
            let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
            numbers.for_each(|number| self.add(number));
        }
    }

    fn add_text(&mut self, text: &str) {
        self.add_tokens(text);
        // An answer quotes it as a plain line, in which other characters stand side by side.
        if let Cow::Owned(plain) = plain(text) {
            self.add_tokens(&plain);
        }
    }

    fn add_tokens(&mut self, text: &str) {
        for (token, _) in tokens(text) {
            match token {
                Token::Number { value, scale, .. } => {
                    self.add(value);
                    self.add(value * scale.factor);
                }
                Token::Date(date) => self.moments.extend(date.ways().map(day)),
                Token::Time(time) => self.moments.extend(time.ways().map(|it| u64::from(it.code()))),
                Token::Foreign(text) => self.foreign.push(text.into()),
            }
        }
    }

    fn sort(&mut self) {
        self.values.sort_unstable_by(f64::total_cmp);
        self.moments.sort_unstable();
        self.moments.dedup();
        self.foreign.sort_unstable();
    }

    fn has(&self, token: &Token<'_>) -> bool {
        match token {
            Token::Number { value, step, scale, is_year } => {
                self.has_number(*value, *step, *scale) || (*is_year && self.has_year(*value))
            }
            Token::Date(date) => self.moments.binary_search(&day(*date)).is_ok(),
            Token::Time(time) => self.moments.binary_search(&u64::from(time.code())).is_ok(),
            Token::Foreign(text) => self.foreign.binary_search_by(|it| (**it).cmp(text)).is_ok(),
        }
    }

    /// Whether a value, rounded to the digits that are shown, is that number.
    fn has_number(&self, value: f64, step: f64, scale: Scale) -> bool {
        let within = |factor: f64, below: f64| {
            let half = (0.5 + SLACK) * step * factor;
            let slack = value * factor * SLACK;
            let (least, most) = (value * factor - half - slack, (value * factor + half + slack).min(below));
            let first = self.values.partition_point(|it| *it < least);
            self.values.get(first).is_some_and(|it| *it <= most)
        };
        // A share below 1 is said as percent too.
        value.is_finite()
            && (within(scale.factor, f64::INFINITY)
                || (scale.unit > 1.0 && within(scale.factor / scale.unit, f64::INFINITY))
                || (scale.percent && within(0.01, 1.0)))
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
