//! `get_positions_list`: the positions of an account, optionally of one asset class.

use std::collections::BTreeSet;

use super::{data, position::position_message};
use crate::{
    proto::v1::{GetPositionsListOutput, GetPositionsListRequest},
    source::{AssetClass, Position},
};
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetPositionsList;

impl Tool for GetPositionsList {
    const NAME: &'static str = "get_positions_list";
    type Input = GetPositionsListRequest;
    type Output = GetPositionsListOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetPositionsListRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetPositionsListOutput>, Unfinished> {
        // An empty filter is none, and a class that nothing is of leaves an empty list.
        let filter = input.asset_class.as_deref().filter(|class| !class.is_empty());
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let held = master.positions(input.account.as_deref())?;
        let is_wanted = |class: AssetClass| filter.is_none_or(|filter| filter == class.into_str());
        let as_of = held.as_of.as_str();
        let mut provenance = data.provenance(&context.user.id, "tool:positions_list:v1", as_of);
        let output = GetPositionsListOutput {
            as_of: as_of.to_owned(),
            currency: master.currency().to_owned(),
            account: held.name.clone(),
            positions: held
                .content
                .iter()
                .filter(|row| is_wanted(row.asset_class))
                .map(position_message)
                .collect(),
            asset_class_filter: filter.map(str::to_owned),
        };
        if let Some(class) = filter.filter(|_| output.positions.is_empty() && !held.content.is_empty()) {
            provenance.warnings.push(nothing_of(class, &held.content));
        }
        Ok(Reply { data: output, provenance })
    }
}

/// Says which classes there are, so that an empty list is not taken for an empty account.
fn nothing_of(class: &str, held: &[Position]) -> String {
    let classes: BTreeSet<_> = held.iter().map(|position| position.asset_class.into_str()).collect();
    let classes = Vec::from_iter(classes).join(", ");
    format!("Nothing of the asset class '{class}' is held. Asset classes held: {classes}.")
}
