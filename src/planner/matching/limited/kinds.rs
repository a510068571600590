//! The kinds of entries that a message wants alone, such as `sold`, of a tool that lists every kind.

use serde_json::Value;

use super::{Wanted, dropped::Called};
use crate::matching::{lexicon::Words, message::Message, slots::Slot, words::words};

/// A field of the entries of a list that tells their kinds.
struct Field<'a> {
    list: &'a str,
    name: &'a str,
    values: Vec<&'a str>,
}

/// The kinds of entries that a message names, where no parameter takes them. `is_within` says which places are in a
/// clause that is left out as a whole.
pub(super) fn wanted(
    called: &Called<'_>,
    message: &Message<'_>,
    lexicon: &Words,
    is_within: impl Fn(usize) -> bool,
) -> Vec<Wanted> {
    let mut all = Vec::new();
    for (_, it) in &called.tools {
        for field in fields(&it.tool.definition.output_schema) {
            let said: Vec<_> = field
                .values
                .iter()
                .filter_map(|value| Some((*value, place(called, message, value)?)))
                .collect();
            // `Buys and sells` wants them all.
            if said.len() == field.values.len() {
                continue;
            }
            for (value, at) in said {
                let word = &message.words[at];
                let is_taken =
                    |slot: &&Slot| slot.phrases.iter().any(|(phrase, _)| phrase.contains(&word.lower));
                // `Transfers` are all that the tool lists, even if one kind of them has that name.
                let is_of_title = words(&it.tool.definition.title).iter().any(|of| of.term == word.term);
                if !lexicon.things.contains(&word.lower)
                    && !is_of_title
                    && !is_within(word.begin)
                    && !called.slots.iter().any(is_taken)
                {
                    all.push(Wanted {
                        said: message.text[word.begin..word.end].to_owned(),
                        field: Some((field.list.to_owned(), field.name.to_owned())),
                        values: vec![value.to_owned()],
                    });
                }
            }
        }
    }
    all
}

/// The place of the word of a message that means a value.
fn place(called: &Called<'_>, message: &Message<'_>, value: &str) -> Option<usize> {
    let index = &called.index.words;
    let said = words(value);
    let said = index.content(&index.tokens(&said.iter().collect::<Vec<_>>()));
    let [(meant, _)] = said[..] else { return None };
    message
        .content
        .iter()
        .find(|(term, _)| *term == meant && !index.postings(*term).is_empty())
        .map(|(_, at)| *at)
}

/// The fields of a result's lists that have one of a few values.
fn fields(schema: &Value) -> Vec<Field<'_>> {
    let mut all = Vec::new();
    for (list, property) in properties(schema) {
        let property = property.pointer("/anyOf/0").unwrap_or(property);
        let Some(items) = property.get("items") else { continue };
        for (name, field) in properties(items) {
            let field = field.pointer("/anyOf/0").unwrap_or(field);
            let values = field.get("enum").and_then(Value::as_array).into_iter().flatten();
            let values: Vec<_> = values.filter_map(Value::as_str).collect();
            if values.len() > 1 {
                all.push(Field { list, name, values });
            }
        }
    }
    all
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}
