//! The fields of a form, and what a person filled in.

use rmcp::{
    ErrorData,
    model::{ElicitationSchema, EnumSchema, PrimitiveSchemaDefinition},
};
use serde_json::Value;

use toolwire_contract::proto::v1::MayDecide;

const APPROVE: &str = "approve";
const DENY: &str = "deny";

/// What a person answered in the form.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Nothing was filled in, or "look again".
    LookAgain,
    Approve {
        tool: String,
        reason: String,
    },
    Deny {
        reason: String,
    },
    /// The form was declined or cancelled.
    Declined,
}

impl Reply {
    /// Reads the result of an elicitation.
    pub(super) fn read(result: &Value) -> Self {
        let text = |name: &str| result["content"][name].as_str().unwrap_or_default().to_owned();
        match (result["action"].as_str(), text("decision").as_str()) {
            (Some("accept"), APPROVE) => Self::Approve { tool: text("tool"), reason: text("reason") },
            (Some("accept"), DENY) => {
                let reason = text("reason");
                // The service demands a reason.
                Self::Deny {
                    reason: if reason.is_empty() { "Denied in the client".to_owned() } else { reason },
                }
            }
            (Some("accept"), _) => Self::LookAgain,
            _ => Self::Declined,
        }
    }
}

/// The fields of the form, which hold the decision where it is made in the form.
pub(super) fn schema(decision: Option<&MayDecide>) -> Result<ElicitationSchema, ErrorData> {
    let form = ElicitationSchema::builder();
    let form = match decision {
        None => form.bool_property("look_again", |it| {
            it.title("Look again").description("Look again whether it is approved").with_default(true)
        }),
        Some(may_decide) => {
            let decisions = EnumSchema::builder(vec![APPROVE.to_owned(), DENY.to_owned()]).build();
            let form = form
                .required_property("decision", PrimitiveSchemaDefinition::Enum(decisions))
                .string_property("reason", |it| it.title("Reason").max_length(1_000));
            if may_decide.name_required {
                form.string_property("tool", |it| {
                    it.title("Tool").description("The tool's name, to approve a call of high consequence")
                })
            } else {
                form
            }
        }
    };
    form.build().map_err(|error| ErrorData::internal_error(error.to_owned(), None))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_is_read_for_what_was_filled_in() {
        let approve =
            json!({"action": "accept", "content": {"decision": "approve", "tool": "pay", "reason": "fine"}});
        assert_eq!(
            Reply::read(&approve),
            Reply::Approve { tool: "pay".to_owned(), reason: "fine".to_owned() }
        );
        let deny = json!({"action": "accept", "content": {"decision": "deny"}});
        assert!(matches!(Reply::read(&deny), Reply::Deny { .. }));
        for nothing in [
            json!({"action": "accept", "content": {"look_again": true}}),
            json!({"action": "accept", "content": {}}),
            json!({"action": "accept", "content": {"decision": true}}),
            json!({"action": "accept", "content": {"decision": "APPROVE"}}),
            json!({"action": "accept", "content": ["approve"]}),
            json!({"action": "accept", "content": "approve"}),
            json!({"action": "accept"}),
        ] {
            assert_eq!(Reply::read(&nothing), Reply::LookAgain, "{nothing}");
        }
        let approve = json!({"decision": "approve"});
        for action in [json!("decline"), json!("cancel"), json!("Accept"), json!(null), json!(true)] {
            let declined = json!({"action": action, "content": approve});
            assert_eq!(Reply::read(&declined), Reply::Declined, "{declined}");
        }
        assert_eq!(Reply::read(&approve), Reply::Declined);
    }

    #[test]
    fn a_form_holds_the_decision_only_where_it_may_be_made() {
        let plain = json!(schema(None).unwrap());
        assert!(plain["properties"]["decision"].is_null() && !plain["properties"]["look_again"].is_null());
        let deciding = json!(schema(Some(&MayDecide::default())).unwrap());
        assert_eq!(deciding["properties"]["decision"]["enum"], json!(["approve", "deny"]));
        assert_eq!(deciding["required"], json!(["decision"]));
        assert!(deciding["properties"]["tool"].is_null());
        let high = MayDecide { name_required: true, ..MayDecide::default() };
        assert!(json!(schema(Some(&high)).unwrap())["properties"]["tool"].is_object());
    }
}
