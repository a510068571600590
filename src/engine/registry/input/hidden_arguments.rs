//! Arguments that callers neither see nor give: bound to the call, fixed, or left at their default.
//!
//! They are no part of the published schema, so that one that a caller gives is an unknown parameter like any other.

use serde_json::{Map, Value};

use super::normal;
use crate::registry::{
    field_declaration::{FieldDeclaration, Hiding},
    problem::{Report, join},
    schema::compile,
    words::Binding,
};
use toolwire_contract::{Violation, arguments::Arguments};
use toolwire_schema::Work;
use toolwire_tool::context::{RequestId, SessionId, TaskLabel, ToolContext};

/// The hidden arguments of a tool, by name.
#[derive(Clone, Debug, Default)]
pub(in crate::registry) struct HiddenArguments(Vec<HiddenArgument>);

#[derive(Clone, Debug)]
struct HiddenArgument {
    name: String,
    schema: Value,
    is_required: bool,
    /// `None` for one that is always absent.
    value: Option<HiddenValue>,
}

#[derive(Clone, Debug)]
enum HiddenValue {
    /// Its default, or what is fixed.
    Same(Value),
    Bound(Binding),
}

impl HiddenArguments {
    /// Takes the hidden arguments out of a schema of all.
    pub(in crate::registry) fn take_from(
        schema: &mut Value,
        declared: &[FieldDeclaration],
        report: &mut Report,
    ) -> Self {
        let mut hidden = Vec::new();
        for it in declared {
            let is_part = it.name.contains('.');
            refuse_parts(it, is_part, report);
            if !is_part && it.hiding.keys().next().is_some() {
                // An unknown parameter has been reported.
                hidden.extend(HiddenArgument::take_from(schema, it, report));
            }
        }
        Self(hidden)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|it| it.name == name).map(|it| &it.schema)
    }

    /// The schema of all arguments, of that of those which callers give.
    pub(super) fn and(&self, published: &Value) -> Value {
        let mut all = published.clone();
        if let Some(properties) = all["properties"].as_object_mut() {
            properties.extend(self.0.iter().map(|it| (it.name.clone(), it.schema.clone())));
        }
        all
    }

    /// Whether the value of an argument is known only where the tool is carried out.
    pub(super) fn is_of_execution(&self, name: &str) -> bool {
        self.0.iter().any(|it| it.name == name && it.of_execution().is_some())
    }

    /// The values that are the same in every call.
    pub(super) fn same(&self) -> Arguments {
        let same = self.0.iter().filter_map(|it| match &it.value {
            Some(HiddenValue::Same(value)) => Some((it.name.clone(), value.clone())),
            _ => None,
        });
        same.collect()
    }

    /// Fills in all that does not differ between a call and its repeat, or says what a call has to have.
    pub(super) fn fill(
        &self,
        arguments: &mut Arguments,
        context: &ToolContext,
    ) -> Result<(), Vec<Violation>> {
        let mut violations = Vec::new();
        for it in &self.0 {
            // Whatever the schema let through: a binding without a value must not leave that of the caller.
            arguments.shift_remove(&it.name);
            let value = match &it.value {
                None => None,
                Some(HiddenValue::Same(value)) => Some(value.clone()),
                Some(HiddenValue::Bound(_)) if it.of_execution().is_some() => continue,
                Some(HiddenValue::Bound(binding)) => {
                    let value = bound(*binding, context);
                    if value.is_none() && it.is_required {
                        violations.push(lacking(*binding));
                    }
                    value.map(Value::from)
                }
            };
            arguments.extend(value.map(|value| (it.name.clone(), value)));
        }
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }

    /// Fills in the identifiers of the call, in place of earlier values.
    pub(super) fn fill_ids(
        &self,
        arguments: &mut Arguments,
        context: &ToolContext,
        request_id: Option<RequestId>,
    ) {
        for (it, binding) in self.0.iter().filter_map(|it| Some((it, it.of_execution()?))) {
            let id = match binding {
                Binding::RequestId => request_id.unwrap_or_else(|| context.lineage.request_id()).to_string(),
                _ => context.call_id.to_string(),
            };
            arguments.insert(it.name.clone(), id.into());
        }
    }
}

