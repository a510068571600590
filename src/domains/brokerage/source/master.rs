//! One user's data: the sections of a master file, checked and typed.

use std::{cmp::Reverse, collections::BTreeSet};

use serde_json::Value;

use super::{
    accounts::{self, Account, ByAccount},
    node::{Node, Problems},
    rows::{self, AccountSummary, Performance, Position, Quote, Trade, Transfer},
    values::{AsOf, Currency, Symbol},
};
use toolwire_base::files::Problem;
use toolwire_contract::ToolError;

/// The names of the sections, in the order of the file.
pub const SECTIONS: [&str; 6] =
    ["account_summary", "activity", "positions", "quotes", "performance", "transfers"];

/// The data of one user. A missing or empty section fails only the tools that read it.
#[derive(Clone, Debug)]
pub struct Master {
    file_name: String,
    as_of: Option<AsOf>,
    currency: Currency,
    account_summary: Option<Dated<AccountSummary>>,
    activity: Option<ByAccount<Vec<Trade>>>,
    positions: Option<ByAccount<Vec<Position>>>,
    quotes: Option<Dated<Quote>>,
    performance: Option<ByAccount<Performance>>,
    transfers: Option<ByAccount<Vec<Transfer>>>,
}

/// The rows of a section that does not belong to one account.
#[derive(Clone, Debug)]
pub struct Dated<T> {
    /// Date of the data.
    pub as_of: AsOf,
    pub rows: Vec<T>,
}

impl Master {
    /// Reads a master file; `file_name` is what messages call it.
    pub(super) fn parse(file_name: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let value: Value = serde_json::from_str(text).map_err(|error| vec![syntax(&error)])?;
        let problems = Problems::default();
        let master = Self::read(file_name, &Node::root(&value, &problems));
        let problems = problems.into_inner();
        if problems.is_empty() { Ok(master) } else { Err(problems) }
    }

    fn read(file_name: &str, file: &Node<'_>) -> Self {
        let as_of: Option<AsOf> = file.find("as_of");
        let inherited = as_of.as_ref();
        let section = |name: &str| file.section(name);
        Self {
            account_summary: section("account_summary")
                .and_then(|node| Dated::read(&node, inherited, account_summaries)),
            activity: section("activity").and_then(|node| ByAccount::read(&node, inherited, trades)),
            positions: section("positions").and_then(|node| ByAccount::read(&node, inherited, positions)),
            quotes: section("quotes").and_then(|node| Dated::read(&node, inherited, quotes)),
            performance: section("performance")
                .and_then(|node| ByAccount::read(&node, inherited, rows::read_performance)),
            transfers: section("transfers").and_then(|node| ByAccount::read(&node, inherited, transfers)),
            file_name: file_name.to_owned(),
            currency: file.find("currency").unwrap_or_default(),
            as_of,
        }
    }

    /// The date at the top of the file; without one, the newest of its sections'.
    pub fn as_of(&self) -> Option<&AsOf> {
        let accounts = dates_in(self.activity.as_ref())
            .chain(dates_in(self.positions.as_ref()))
            .chain(dates_in(self.performance.as_ref()))
            .chain(dates_in(self.transfers.as_ref()));
        let summary = self.account_summary.iter().map(|section| &section.as_of);
        let quotes = self.quotes.iter().map(|section| &section.as_of);
        self.as_of.as_ref().or_else(|| accounts.chain(summary).chain(quotes).max())
    }

    /// What all amounts are in: a code such as `USD`.
    pub fn currency(&self) -> &str {
        self.currency.as_str()
    }

    /// The value and cash of every account.
    pub fn account_summary(&self) -> Result<&Dated<AccountSummary>, ToolError> {
        self.present("account_summary", self.account_summary.as_ref())
    }

    /// The trades of an account, newest first.
    pub fn activity(&self, account: Option<&str>) -> Result<&Account<Vec<Trade>>, ToolError> {
        self.of_account("activity", self.activity.as_ref(), account)
    }

    pub fn positions(&self, account: Option<&str>) -> Result<&Account<Vec<Position>>, ToolError> {
        self.of_account("positions", self.positions.as_ref(), account)
    }

    /// The positions of every account; none without the section.
    pub fn all_positions(&self) -> impl Iterator<Item = &Position> {
        self.positions.iter().flat_map(ByAccount::iter).flat_map(|account| &account.content)
    }

    /// The accounts that hold a symbol, and how much of it.
    pub fn holders(&self, symbol: &Symbol) -> impl Iterator<Item = (&str, &Position)> {
        self.positions.iter().flat_map(ByAccount::iter).filter_map(|account| {
            let position = account.content.iter().find(|position| position.symbol == *symbol)?;
            Some((account.name.as_str(), position))
        })
    }

    /// The accounts in which a symbol was traded.
    pub fn traders(&self, symbol: &Symbol) -> impl Iterator<Item = &str> {
        let has =
            |account: &&Account<Vec<Trade>>| account.content.iter().any(|trade| trade.symbol == *symbol);
        self.activity.iter().flat_map(ByAccount::iter).filter(has).map(|account| account.name.as_str())
    }

    /// The trades of every account; none without the section.
    pub fn all_trades(&self) -> impl Iterator<Item = &Trade> {
        self.activity.iter().flat_map(ByAccount::iter).flat_map(|account| &account.content)
    }

    pub fn quotes(&self) -> Result<&Dated<Quote>, ToolError> {
        self.present("quotes", self.quotes.as_ref())
    }

