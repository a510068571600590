//! `check_wait_zone`: whether buying a stock is not recommended now, and why.

use super::{GetTechnicals, Profiles, contradictions, required, symbol, wait_zone::Observation};
use crate::proto::v1::{CheckWaitZoneOutput, CheckWaitZoneRequest, GetTechnicalsRequest};
use toolwire_contract::arguments::Arguments;
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct CheckWaitZone;

impl Tool for CheckWaitZone {
    const NAME: &'static str = "check_wait_zone";
    type Input = CheckWaitZoneRequest;
    type Output = CheckWaitZoneOutput;

    fn services() -> Required {
        symbol::services().of::<Profiles>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: CheckWaitZoneRequest,
        context: &ToolContext,
    ) -> Result<Reply<CheckWaitZoneOutput>, Unfinished> {
        let profiles = context.services.get::<Profiles>();
        let profile = required("profile", input.profile.as_deref())?;
        let zone = profiles.wait_zone(profile)?;
        let symbol = symbol::of(input.symbol.as_deref(), context)?;
        let asked = GetTechnicalsRequest { symbol: Some(symbol) };
        let Reply { data, provenance } = tool::call::<GetTechnicals>(&asked, context).await?;
        let observed = Observation {
            rsi_14: data.rsi_14,
            price_vs_sma50_pct: data.price_vs_sma50_pct,
            price_vs_sma200_pct: data.price_vs_sma200_pct,
            days: usize::try_from(data.days).unwrap_or_default(),
        };
        // As a history that is too short: what cannot be judged counts as a reason to wait.
        let contradictions = contradictions(&provenance);
        let reasons = if contradictions.is_empty() { zone.reasons(&observed) } else { contradictions };
        let data = CheckWaitZoneOutput {
            symbol: data.symbol,
            is_wait_zone: !reasons.is_empty(),
            reasons,
            profile: profile.to_owned(),
            as_of: data.as_of,
        };
        Ok(Reply { data, provenance })
    }
}
