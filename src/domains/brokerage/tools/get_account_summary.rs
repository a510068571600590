//! `get_account_summary`: the value and cash of accounts.
//!
//! Totals are returned as given. What does not reconcile with the positions is a warning, never recomputed.

use rust_decimal::Decimal;

use super::{
    data,
    money::{exact, round, shares, text},
};
use crate::{
    proto::v1::{self, GetAccountSummaryOutput, GetAccountSummaryRequest},
    source::{AccountSummary, Master, Position},
};
use toolwire_contract::ToolError;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetAccountSummary;

/// The totals of an account's positions.
struct AccountTotals<'a> {
    value: Decimal,
    count: usize,
    unpriced: Vec<&'a Position>,
}

impl Tool for GetAccountSummary {
    const NAME: &'static str = "get_account_summary";
    type Input = GetAccountSummaryRequest;
    type Output = GetAccountSummaryOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetAccountSummaryRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetAccountSummaryOutput>, Unfinished> {
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let as_of = master.account_summary()?.as_of.as_str();
        let accounts = select(master, input.account.as_deref())?;
        let mut provenance = data.provenance(&context.user.id, "tool:account_summary:v1", as_of);
        provenance.warnings.extend(accounts.iter().flat_map(|account| warnings(account, master)));
        let accounts = accounts.into_iter().map(account_message).collect();
        let currency = master.currency().to_owned();
        Ok(Reply {
            data: GetAccountSummaryOutput { as_of: as_of.to_owned(), accounts, currency },
            provenance,
        })
    }
}

fn select<'a>(master: &'a Master, account: Option<&str>) -> Result<Vec<&'a AccountSummary>, ToolError> {
    let rows = &master.account_summary()?.rows;
    let Some(account) = account else { return Ok(rows.iter().collect()) };
    master.check_account(account)?;
    match rows.iter().find(|row| row.is_of(account)) {
        Some(row) => Ok(vec![row]),
        None => Err(ToolError::not_found(format!("No account_summary data for account '{account}'."))),
    }
}

fn warnings(account: &AccountSummary, master: &Master) -> Vec<String> {
    let AccountSummary { account: name, total_value, total_cash, settled_cash } = account;
    let mut warnings = Vec::new();
    if settled_cash > total_cash {
        let [settled, total] = [*settled_cash, *total_cash].map(text);
        warnings.push(format!("{name}: settled_cash {settled} is more than total_cash {total}."));
    }
    let Some(AccountTotals { value, count, unpriced }) = AccountTotals::of(name, master) else {
        return warnings;
    };
    // A sum of rounded values is off by at most half a cent per position.
    let allowed = Decimal::new(5, 3) * Decimal::from(count);
    let difference = Some(round(*total_value - total_cash - value)).filter(|it| it.abs() > allowed);
    if let Some(difference) = difference {
        let [total, by, held, cash] = [*total_value, difference, value, *total_cash].map(text);
        warnings.push(format!(
            "{name}: total_value {total} differs by {by} from positions {held} plus total_cash {cash}."
        ));
    }
    warnings.extend(
        unpriced.into_iter().map(|position| without_quote(name, difference.is_none(), position, master)),
    );
    warnings
}

impl<'a> AccountTotals<'a> {
    /// `None` if the data cannot say.
    fn of(account: &str, master: &'a Master) -> Option<Self> {
        master.quotes().ok()?;
        let positions = &master.positions(Some(account)).ok()?.content;
        let value = |position: &Position| Some(position.quantity * master.quote(&position.symbol)?.price);
        Some(Self {
            value: round(positions.iter().filter_map(value).sum()),
            count: positions.len(),
            unpriced: positions.iter().filter(|position| value(position).is_none()).collect(),
        })
    }
}

/// Where the rest adds up, the value of what has no quote is missing from the total; otherwise the cause is unknown.
fn without_quote(name: &str, is_rest_right: bool, unpriced: &Position, master: &Master) -> String {
    let Position { symbol, quantity, cost_basis, .. } = unpriced;
    let (held, cost, currency) = (shares(*quantity), text(quantity * cost_basis), master.currency());
    let is_counted = if is_rest_right {
        "total_value leaves out what is held of it"
    } else {
        "it is not known whether total_value counts what is held of it"
    };
    format!("{name}: {symbol} has no quote ({held}, bought for {cost} {currency}): {is_counted}.")
}

fn account_message(account: &AccountSummary) -> v1::AccountSummary {
    v1::AccountSummary {
        account: account.account.clone(),
        total_value: exact(account.total_value),
        total_cash: exact(account.total_cash),
        settled_cash: exact(account.settled_cash),
    }
}
