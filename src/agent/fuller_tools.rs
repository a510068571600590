//! Tools that a conversation calls in place of others, because they return the same and more: a conversation shows the
//! performance of an account with its transfers. A domain names them (`Vocabulary::in_chat`). A model's own calls stay
//! as they are.

use toolwire_planner::{Offer, Plan, PlannedCall, Step};

/// Pairs of the tool that is planned and the one that is called.
#[derive(Clone, Debug, Default)]
pub struct FullerTools(Vec<(&'static str, &'static str)>);

impl FullerTools {
    /// The pairs of all domains.
    pub fn new(pairs: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// The plan with the fuller tools, where they are offered and take the same arguments.
    pub(super) fn plan(&self, mut plan: Plan, offer: &Offer) -> Plan {
        if let Step::Call(calls) | Step::Offer { calls, .. } = &mut plan.step {
            for call in calls {
                self.replace(call, offer);
            }
        }
        plan
    }

    fn replace(&self, call: &mut PlannedCall, offer: &Offer) {
        let Some((_, fuller)) = self.0.iter().find(|(planned, _)| *planned == call.tool) else { return };
        let fits =
            offer.get(fuller).is_some_and(|tool| tool.input.check_briefly(call.arguments.clone()).is_ok());
        if fits {
            (*fuller).clone_into(&mut call.tool);
        }
    }

    /// The tool that this one is called in the place of.
    pub(super) fn original<'a>(&self, called: &'a str) -> &'a str {
        self.0.iter().find(|(_, fuller)| *fuller == called).map_or(called, |(planned, _)| planned)
    }
}
