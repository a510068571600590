//! `get_activity`: the trades of an account.

use super::{data, known_symbol, money::exact, selection::Selection};
use crate::{
    proto::v1::{self, GetActivityOutput, GetActivityRequest},
    source::{Master, Side, Symbol, Trade},
};
use toolwire_tool::{
    Reply, Tool,
    argument::one_of,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetActivity;

impl Tool for GetActivity {
    const NAME: &'static str = "get_activity";
    type Input = GetActivityRequest;
    type Output = GetActivityOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetActivityRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetActivityOutput>, Unfinished> {
        let selection = Selection::new(input.since.as_deref(), input.until.as_deref(), input.limit)?;
        let side = input.side.as_deref();
        let side = side.map(|word| one_of("side", word, word.parse::<Side>().ok())).transpose()?;
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let symbol = input.symbol.as_deref().map(|text| known_symbol(text, master)).transpose()?;
        let activity = master.activity(input.account.as_deref())?;
        let as_of = activity.as_of.as_str();
        let mut provenance = data.provenance(&context.user.id, "tool:activity:v1", as_of);
        let is_of = |trade: &&Trade| symbol.as_ref().is_none_or(|symbol| trade.symbol == *symbol);
        let is_selected = |trade: &&Trade| is_of(trade) && side.is_none_or(|side| trade.side == side);
        let selected = activity.content.iter().filter(is_selected);
        let trades = selection.of("trades", selected, |trade| trade.timestamp, &mut provenance);
        if let Some(symbol) = symbol.as_ref().filter(|_| !activity.content.iter().any(|trade| is_of(&trade)))
        {
            provenance.warnings.extend(elsewhere(symbol, &activity.name, master));
        }
        let data = GetActivityOutput {
            as_of: as_of.to_owned(),
            currency: master.currency().to_owned(),
            account: activity.name.clone(),
            trades: trades.into_iter().map(trade_message).collect(),
        };
        Ok(Reply { data, provenance })
    }
}

/// No trades are shown only because another account has them.
fn elsewhere(symbol: &Symbol, account: &str, master: &Master) -> Option<String> {
    let traders = master.traders(symbol).collect::<Vec<_>>().join(" and ");
    (!traders.is_empty()).then(|| {
        format!("{symbol} was not traded in {account}, but in {traders}: name that account to see it.")
    })
}

fn trade_message(trade: &Trade) -> v1::Trade {
    v1::Trade {
        timestamp: Some(trade.timestamp.into()),
        symbol: trade.symbol.to_string(),
        side: trade.side.into_str().to_owned(),
        quantity: exact(trade.quantity),
        price: exact(trade.price),
    }
}
