//! Which keywords of JSON Schema hold schemas. In the values of all others, such as `enum`, `$ref` is a word like any.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Schema,
    /// A list of schemas, or an object with a schema in each member.
    Schemas,
    Value,
}

pub(super) fn holds(keyword: &str) -> Holds {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        "allOf" | "anyOf" | "dependentSchemas" | "oneOf" | "patternProperties" | "prefixItems"
        | "properties" => Holds::Schemas,
        _ => Holds::Value,
    }
}
