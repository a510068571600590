//! The brokerage tools: eight that read one section each, and three composites that call them.
//!
//! What they share stands here: the state they read.

mod fifo;
mod get_account_summary;
mod get_activity;
mod get_facts;
mod get_performance;
mod get_performance_with_transfers;
mod get_positions;
mod get_positions_list;
mod get_quotes;
mod get_symbol_performance;
mod get_transfers;
mod money;
mod position;
mod rank_portfolio;
mod selection;
mod valuation;

use std::sync::Arc;

pub use get_account_summary::GetAccountSummary;
pub use get_activity::GetActivity;
pub use get_facts::GetFacts;
pub use get_performance::GetPerformance;
pub use get_performance_with_transfers::GetPerformanceWithTransfers;
pub use get_positions::GetPositions;
pub use get_positions_list::GetPositionsList;
pub use get_quotes::GetQuotes;
pub use get_symbol_performance::GetSymbolPerformance;
pub use get_transfers::GetTransfers;
pub use rank_portfolio::RankPortfolio;

use crate::{
    names::is_listed,
    source::{Brokerage, Data, Master, Symbol},
};
use toolwire_contract::ToolError;
use toolwire_tool::{
    Executor,
    argument::{one_of, reject, required},
    context::{Required, ToolContext},
    erase,
};

/// The tools that the domain offers.
pub(super) fn all() -> Vec<Arc<dyn Executor>> {
    vec![
        erase(GetAccountSummary),
        erase(GetActivity),
        erase(GetFacts),
        erase(GetPerformance),
        erase(GetPositions),
        erase(GetPositionsList),
        erase(GetQuotes),
        erase(GetTransfers),
        // Composites of these.
        erase(GetPerformanceWithTransfers),
        erase(GetSymbolPerformance),
        erase(RankPortfolio),
    ]
}

/// The argument `symbol` of a tool that takes one.
fn one_symbol(value: Option<&str>, master: &Master) -> Result<Symbol, ToolError> {
    let text = required("symbol", value)?;
    let several = master.several(text);
    if several.is_empty() {
        return Ok(Symbol::new(text));
    }
    let several = several.iter().map(Symbol::as_str).collect::<Vec<_>>();
    let words = format!(
        "`symbol` takes one symbol a call, and {} are {}. Call once for each; get_quotes takes several with commas, and \
         get_positions_list and rank_portfolio show all that is held.",
        several.join(" and "),
        several.len()
    );
    Err(reject("symbol", "one", words))
}

/// The one symbol of a text. Of a well-known company there may be nothing; any other symbol that the user's data does
/// not know may be a misspelt one, and is rejected.
fn known_symbol(text: &str, master: &Master) -> Result<Symbol, ToolError> {
    let symbol = one_symbol(Some(text), master)?;
    if !is_listed(&symbol) {
        master.check_symbol(&symbol)?;
    }
    Ok(symbol)
}

/// What the tools that read the state need.
fn services() -> Required {
    Required::none().of::<Brokerage>()
}

/// Fixes the state of the brokerage that this call sees, and returns what identifies it. The same content from a broken
/// file is another state: it comes with a warning.
pub fn state(context: &ToolContext) -> String {
    let data = data(context);
    if data.is_stale() { format!("{} stale", data.digest()) } else { data.digest().to_owned() }
}

/// The state of the brokerage that this call sees: fixed at first use, so that a composite and its nested calls see
/// one.
fn data(context: &ToolContext) -> Arc<Data> {
    let source = context.services.get::<Brokerage>();
    context.pins.get_or_pin(|| source.current_for(&context.user.id))
}
