//! `get_positions`: the positions of an account, and the one asked for (spec 000).

use super::{data, position::position_message, required};
use crate::{
    context::{Required, ToolContext, Unfinished},
    domains::brokerage::proto::v1::{GetPositionsOutput, GetPositionsRequest},
    domains::brokerage::source::Symbol,
    tool::{Reply, Tool},
};

/// `get_positions`.
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
        let symbol = Symbol::new(required("symbol", input.symbol.as_deref())?);
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let held = master.positions(input.account.as_deref())?;
        master.check_symbol(&symbol)?;
        let as_of = held.as_of.as_str();
        let provenance = data.provenance(&context.user.id, "tool:positions:v1", as_of);
        let data = GetPositionsOutput {
            as_of: as_of.to_owned(),
            currency: master.currency().to_owned(),
            account: held.name.clone(),
            positions: held.content.iter().map(position_message).collect(),
            position: held.content.iter().find(|position| position.symbol == symbol).map(position_message),
        };
        Ok(Reply { data, provenance })
    }
}
