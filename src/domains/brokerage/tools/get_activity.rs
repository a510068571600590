//! `get_activity`: the trades of an account.

use super::{data, money::exact, selection::Selection};
use crate::{
    proto::v1::{self, GetActivityOutput, GetActivityRequest},
    source::Trade,
};
use toolwire_tool::{
    Reply, Tool,
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
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let activity = master.activity(input.account.as_deref())?;
        let as_of = activity.as_of.as_str();
        let mut provenance = data.provenance(&context.user.id, "tool:activity:v1", as_of);
        let trades = selection.of("trades", &activity.content, |trade| trade.timestamp, &mut provenance);
        let data = GetActivityOutput {
            as_of: as_of.to_owned(),
            currency: master.currency().to_owned(),
            account: activity.name.clone(),
            trades: trades.into_iter().map(trade_message).collect(),
        };
        Ok(Reply { data, provenance })
    }
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