    pub fn performance(&self, account: Option<&str>) -> Result<&Account<Performance>, ToolError> {
        self.of_account("performance", self.performance.as_ref(), account)
    }

    /// The transfers of an account, newest first.
    pub fn transfers(&self, account: Option<&str>) -> Result<&Account<Vec<Transfer>>, ToolError> {
        self.of_account("transfers", self.transfers.as_ref(), account)
    }

    /// The names of the accounts that any section knows, the default one first.
    pub fn account_names(&self) -> Vec<&str> {
        let summary = self.account_summary.iter().flat_map(|section| &section.rows);
        let mut names: Vec<&str> = Vec::new();
        let all = names_in(self.positions.as_ref())
            .chain(names_in(self.activity.as_ref()))
            .chain(names_in(self.performance.as_ref()))
            .chain(names_in(self.transfers.as_ref()))
            .chain(summary.map(|row| row.account.as_str()));
        for name in all {
            if !names.iter().any(|known| accounts::same(known, name)) {
                names.push(name);
            }
        }
        names
    }

    /// Whether any section knows the account; if none does, the failure that names those it knows.
    pub fn check_account(&self, account: &str) -> Result<(), ToolError> {
        let known = self.account_names();
        if known.iter().any(|name| accounts::same(name, account)) {
            return Ok(());
        }
        let known = known.join(", ");
        Err(ToolError::not_found(format!("Unknown account '{account}'. Known accounts: {known}.")))
    }

    /// What to say of each section that is missing or empty, by name.
    pub fn missing_sections(&self) -> impl Iterator<Item = (&'static str, String)> {
        let is_missing = [
            self.account_summary.is_none(),
            self.activity.is_none(),
            self.positions.is_none(),
            self.quotes.is_none(),
            self.performance.is_none(),
            self.transfers.is_none(),
        ];
        let missing = SECTIONS.into_iter().zip(is_missing).filter(|(_, is_missing)| *is_missing);
        missing.map(|(name, _)| (name, self.missing(name)))
    }

    fn of_account<'a, T>(
        &self,
        name: &str,
        section: Option<&'a ByAccount<T>>,
        account: Option<&str>,
    ) -> Result<&'a Account<T>, ToolError> {
        let section = self.present(name, section)?;
        let Some(account) = account else { return Ok(section.default_account()) };
        if let Some(found) = section.find(account) {
            return Ok(found);
        }
        self.check_account(account)?;
        let having = section.iter().map(|account| account.name.as_str()).collect::<Vec<_>>().join(", ");
        let message = format!("No {name} data for account '{account}'. Accounts with {name} data: {having}.");
        Err(ToolError::not_found(message))
    }

    fn present<'a, T>(&self, name: &str, section: Option<&'a T>) -> Result<&'a T, ToolError> {
        section.ok_or_else(|| ToolError::not_found(self.missing(name)))
    }

    fn missing(&self, name: &str) -> String {
        format!("Missing section '{name}' in {}", self.file_name)
    }
}

impl<T> Dated<T> {
    fn read(
        section: &Node<'_>,
        inherited: Option<&AsOf>,
        rows: impl Fn(&Node<'_>) -> Option<Vec<T>>,
    ) -> Option<Self> {
        let (as_of, rows) = (section.get_or("as_of", inherited.cloned()), rows(section));
        Some(Self { as_of: as_of?, rows: rows? })
    }
}

fn account_summaries(section: &Node<'_>) -> Option<Vec<AccountSummary>> {
    section.list("accounts", AccountSummary::read)
}

fn trades(section: &Node<'_>) -> Option<Vec<Trade>> {
    let mut trades = section.list("trades", Trade::read)?;
    trades.sort_by_key(|trade| Reverse(trade.timestamp));
    Some(trades)
}

fn transfers(section: &Node<'_>) -> Option<Vec<Transfer>> {
    let mut transfers = section.list("transfers", Transfer::read)?;
    transfers.sort_by_key(|transfer| Reverse(transfer.timestamp));
    Some(transfers)
}

fn positions(section: &Node<'_>) -> Option<Vec<Position>> {
    let positions = section.list("positions", Position::read)?;
    report_repeats(section, "positions", positions.iter().map(|row| &row.symbol));
    Some(positions)
}

fn quotes(section: &Node<'_>) -> Option<Vec<Quote>> {
    let quotes = section.list("quotes", Quote::read)?;
    report_repeats(section, "quotes", quotes.iter().map(|row| &row.symbol));
    Some(quotes)
}

/// Two rows of one symbol would make every answer on it depend on which one is found first.
fn report_repeats<'a>(node: &Node<'_>, what: &str, symbols: impl Iterator<Item = &'a Symbol>) {
    let mut seen = BTreeSet::new();
    for symbol in symbols {
        if !seen.insert(symbol) {
            node.report("duplicate", format!("{symbol} stands twice in `{what}`"));
        }
    }
}

fn names_in<T>(section: Option<&ByAccount<T>>) -> impl Iterator<Item = &str> {
    section.into_iter().flat_map(ByAccount::iter).map(|account| account.name.as_str())
}

fn dates_in<T>(section: Option<&ByAccount<T>>) -> impl Iterator<Item = &AsOf> {
    section.into_iter().flat_map(ByAccount::iter).map(|account| &account.as_of)
}

fn syntax(error: &serde_json::Error) -> Problem {
    // serde_json appends the place itself.
    let description = error.to_string();
    Problem::new("", "bad-json", description)
}
