//! The rules by which stocks are judged, by name of profile: `[wait_zone.<name>]` and `[forbidden.<name>]`.
//!
//! They stand in the file only. A table replaces the built-in profile of its name whole: what it leaves out is not
//! checked. Not here: judging.

use std::collections::BTreeMap;

use toolwire_config::{Fields, Reader, Value};

/// The tables of the file that hold rules of the wait zone.
const WAIT_ZONE: &str = "wait_zone";
/// The tables of the file that hold rules against buying.
const FORBIDDEN: &str = "forbidden";

/// Every profile that a tool may be asked to apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    /// Rules of the wait zone. Default `value`, `core` and `momentum`.
    pub wait_zone: BTreeMap<String, WaitZone>,
    /// Rules against buying at all. Default `default`.
    pub forbidden: BTreeMap<String, Forbidden>,
}

/// When to wait with buying. A rule that is left out is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// Rules against buying. A rule that is left out is not checked.
#[derive(Clone, Debug, Default, PartialEq)]
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

impl Forbidden {
    /// Whether a rule is about fundamentals, of which only the present ones are known.
    pub fn has_fundamentals(&self) -> bool {
        let Self { min_market_cap_cr, min_pe, max_pe, min_roe_pct, max_debt_to_equity, .. } = self;
        [min_market_cap_cr, min_pe, max_pe, min_roe_pct, max_debt_to_equity].into_iter().any(Option::is_some)
    }
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
    /// The built-in profiles with those of the file over them.
    pub(super) fn read(reader: &mut Reader) -> Self {
        let mut profiles = Self::default();
        for (name, mut table) in reader.tables(WAIT_ZONE) {
            let zone = WaitZone::read(&mut table);
            if is_usable(&name, &zone.rules(), table, reader) {
                profiles.wait_zone.insert(name, zone);
            }
        }
        for (name, mut table) in reader.tables(FORBIDDEN) {
            let forbidden = Forbidden::read(&mut table);
            if is_usable(&name, &forbidden.rules(), table, reader) {
                profiles.forbidden.insert(name, forbidden);
            }
        }
        profiles.show(reader);
        profiles
    }

    fn show(&self, reader: &mut Reader) {
        for (name, zone) in &self.wait_zone {
            reader.show_entry(&format!("[{WAIT_ZONE}.{name}]"), &zone.rules());
        }
        for (name, forbidden) in &self.forbidden {
            reader.show_entry(&format!("[{FORBIDDEN}.{name}]"), &forbidden.rules());
        }
    }
}

impl WaitZone {
    fn read(table: &mut Fields) -> Self {
        Self {
            max_rsi: table.optional("max_rsi"),
            max_above_sma50_pct: table.optional("max_above_sma50_pct"),
            max_above_sma200_pct: table.optional("max_above_sma200_pct"),
            wait_below_sma200: table.optional("wait_below_sma200").unwrap_or_default(),
        }
    }

    fn rules(&self) -> Vec<Rule> {
        let bounds = [
            ("max_rsi", self.max_rsi),
            ("max_above_sma50_pct", self.max_above_sma50_pct),
            ("max_above_sma200_pct", self.max_above_sma200_pct),
        ];
        let mut rules = set(&bounds);
        rules.push(("wait_below_sma200", self.wait_below_sma200.to_toml()));
        rules
    }
}

impl Forbidden {
    fn read(table: &mut Fields) -> Self {
        Self {
            min_market_cap_cr: table.optional("min_market_cap_cr"),
            min_pe: table.optional("min_pe"),
            max_pe: table.optional("max_pe"),
            min_roe_pct: table.optional("min_roe_pct"),
            max_debt_to_equity: table.optional("max_debt_to_equity"),
            min_price: table.optional("min_price"),
            min_turnover_cr: table.optional("min_turnover_cr"),
            max_rsi: table.optional("max_rsi"),
            deny: table.optional("deny").unwrap_or_default(),
        }
    }

    fn rules(&self) -> Vec<Rule> {
        let bounds = [
            ("min_market_cap_cr", self.min_market_cap_cr),
            ("min_pe", self.min_pe),
            ("max_pe", self.max_pe),
            ("min_roe_pct", self.min_roe_pct),
            ("max_debt_to_equity", self.max_debt_to_equity),
            ("min_price", self.min_price),
            ("min_turnover_cr", self.min_turnover_cr),
            ("max_rsi", self.max_rsi),
        ];
        let mut rules = set(&bounds);
        rules.push(("deny", self.deny.to_toml()));
        rules
    }

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

/// A rule as it stands in the file: its name and its value as TOML.
type Rule = (&'static str, String);

fn set(bounds: &[(&'static str, Option<f64>)]) -> Vec<Rule> {
    bounds.iter().filter_map(|(name, bound)| Some((*name, bound.as_ref()?.to_toml()))).collect()
}

/// Whether a table is a profile; its problems are reported.
fn is_usable(name: &str, rules: &[Rule], mut table: Fields, reader: &mut Reader) -> bool {
    let is_name = name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if !is_name {
        table.problem("expected a name such as deep_value: a lower-case letter, then such, digits or _");
    }
    if table.is_fine() && rules.iter().all(|(_, value)| value == "false" || value == "[]") {
        table.problem("has no rule and would let everything pass; add one");
    }
    reader.end(table)
}
