//! `get_positions`: the positions of an account, and the one asked for.

use super::{data, known_symbol, money::shares, position::position_message};
use crate::{
    proto::v1::{GetPositionsOutput, GetPositionsRequest},
    source::{Master, Position, Symbol},
};
use toolwire_tool::{
    Reply, Tool,
    argument::required,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetPositions;

impl Tool for GetPositions {
    const NAME: &'static str = "get_positions";
    type Input = GetPositionsRequest;
    type Output = GetPositionsOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetPositionsRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetPositionsOutput>, Unfinished> {
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let symbol = known_symbol(required("symbol", input.symbol.as_deref())?, master)?;
        let held = master.positions(input.account.as_deref())?;
        let as_of = held.as_of.as_str();
        let mut provenance = data.provenance(&context.user.id, "tool:positions:v1", as_of);
        let position = held.content.iter().find(|position| position.symbol == symbol).map(position_message);
        provenance.warnings.extend(match position {
            None => elsewhere(&symbol, &held.name, master),
            // Naming an account restricts the question to it.
            Some(_) if input.account.is_none() => warn_of_others(&symbol, &held.name, master),
            Some(_) => None,
        });
        let data = GetPositionsOutput {
            as_of: as_of.to_owned(),
            currency: master.currency().to_owned(),
            account: held.name.clone(),
            positions: held.content.iter().map(position_message).collect(),
            position,
        };
        Ok(Reply { data, provenance })
    }
}

/// The warning that other accounts hold the symbol too, if they do.
fn warn_of_others(symbol: &Symbol, account: &str, master: &Master) -> Option<String> {
    let others = master.holders(symbol).filter(|(name, _)| *name != account).map(holder);
    let others = others.collect::<Vec<_>>().join(" and ");
    (!others.is_empty()).then(|| {
        format!("This is what {account} holds of {symbol}; it is held in {others} too: name that account to see it.")
    })
}

fn holder((name, position): (&str, &Position)) -> String {
    format!("{name} ({})", shares(position.quantity))
}

/// Null is only about the account that was asked for.
fn elsewhere(symbol: &Symbol, account: &str, master: &Master) -> Option<String> {
    let holders: Vec<_> = master.holders(symbol).map(holder).collect();
    if !holders.is_empty() {
        let holders = holders.join(" and ");
        return Some(format!(
            "{symbol} is not held in {account}, but in {holders}: name that account to see it."
        ));
    }
    let traders: Vec<_> = master.traders(symbol).collect();
    (!traders.is_empty() && !traders.contains(&account)).then(|| {
        let traders = traders.join(" and ");
        format!(
            "{symbol} is not held any more and was never in {account}, but in {traders}: name that account to see it."
        )
    })
}
