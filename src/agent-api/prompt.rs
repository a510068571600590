//! The prompts for models.

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Prompt {
    /// What the model is, and what holds for all it says: part of the others.
    Persona,
    /// Which tool is called next.
    ToolPlanner,
    /// The answer from what tools returned.
    ToolAnswer,
    /// Calls and answer in one conversation.
    Agent,
    /// The words of suggestions, from what a job found.
    Discovery,
    /// What was wrong with a plan.
    RepairPlan,
    /// What was wrong with an answer.
    RepairAnswer,
}
