//! Conditions on arguments that the operator adds to those of manifests, `[confirmations.approve_unless.TOOL]`, and of
//! offers, `[providers.NAME.conditions.TOOL]`.
//!
//! Not here: what a condition may say, which is checked where the parameters of the tool are known.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{fields::Fields, reader::Reader, value::quote};

/// JSON Schemas by the name of an argument, by tool.
pub(super) type Conditions = BTreeMap<String, Map<String, Value>>;

pub(super) fn read_all(reader: &mut Reader) -> Conditions {
    let mut all = Conditions::new();
    for (tool, mut entry) in reader.tables("confirmations.approve_unless") {
        let conditions = entry.take_json();
        if reader.end(entry) {
            let shown: Vec<_> = conditions.iter().map(|(name, it)| (name.as_str(), to_toml(it))).collect();
            reader.show_entry(&format!("[confirmations.approve_unless.{}]", quote(&tool)), &shown);
            all.insert(tool, conditions);
        }
    }
    all
}

/// Reads `conditions` of a provider: tables by tool.
pub(super) fn read_table(entry: &mut Fields, reader: &mut Reader) -> Conditions {
    let Some(mut table) = entry.table("conditions") else { return Conditions::new() };
    let mut all = Conditions::new();
    for (tool, conditions) in table.take_json() {
        match conditions {
            Value::Object(conditions) => drop(all.insert(tool, conditions)),
            other => table.problem(format!("expected a table of conditions on {tool}, but found {other}")),
        }
    }
    reader.end(table);
    all
}

/// The same table on one line.
pub(super) fn show(conditions: &Conditions) -> String {
    let tools = conditions.iter().map(|(tool, it)| (tool.clone(), it.clone().into()));
    to_toml(&Value::Object(tools.collect()))
}

/// A value on one line of TOML. What is read from TOML has no null.
pub(super) fn to_toml(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(key, it)| format!("{} = {}", quote(key), to_toml(it)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(to_toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Flags, Loaded, testing};

    fn load(text: &str) -> Result<Loaded, String> {
        testing::load_text(text, &[], Flags::default(), &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_are_read_as_json_and_printed_as_they_are_read() {
        let text = "[confirmations.approve_unless.pay]\n\
                    amount = { type = \"number\", maximum = 100 }\n\
                    currency = { enum = [\"EUR\", \"USD\"] }\n";
        let loaded = load(text).unwrap();
        let expected =
            json!({"amount": {"type": "number", "maximum": 100}, "currency": {"enum": ["EUR", "USD"]}});
        assert_eq!(json!(loaded.config.confirmations.approve_unless["pay"]), expected);
        let again = load(&crate::print(&loaded)).unwrap();
        let [before, after] = [loaded, again].map(|it| it.config.confirmations.approve_unless);
        assert_eq!(before, after);
    }

    #[test]
    fn what_json_has_not_is_refused_where_it_stands() {
        let text = "[confirmations.approve_unless.pay]\nday = { const = 2026-01-01 }\n";
        let problems = load(text).unwrap_err();
        assert!(problems.contains(":2: confirmations.approve_unless.pay.day"), "{problems}");
    }
}
