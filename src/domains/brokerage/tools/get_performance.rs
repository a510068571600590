//! `get_performance`: the return of an account over a timeframe.

use super::{data, money::exact, one_of, required};
use crate::{
    proto::v1::{GetPerformanceOutput, GetPerformanceRequest},
    source::{Account, Performance, Timeframe},
};
use toolwire_contract::ToolError;
use toolwire_tool::{
    Reply, Tool,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetPerformance;

impl Tool for GetPerformance {
    const NAME: &'static str = "get_performance";
    type Input = GetPerformanceRequest;
    type Output = GetPerformanceOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetPerformanceRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetPerformanceOutput>, Unfinished> {
        let timeframe = timeframe(required("timeframe", input.timeframe.as_deref())?)?;
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let performance = master.performance(input.account.as_deref())?;
        let found =
            performance.content.get(&timeframe).ok_or_else(|| without_data(timeframe, performance))?;
        let as_of = performance.as_of.as_str();
        let provenance = data.provenance(&context.user.id, "tool:performance:v1", as_of);
        let data = GetPerformanceOutput {
            as_of: as_of.to_owned(),
            currency: master.currency().to_owned(),
            account: performance.name.clone(),
            timeframe: timeframe.into_str().to_owned(),
            return_pct: exact(found.return_pct),
            contributions: exact(found.contributions),
        };
        Ok(Reply { data, provenance })
    }
}

pub(super) fn timeframe(word: &str) -> Result<Timeframe, ToolError> {
    one_of("timeframe", word, word.parse().ok())
}

fn without_data(timeframe: Timeframe, performance: &Account<Performance>) -> ToolError {
    let having = performance.content.keys().map(Timeframe::into_str).collect::<Vec<_>>().join(", ");
    ToolError::not_found(format!(
        "No performance data for timeframe '{}' in account '{}'. Timeframes with data: {having}.",
        timeframe.into_str(),
        performance.name,
    ))
}
