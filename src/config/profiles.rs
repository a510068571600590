//! The rules by which stocks are judged, by name of profile: `[wait_zone.<name>]` and `[forbidden.<name>]`.
//!
//! They stand in the file only. A table replaces the built-in profile of its name whole: what it leaves out is not
//! checked. Not here: judging.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::Problem;

/// The tables that hold profiles.
pub(super) const TABLES: [&str; 2] = ["wait_zone", "forbidden"];

/// Every profile that a tool may be asked to apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    /// Rules of the wait zone. Default `value`, `core` and `momentum`.
    pub wait_zone: BTreeMap<String, WaitZone>,
    /// Rules against buying at all. Default `default`.
    pub forbidden: BTreeMap<String, Forbidden>,
}

/// When to wait with buying. A rule that is left out is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WaitZone {
    /// The relative strength index above which to wait.
    pub max_rsi: Option<f64>,
    /// How far above the mean of 50 days to wait, in percent.
    pub max_above_sma50_pct: Option<f64>,
    /// How far above the mean of 200 days to wait, in percent.
    pub max_above_sma200_pct: Option<f64>,
    /// Whether to wait below the mean of 200 days. Default false.
    pub wait_below_sma200: bool,
}

/// What not to buy. A rule that is left out is not checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Forbidden {
    /// The least market capitalisation, in crore rupees.
    pub min_market_cap_cr: Option<f64>,
    /// The price to earnings that must be exceeded: 0 forbids losses.
    pub min_pe: Option<f64>,
    /// The greatest price to earnings.
    pub max_pe: Option<f64>,
    /// The least return on equity, in percent.
    pub min_roe_pct: Option<f64>,
    /// The greatest debt over equity, 1 where both are equal.
    pub max_debt_to_equity: Option<f64>,
    /// The least price, in rupees.
    pub min_price: Option<f64>,
    /// The least turnover of a day, in crore rupees.
    pub min_turnover_cr: Option<f64>,
    /// The greatest relative strength index.
    pub max_rsi: Option<f64>,
    /// Symbols never to buy.
    pub deny: Vec<String>,
}

impl Default for Profiles {
    fn default() -> Self {
        let zone = |max_rsi, above_sma50, above_sma200, wait_below_sma200| WaitZone {
            max_rsi: Some(max_rsi),
            max_above_sma50_pct: Some(above_sma50),
            max_above_sma200_pct: above_sma200,
            wait_below_sma200,
        };
        let wait_zone = [
            ("value", zone(40.0, 15.0, Some(40.0), false)),
            ("core", zone(75.0, 20.0, Some(40.0), true)),
            ("momentum", zone(82.0, 30.0, None, true)),
        ];
        Self {
            wait_zone: wait_zone.map(|(name, zone)| (name.to_owned(), zone)).into(),
            forbidden: [("default".to_owned(), Forbidden::built_in())].into(),
        }
    }
}

impl Profiles {
    /// The built-in profiles with those of the file over them, or what is wrong with each.
    pub(super) fn resolve(
        wait_zone: BTreeMap<String, WaitZone>,
        forbidden: BTreeMap<String, Forbidden>,
    ) -> Result<Self, Vec<Problem>> {
        let [zones, rules] = TABLES;
        let problems: Vec<_> = problems(zones, &wait_zone).chain(problems(rules, &forbidden)).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut profiles = Self::default();
        profiles.wait_zone.extend(wait_zone);
        profiles.forbidden.extend(forbidden);
        Ok(profiles)
    }

    /// Every profile as a table: its name in the file, and its keys with their values, absent ones left out.
    pub(super) fn tables(&self) -> Vec<(String, Vec<(String, Value)>)> {
        let [zones, rules] = TABLES;
        let zones = self.wait_zone.iter().map(|(name, zone)| (format!("{zones}.{name}"), keys(zone)));
        let rules = self.forbidden.iter().map(|(name, rule)| (format!("{rules}.{name}"), keys(rule)));
        zones.chain(rules).collect()
    }
}

impl Forbidden {
    /// Small, loss-making, dear, weak, indebted, hardly traded or overheated companies.
    fn built_in() -> Self {
        Self {
            min_market_cap_cr: Some(500.0),
            min_pe: Some(0.0),
            max_pe: Some(80.0),
            min_roe_pct: Some(8.0),
            max_debt_to_equity: Some(2.0),
            min_price: Some(20.0),
            min_turnover_cr: Some(1.0),
            max_rsi: Some(80.0),
            deny: Vec::new(),
        }
    }
}

fn problems<T: Serialize + DeserializeOwned + Default>(
    table: &str,
    profiles: &BTreeMap<String, T>,
) -> impl Iterator<Item = Problem> {
    profiles.iter().filter_map(move |(name, profile)| {
        let what = problem(name, &keys(profile))?;
        Some(Problem::new(format!("{table}.{name}"), what))
    })
}

fn problem(name: &str, keys: &[(String, Value)]) -> Option<String> {
    let is_name = name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if !is_name {
        return Some(
            "expected a name such as deep_value: a lower-case letter, then such, digits or _".to_owned(),
        );
    }
    let says_nothing = |value: &Value| *value == Value::Bool(false) || *value == Value::Array(Vec::new());
    if keys.iter().all(|(_, value)| says_nothing(value)) {
        return Some("has no rule and would let everything pass; add one".to_owned());
    }
    None
}

/// What a profile says. JSON has no infinite numbers, so a bound that is one counts as absent.
fn keys(profile: &impl Serialize) -> Vec<(String, Value)> {
    let value = serde_json::to_value(profile).expect("numbers, flags and texts have a JSON form");
    let members = value.as_object().into_iter().flatten();
    members.filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())).collect()
}
