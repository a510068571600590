//! What a call would come to: the pipeline's explanation, with the limit of the tool's source and whether the user
//! could decide on the confirmation.

use super::{Tools, request::refuse};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::{Call, Explanation, Passes, Prospect};
use toolwire_sources::upstream::source_status::SourceStatus;

/// An explanation for the user who asked for it.
#[derive(Clone, Debug)]
pub struct Explained {
    pub explanation: Explanation,
    /// Why the user could not decide on the confirmation; `None` if the user could, or if none is needed.
    pub why_not: Option<String>,
    /// The limit of the source that the tool reads from, with the source's name.
    pub limit: Option<(String, SourceStatus)>,
}

impl Tools {
    /// Explains what a call would come to now. Nothing is executed or kept. A call of a task is refused.
    pub async fn explain(&self, call: Box<Call>) -> Result<Explained, Refusal> {
        if call.context.task_id.is_some() {
            let what = "must be empty: what a call of a task meets depends on what else the task does";
            return Err(refuse("context.task_id", "unsupported", what));
        }
        let user = call.context.user.clone();
        let explanation = self.pipeline.explain(call).await?;
        let (mut why_not, mut limit) = (None, None);
        if let (Some(tool), Prospect::Passes(passes)) = (&explanation.tool, &explanation.prospect) {
            let definition = &tool.definition;
            if passes.confirmation.is_some() {
                why_not = self.confirmations.lacks_right_for(&user, &definition.name, &user.id);
            }
            if let Some(source) = &definition.source {
                limit = Some((source.name.clone(), self.source_status(&user, &source.name).await));
            }
        }
        Ok(Explained { explanation, why_not, limit })
    }
}

impl Explained {
    /// What would happen first, in a sentence.
    pub fn summary(&self) -> String {
        match &self.explanation.prospect {
            Prospect::Refused(refusal) => format!("It would be refused: {refusal}."),
            Prospect::Invalid(violations) => match violations.len() {
                1 => "The arguments break a rule.".to_owned(),
                count => format!("The arguments break {count} rules."),
            },
            Prospect::Passes(passes) => self.summary_of(passes),
        }
    }

    fn summary_of(&self, passes: &Passes) -> String {
        if let Some(confirmation) = &passes.confirmation {
            return format!("A person would have to approve it: {}.", confirmation.summary);
        }
        if let Some(age) = passes.cached_for() {
            return format!("A cache would answer it with a result that is {} s old.", age.as_secs());
        }
        if let Some((source, status)) = self.limit.as_ref().filter(|(_, status)| !status.can_make_request()) {
            let wait = status.wait_time.as_secs_f64().ceil();
            return format!("{source}, which the tool reads from, could not be asked for {wait} s.");
        }
        "The tool would be executed.".to_owned()
    }
}
