//! Synthesize: suggestions, best first. Figures stand as the tools gave them; what writes the words is in `write`.

use serde_json::Value;

use super::{
    browse::Ideas,
    context::{Context, at},
    evaluate::Evaluated,
    score::{self, Action},
    signals::{Moods, signals},
    write::{Findings, ModelWriter, RuleWriter, Text, Wording, Writer},
};
use crate::{
    proto::v1::{DiscoveryResult, Forbidden, Suggestion, WaitZone},
    tools::mood_counts,
};
use toolwire_agent_api::{
    CompletedCall,
    job::{Failure, Finished, JobUpdate},
};
use toolwire_base::words::counted;
use toolwire_contract::Payload;

/// Everything that was found, as the job's result.
pub(super) async fn finish(mut context: Context<'_>, browsed: &Ideas, evaluated: Vec<Evaluated>) -> Finished {
    let mut findings = Vec::new();
    for evaluated in evaluated {
        if evaluated.results().next().is_some() {
            findings.push(findings_of(&evaluated));
        } else {
            context.skip(&evaluated.candidate.symbol, "nothing was found out of it");
        }
    }
    let by_rule = RuleWriter.write(context.run, &findings, &browsed.moods).await.unwrap_or_default();
    let written = match context.run.model().cloned() {
        Some(model) if !findings.is_empty() => {
            match (ModelWriter { model }).write(context.run, &findings, &browsed.moods).await {
                Ok(written) => check(&mut context, written, &by_rule),
                // A failure of the model is reported, not hidden behind the rule.
                Err(why) => {
                    context.skip("model", &why);
                    by_rule
                }
            }
        }
        _ => by_rule,
    };
    let mut suggestions: Vec<_> = findings.into_iter().map(|findings| suggest(findings, &written)).collect();
    // Stable: those that are equal stay as they were picked.
    suggestions.sort_by_key(|(action, ..)| std::cmp::Reverse(*action));
    to_finished(context, written, suggestions.into_iter().map(|(_, suggestion)| suggestion).collect())
}

/// The texts of a model. A text that says more than the results is replaced by that of the rule.
fn check(context: &mut Context<'_>, written: Wording, by_rule: &Wording) -> Wording {
    let run = context.run;
    let mut dropped = false;
    let mut stands = |text: &String| {
        let stands = run.stands(text);
        dropped |= !stands;
        stands
    };
    let market_note = Some(written.market_note).filter(|note| stands(note));
    let mut texts = by_rule.texts.clone();
    for (symbol, text) in written.texts {
        let Some(rules) = texts.get_mut(&symbol) else { continue };
        rules.action = text.action.or(rules.action);
        rules.conviction = text.conviction.or(rules.conviction);
        if !text.thesis.is_empty() && stands(&text.thesis) {
            rules.thesis = text.thesis;
        }
        let (reasons, risks): (Vec<_>, Vec<_>) = (
            text.reasons.into_iter().filter(&mut stands).collect(),
            text.risks.into_iter().filter(&mut stands).collect(),
        );
        if !reasons.is_empty() {
            rules.reasons = reasons;
        }
        // What rules found is never left out.
        rules.risks.extend(risks);
    }
    if dropped {
        context.skip("model", "some of its words were left out: they say what no result does");
    }
    let market_note = market_note.unwrap_or_else(|| by_rule.market_note.clone());
    Wording { market_note, texts, ..written_by(&written.model, written.usage) }
}

fn written_by(model: &str, usage: (u64, u64)) -> Wording {
    Wording { model: model.to_owned(), usage, ..Wording::default() }
}

