//! The contexts of the brokerage's intents: what each result is about, in the fields of the tool's message.

use serde_json::{Map, Value, json};

use super::source::Symbol;
use toolwire_agent_api::contexts::{ResultView, Typed};

/// Words of a question that is about cash and not about value.
const CASH: &[&str] =
    &["cash", "settled", "unsettled", "uninvested", "withdraw", "withdrawn", "buying power"];

/// Words of a question that is about value, whatever else it is about.
const VALUE: &[&str] = &["value", "worth", "total", "balance and value", "summary", "overview"];

/// The typed context of a result, if its tool has one.
pub(super) fn to_typed(seen: ResultView<'_>) -> Option<Typed> {
    let whole = || seen.data.clone();
    let (kind, data) = match seen.tool {
        "get_account_summary" => account(seen),
        "get_activity" => ("ActivityContext", whole()),
        "get_facts" => ("FactsContext", whole()),
        "get_performance" | "get_performance_with_transfers" => ("PerformanceContext", whole()),
        "get_positions" => ("PositionsContext", position(seen)),
        "get_positions_list" => ("PositionsListContext", whole()),
        "get_quotes" => ("QuotesContext", whole()),
        "get_symbol_performance" => ("SymbolPerformanceContext", whole()),
        "get_transfers" => ("TransfersContext", whole()),
        "rank_portfolio" => ("PortfolioRankingContext", whole()),
        _ => return None,
    };
    Some(Typed { kind, data })
}

/// Two intents share a tool: the question's words decide between them.
fn account(seen: ResultView<'_>) -> (&'static str, Value) {
    let message = format!(" {} ", words(seen.message));
    let says = |words: &[&str]| words.iter().any(|word| message.contains(&format!(" {word} ")));
    if !says(CASH) || says(VALUE) {
        return ("AccountValueContext", seen.data.clone());
    }
    let mut data = seen.data.clone();
    let accounts = data.get_mut("accounts").and_then(Value::as_array_mut);
    for account in accounts.into_iter().flatten().filter_map(Value::as_object_mut) {
        account.shift_remove("total_value");
    }
    ("CashBalanceContext", data)
}

fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The one position that was asked for, or that it is not held.
fn position(seen: ResultView<'_>) -> Value {
    let field = |name: &str| seen.data.get(name).cloned().unwrap_or(Value::Null);
    let position = field("position");
    let asked = seen.arguments.get("symbol").and_then(Value::as_str).unwrap_or_default();
    let symbol = position.get("symbol").cloned().unwrap_or_else(|| json!(Symbol::new(asked).as_str()));
    let fields = [
        ("as_of", field("as_of")),
        ("account", field("account")),
        ("symbol", symbol),
        ("found", json!(!position.is_null())),
        ("position", position),
        ("currency", field("currency")),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, message: &str, arguments: &Value, data: &Value) -> Option<Typed> {
        let arguments = arguments.as_object().unwrap();
        to_typed(ResultView { tool, arguments, data, message })
    }

    #[test]
    fn the_one_symbol_is_extracted() {
        let apple = json!({"symbol": "AAPL", "quantity": 42});
        let data = json!({"as_of": "2026-01-15", "account": "Brokerage", "positions": [apple, {}], "position": apple});
        let held = of("get_positions", "", &json!({"symbol": "aapl"}), &data).unwrap();
        assert_eq!(held.kind, "PositionsContext");
        assert_eq!([&held.data["found"], &held.data["symbol"]], [&json!(true), &json!("AAPL")]);
        assert_eq!((&held.data["position"], held.data.get("positions")), (&apple, None));
        let data =
            json!({"as_of": "2026-01-15", "account": "Brokerage", "positions": [apple], "position": null});
        let other = of("get_positions", "", &json!({"symbol": "tsla"}), &data).unwrap();
        assert_eq!([&other.data["found"], &other.data["symbol"]], [&json!(false), &json!("TSLA")]);
    }

    #[test]
    fn the_words_of_the_question_tell_value_from_cash() {
        let data = json!({"accounts": [{"account": "Brokerage", "total_value": 3, "total_cash": 2, "settled_cash": 1}]});
        let kind = |message| of("get_account_summary", message, &json!({}), &data).unwrap();
        for cash in ["How much cash do I have?", "What can I withdraw?", "My buying power"] {
            let context = kind(cash);
            assert_eq!(context.kind, "CashBalanceContext", "{cash}");
            assert_eq!(context.data["accounts"][0].get("total_value"), None);
        }
        for value in ["What is my account worth?", "Total value and cash?", "Show me my account", "cashew"] {
            assert_eq!(
                (kind(value).kind, kind(value).data),
                ("AccountValueContext", data.clone()),
                "{value}"
            );
        }
    }

    #[test]
    fn what_has_no_intent_has_no_type() {
        assert_eq!(of("get_fundamentals", "", &json!({}), &json!({})), None);
    }
}
