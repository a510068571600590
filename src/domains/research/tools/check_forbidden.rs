//! `check_forbidden`: which rules against buying a stock violates, and which could not be judged.

use futures_util::future::try_join3;

use super::{
    GetFundamentals, GetTechnicals, Profiles,
    backtest::turnover_cr,
    forbidden::{Facts, Finding, Forbidden},
    required, symbol,
};
use crate::{
    context::{Required, Services, ToolContext, Unfinished},
    contract::arguments::Arguments,
    domains::research::proto::v1::{
        CheckForbiddenOutput, CheckForbiddenRequest, GetFundamentalsOutput, GetFundamentalsRequest,
        GetTechnicalsOutput, GetTechnicalsRequest, RuleViolation, UnknownRule,
    },
    domains::research::sources::yahoo::{Span, Yahoo},
    tool::{self, Reply, Tool},
};

/// `check_forbidden`.
#[derive(Clone, Copy, Debug)]
pub struct CheckForbidden;

impl Tool for CheckForbidden {
    const NAME: &'static str = "check_forbidden";
    type Input = CheckForbiddenRequest;
    type Output = CheckForbiddenOutput;

    fn services() -> Required {
        symbol::services().of::<Profiles>().of::<Yahoo>()
    }

    fn normalize(arguments: &mut Arguments, services: &Services) {
        symbol::normalize(arguments, services);
    }

    async fn execute(
        &self,
        input: CheckForbiddenRequest,
        context: &ToolContext,
    ) -> Result<Reply<CheckForbiddenOutput>, Unfinished> {
        let profiles = context.services.get::<Profiles>();
        let profile = required("profile", input.profile.as_deref())?;
        let rules = profiles.forbidden(profile)?;
        let symbol = symbol::of(input.symbol.as_deref(), context)?;
        let of_technicals = GetTechnicalsRequest { symbol: Some(symbol.clone()) };
        let of_fundamentals = GetFundamentalsRequest { symbol: Some(symbol.clone()) };
        let (technicals, fundamentals, turnover_cr) = try_join3(
            tool::call::<GetTechnicals>(&of_technicals, context),
            tool::call::<GetFundamentals>(&of_fundamentals, context),
            turnover(rules, &symbol, context),
        )
        .await?;
        let facts = Facts { turnover_cr, ..facts(&technicals.data, &fundamentals.data) };
        let mut provenance = technicals.provenance;
        provenance.absorb(fundamentals.provenance);
        let (profile, as_of) = (profile.to_owned(), technicals.data.as_of);
        let data = CheckForbiddenOutput { profile, as_of, ..judged(rules, symbol, &facts) };
        Ok(Reply { data, provenance })
    }
}

/// The turnover of a day, asked for only where a rule looks at it: no tool states it.
async fn turnover(rules: &Forbidden, symbol: &str, context: &ToolContext) -> Result<Option<f64>, Unfinished> {
    if !rules.asks_for_turnover() {
        return Ok(None);
    }
    let yahoo = context.services.get::<Yahoo>();
    let chart = yahoo.chart(symbol, Span::OneMonth, context).await;
    let chart = chart.map_err(|failure| symbol::explained(failure, symbol, context))?;
    Ok(turnover_cr(&chart.bars))
}

fn facts(technicals: &GetTechnicalsOutput, fundamentals: &GetFundamentalsOutput) -> Facts {
    Facts {
        market_cap_cr: fundamentals.market_cap_cr,
        pe: fundamentals.pe,
        roe_pct: fundamentals.roe_pct,
        debt_to_equity: fundamentals.debt_to_equity,
        price: Some(technicals.current_price),
        rsi_14: technicals.rsi_14,
        turnover_cr: None,
    }
}

fn judged(rules: &Forbidden, symbol: String, facts: &Facts) -> CheckForbiddenOutput {
    let (mut violations, mut unknown) = (Vec::new(), Vec::new());
    for finding in rules.findings(&symbol, facts) {
        match finding {
            Finding::Denied => violations.push(RuleViolation {
                rule: "deny".to_owned(),
                threshold: None,
                observed: None,
                reason: format!("{symbol} is on the deny list"),
            }),
            Finding::Violated { bound, observed } => violations.push(RuleViolation {
                rule: bound.rule.name().to_owned(),
                threshold: Some(bound.threshold),
                observed: Some(observed),
                reason: bound.reason(observed),
            }),
            Finding::Unknown(rule) => unknown.push(UnknownRule {
                rule: rule.name().to_owned(),
                reason: format!("{} is not known", rule.subject()),
            }),
        }
    }
    let is_forbidden = !violations.is_empty();
    CheckForbiddenOutput { symbol, is_forbidden, violations, unknown, ..CheckForbiddenOutput::default() }
}