/// What the tools found of a candidate.
fn findings_of(evaluated: &Evaluated) -> Findings {
    let data = |called: &Option<CompletedCall>| {
        called.as_ref().and_then(|called| called.data()).cloned().unwrap_or(Value::Null)
    };
    let (technicals, fundamentals) = (data(&evaluated.technicals), data(&evaluated.fundamentals));
    let wait_zone = evaluated.wait_zone.as_ref().map(|_| wait_zone(&data(&evaluated.wait_zone)));
    let forbidden = evaluated.forbidden.as_ref().map(|_| forbidden(&data(&evaluated.forbidden)));
    let mut citations: Vec<String> = Vec::new();
    for source in evaluated.results().flat_map(|called| &called.provenance().source_ids) {
        if !citations.contains(source) {
            citations.push(source.clone());
        }
    }
    let thesis = data(&evaluated.thesis);
    let suggestion = Suggestion {
        symbol: evaluated.candidate.symbol.clone(),
        name: evaluated.candidate.name.clone(),
        price: technicals["current_price"].as_f64(),
        rsi_14: technicals["rsi_14"].as_f64(),
        price_vs_sma200_pct: technicals["price_vs_sma200_pct"].as_f64(),
        currency: technicals["currency"].as_str().map(str::to_owned),
        pe: fundamentals["pe"].as_f64(),
        roe_pct: fundamentals["roe_pct"].as_f64(),
        wait_zone,
        forbidden,
        found_in: evaluated.candidate.found_in.iter().map(|place| place.into_str().to_owned()).collect(),
        citations,
        ..Suggestion::default()
    };
    let moods = thesis["recent_sentiment"].as_str().and_then(mood_counts);
    let moods = moods.map(|(positive, negative)| Moods { positive, negative });
    let signals = signals(&suggestion, moods);
    let most = score::most(suggestion.wait_zone.as_ref(), suggestion.forbidden.as_ref(), &signals, moods);
    Findings { suggestion, signals, most, thesis: thesis["thesis_summary"].as_str().map(str::to_owned) }
}

fn wait_zone(data: &Value) -> WaitZone {
    WaitZone {
        is_wait_zone: data["is_wait_zone"].as_bool().unwrap_or(true),
        reasons: strings(&data["reasons"], Value::as_str),
    }
}

fn forbidden(data: &Value) -> Forbidden {
    Forbidden {
        is_forbidden: data["is_forbidden"].as_bool().unwrap_or(true),
        violations: strings(&data["violations"], |it| it["reason"].as_str()),
        unknown: strings(&data["unknown"], |it| it["reason"].as_str()),
    }
}

fn strings(list: &Value, text: impl Fn(&Value) -> Option<&str>) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|it| text(it).map(str::to_owned)).collect()
}

/// A candidate with its words. What was wished for it is lowered to what rules allow.
fn suggest(findings: Findings, written: &Wording) -> (Action, Suggestion) {
    let Findings { suggestion, signals, most, .. } = findings;
    let text = written.texts.get(&suggestion.symbol).cloned().unwrap_or_default();
    let Text { action, conviction: wished, thesis, reasons, risks } = text;
    let action = action.unwrap_or(most).min(most);
    let by_rule = score::conviction(action, &signals, suggestion.forbidden.as_ref());
    let conviction = wished.unwrap_or(by_rule).min(by_rule);
    let suggestion = Suggestion {
        action: action.into_str().to_owned(),
        conviction: conviction.into_str().to_owned(),
        thesis,
        reasons,
        risks,
        ..suggestion
    };
    (action, suggestion)
}

fn to_finished(context: Context<'_>, written: Wording, suggestions: Vec<Suggestion>) -> Finished {
    let error = match context.alerts.first() {
        Some(alert) => Some(Failure {
            code: alert.code.clone(),
            message: format!("{}: {}", alert.source, alert.message),
            retryable: false,
        }),
        None if context.is_late => Some(Failure {
            code: "DEADLINE_EXCEEDED".to_owned(),
            message: "its time was over before everything was looked at; start it again with more".to_owned(),
            retryable: true,
        }),
        None => None,
    };
    let found = counted(suggestions.len() as u64, "suggestion", "suggestions");
    let result = DiscoveryResult {
        market_note: written.market_note,
        suggestions,
        invocations: context.run.calls(),
        skipped: context.skipped,
        alerts: context.alerts,
        sources: context.sources,
        as_of: context.as_of,
        model: written.model,
        input_tokens: written.usage.0,
        output_tokens: written.usage.1,
    };
    let said = JobUpdate {
        percent: at::END,
        step: "synthesize".to_owned(),
        message: format!("Discovery ended with {found}"),
        call_id: String::new(),
    };
    Finished { error, result: Payload::from_message(&result).into_json_text(), said }
}
