//! `check_forbidden`: which rules against buying a stock violates, and which could not be judged.

use futures_util::future::try_join3;

use super::{
    GetFundamentals, GetTechnicals, Profiles,
    backtest::turnover_cr,
    contradictions,
    forbidden_stocks::{Facts, Finding, Forbidden, Rule},
    insufficient, required, symbol,
};
use crate::{
    proto::v1::{
        CheckForbiddenOutput, CheckForbiddenRequest, GetFundamentalsOutput, GetFundamentalsRequest,
        GetTechnicalsOutput, GetTechnicalsRequest, RuleViolation, UnknownRule,
    },
    sources::yahoo::{Span, Yahoo},
};
use toolwire_contract::arguments::Arguments;
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{Required, Services, ToolContext, Unfinished},
};

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
        let doubts = Doubts::of(&technicals, &fundamentals);
        let facts = doubts.without(Facts { turnover_cr, ..facts(&technicals.data, &fundamentals.data) });
        let mut provenance = technicals.provenance;
        provenance.absorb(fundamentals.provenance);
        let (profile, as_of) = (profile.to_owned(), technicals.data.as_of);
        let data = CheckForbiddenOutput { profile, as_of, ..judge(rules, symbol, &facts, &doubts) };
        Ok(Reply { data, provenance })
    }
}

/// The turnover of a day, fetched only if a rule needs it: no tool states it.
async fn turnover(rules: &Forbidden, symbol: &str, context: &ToolContext) -> Result<Option<f64>, Unfinished> {
    if !rules.asks_for_turnover() {
        return Ok(None);
    }
    let yahoo = context.services.get::<Yahoo>();
    let chart = yahoo.chart(symbol, Span::OneMonth, context).await;
    let chart = chart.map_err(|failure| symbol::explain(failure, symbol, context))?;
    Ok(turnover_cr(&chart.bars).filter(|_| chart.contradictions.is_empty()))
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

fn judge(rules: &Forbidden, symbol: String, facts: &Facts, doubts: &Doubts) -> CheckForbiddenOutput {
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
                rule: bound.rule.into_str().to_owned(),
                threshold: Some(bound.threshold),
                observed: Some(observed),
                reason: bound.reason(observed),
            }),
            Finding::Unknown(rule) => unknown.push(UnknownRule {
                rule: rule.into_str().to_owned(),
                reason: match doubts.about(rule) {
                    Some(contradiction) => contradiction.to_owned(),
                    None => format!("{} is not known", rule.subject()),
                },
            }),
        }
    }
    let is_forbidden = !violations.is_empty();
    CheckForbiddenOutput { symbol, is_forbidden, violations, unknown, ..CheckForbiddenOutput::default() }
}

/// Where what the rules look at contradicts itself: a rule that rests on it cannot be judged.
#[derive(Debug, Default)]
struct Doubts {
    prices: Option<String>,
    /// About every amount of money.
    amounts: Option<String>,
    /// About fundamentals, each of which names those that are left out for it.
    fundamentals: Vec<String>,
}

impl Doubts {
    fn of(technicals: &Reply<GetTechnicalsOutput>, fundamentals: &Reply<GetFundamentalsOutput>) -> Self {
        let currencies = technicals.data.currency.as_ref().zip(fundamentals.data.currency.as_ref());
        let differ = currencies.filter(|(of_prices, of_fundamentals)| of_prices != of_fundamentals);
        Self {
            prices: contradictions(&technicals.provenance).into_iter().next(),
            amounts: differ
                .map(|_| insufficient("prices and fundamentals are stated in different currencies")),
            fundamentals: contradictions(&fundamentals.provenance),
        }
    }

    fn without(&self, facts: Facts) -> Facts {
        let has_prices = self.prices.is_none() && self.amounts.is_none();
        Facts {
            market_cap_cr: facts.market_cap_cr.filter(|_| self.amounts.is_none()),
            price: facts.price.filter(|_| has_prices),
            turnover_cr: facts.turnover_cr.filter(|_| has_prices),
            rsi_14: facts.rsi_14.filter(|_| self.prices.is_none()),
            ..facts
        }
    }

    /// Why a rule cannot be judged, if that is why.
    fn about(&self, rule: Rule) -> Option<&str> {
        let of_fundamentals = self.fundamentals.iter().find(|words| words.contains(rule.subject()));
        let doubt = match rule {
            Rule::MinPrice | Rule::MinTurnoverCr => self.prices.as_ref().or(self.amounts.as_ref()),
            Rule::MaxRsi => self.prices.as_ref(),
            Rule::MinMarketCapCr => self.amounts.as_ref().or(of_fundamentals),
            Rule::MinPe | Rule::MaxPe | Rule::MinRoePct | Rule::MaxDebtToEquity => of_fundamentals,
        };
        doubt.map(String::as_str)
    }
}