impl HiddenArgument {
    fn take_from(schema: &mut Value, declared: &FieldDeclaration, report: &mut Report) -> Option<Self> {
        let property = schema["properties"].as_object_mut()?.shift_remove(&declared.name)?;
        let object = schema.as_object_mut()?;
        if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| *name != declared.name);
            if required.is_empty() {
                object.shift_remove("required");
            }
        }
        refuse_contradictions(declared, &property, report);
        let Hiding { bind, fixed, .. } = &declared.hiding;
        let same = || fixed.as_ref().or_else(|| property.get("default"));
        let value = match bind {
            Some(binding) => Some(HiddenValue::Bound(*binding)),
            None => same().map(|it| HiddenValue::Same(normal::normalize(&property, it).0)),
        };
        Some(Self { name: declared.name.clone(), is_required: declared.is_required, value, schema: property })
    }

    fn of_execution(&self) -> Option<Binding> {
        match self.value {
            Some(HiddenValue::Bound(binding)) if binding.is_of_execution() => Some(binding),
            _ => None,
        }
    }
}

fn bound(binding: Binding, context: &ToolContext) -> Option<String> {
    match binding {
        Binding::UserId => Some(context.user.id.as_str().to_owned()),
        Binding::UserEmail => context.user.email.clone(),
        Binding::UserRole => context.user.role.clone(),
        Binding::TaskId => context.task_id.as_ref().map(TaskLabel::as_str).map(str::to_owned),
        Binding::SessionId => context.session_id.as_ref().map(SessionId::as_str).map(str::to_owned),
        Binding::CallId | Binding::RequestId => None,
    }
}

fn lacking(binding: Binding) -> Violation {
    let (pointer, next) = match binding {
        Binding::TaskId => ("context.task_id", "name the task of the call"),
        Binding::SessionId => ("context.session_id", "name the session of the call"),
        _ => (binding.into_str(), "use credentials that carry it"),
    };
    let description = format!("this tool needs {pointer}, which the call has none of; {next}");
    Violation { pointer: pointer.to_owned(), rule: "bind".to_owned(), description }
}

/// What is hidden is a whole argument: a part would leave a caller's object that is not what the caller wrote.
fn refuse_parts(declared: &FieldDeclaration, is_part: bool, report: &mut Report) {
    if let Some(key) = declared.hiding.keys().next().filter(|_| is_part) {
        let text =
            format!("only a whole argument can have `{key}`, and this is a part of one; remove the key");
        report.add(join(&declared.pointer, key), "hidden-part", text);
    }
    for part in declared.properties.iter().chain(declared.items.as_deref()) {
        refuse_parts(part, true, report);
    }
}

fn refuse_contradictions(declared: &FieldDeclaration, property: &Value, report: &mut Report) {
    let FieldDeclaration { name, pointer, hiding, .. } = declared;
    let keys: Vec<_> = hiding.keys().collect();
    let mut refuse = |key: &str, rule, text: String| report.add(join(pointer, key), rule, text);
    let key = keys[0];
    if let [_, other, ..] = *keys {
        return refuse(other, "hidden-twice", format!("`{name}` has `{key}` and `{other}`; keep one"));
    }
    if declared.extract.is_some() {
        let text = format!("callers do not give `{name}`; remove `extract` or `{key}`");
        refuse("extract", "hidden-extract", text);
    }
    let default = property.get("default");
    if default.is_some() && !hiding.is_hidden {
        refuse("default", "hidden-twice", format!("`{name}` has its value by `{key}`; remove `default`"));
    }
    if default.is_none() && hiding.is_hidden && declared.is_required {
        let text =
            format!("`{name}` is required and has no value; give it a `default`, or remove `required`");
        refuse("required", "hidden-required", text);
    }
    if hiding.bind.is_some() && !is_any_text(property) {
        let text = format!("`bind` needs a text without constraints, and `{name}` is something else");
        refuse("bind", "bind-not-text", text);
    }
    if let (Some(fixed), Ok(schema)) = (&hiding.fixed, compile(property))
        && let Err(misfit) = schema.check(&normal::normalize(property, fixed).0, 1, Work::all())
    {
        refuse("fixed", "bad-fixed", format!("{misfit}; correct the value or the schema"));
    }
}

/// Whether a schema takes every text.
fn is_any_text(schema: &Value) -> bool {
    let says_nothing = |key: &str| matches!(key, "type" | "description" | "examples" | "writeOnly");
    schema["type"] == "string"
        && schema.as_object().into_iter().flat_map(Map::keys).all(|it| says_nothing(it))
}
