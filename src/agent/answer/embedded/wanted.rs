//! Whether results show the part that a message is about, and whether they show more.

use serde_json::{Map, Value};

use toolwire_contract::Payload;
use toolwire_planner::Wanted;

/// How results show what is wanted of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// They do not.
    Nothing,
    /// They show entries that are not wanted: of a kind perhaps only these.
    Others,
    /// They show nothing else.
    Alone,
}

/// How results show what is wanted of them.
pub(super) fn shown(wanted: &Wanted, results: &[&Payload]) -> Shown {
    let is_kind = wanted.field.is_some();
    let is_value = |value: &Value| {
        let text = value.as_str();
        text.is_some_and(|text| wanted.values.iter().any(|it| it.eq_ignore_ascii_case(text)))
    };
    let is_wanted = |entry: &Map<String, Value>| match &wanted.field {
        Some((_, field)) => entry.get(field).is_some_and(is_value),
        None => entry.values().any(is_value),
    };
    let is_list = |name: &str| wanted.field.as_ref().is_none_or(|(list, _)| list == name);
    let objects = results.iter().filter_map(|result| result.json().as_object());
    let lists = objects.flat_map(|object| object.iter().filter(|(name, _)| is_list(name)));
    let entries = lists.filter_map(|(_, list)| list.as_array()).flatten().filter_map(Value::as_object);
    let (wanted, others): (Vec<_>, Vec<_>) = entries.partition(|entry| is_wanted(entry));
    match (wanted.is_empty(), others.is_empty()) {
        (false, true) => Shown::Alone,
        (false, false) => Shown::Others,
        (true, false) if is_kind => Shown::Others,
        (true, _) => Shown::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(wanted: &Wanted, result: Value) -> Shown {
        shown(wanted, &[&Payload::from_json(result)])
    }

    #[test]
    fn a_name_is_looked_for_in_every_field_and_a_kind_in_its_own() {
        let acme = Wanted { said: "Acme".to_owned(), field: None, values: vec!["ACME".to_owned()] };
        let field = Some(("sales".to_owned(), "side".to_owned()));
        let sold = Wanted { said: "sold".to_owned(), field, values: vec!["SELL".to_owned()] };
        let sale = |symbol: &str, side: &str| json!({"symbol": symbol, "side": side});
        let sales = |all: &[Value]| json!({"account": "Main", "sales": all});
        assert_eq!(of(&acme, sales(&[sale("ACME", "BUY"), sale("INIT", "SELL")])), Shown::Others);
        assert_eq!(of(&acme, sales(&[sale("ACME", "BUY")])), Shown::Alone);
        assert_eq!(of(&acme, sales(&[sale("INIT", "BUY")])), Shown::Nothing);
        assert_eq!(of(&sold, sales(&[sale("ACME", "BUY"), sale("INIT", "SELL")])), Shown::Others);
        assert_eq!(of(&sold, sales(&[sale("SELL", "BUY")])), Shown::Others);
        assert_eq!(of(&sold, json!({"others": [sale("ACME", "SELL")]})), Shown::Nothing);
        assert_eq!(of(&sold, json!("sold")), Shown::Nothing);
    }
}
