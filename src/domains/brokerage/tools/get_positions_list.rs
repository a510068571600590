//! `get_positions_list`: the positions of an account, optionally of one asset class (spec 000).

use super::{data, one_of, position::position_message};
use crate::{
    context::{Required, ToolContext, Unfinished},
    contract::{Provenance, ToolError},
    domains::brokerage::proto::v1::{GetPositionsListOutput, GetPositionsListRequest},
    domains::brokerage::source::AssetClass,
    tool::{Reply, Tool},
};

/// `get_positions_list`.
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
        let filter = input.asset_class.as_deref().map(asset_class).transpose()?;
        let data = data(context);
        let held = data.user(&context.user.id)?.positions(input.account.as_deref())?;
        let is_wanted = |class: AssetClass| filter.is_none_or(|filter| filter == class);
        let as_of = held.as_of.as_str();
        let data = GetPositionsListOutput {
            as_of: as_of.to_owned(),
            account: held.name.clone(),
            positions: held
                .content
                .iter()
                .filter(|row| is_wanted(row.asset_class))
                .map(position_message)
                .collect(),
            asset_class_filter: filter.map(|filter| filter.word().to_owned()),
        };
        Ok(Reply { data, provenance: Provenance::of("tool:positions_list:v1", as_of) })
    }
}

fn asset_class(word: &str) -> Result<AssetClass, ToolError> {
    one_of("asset_class", word, AssetClass::of(word))
}
