//! Which prompts there are, and the values each may use.

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

/// The values of a prompt. Empty ones are as if they were not there.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    pub account: &'a str,
    pub available_tools: &'a str,
    /// How to use them well.
    pub guidance: &'a str,
    pub problem: &'a str,
    /// The schema of the JSON that the answer must be.
    pub schema: &'a str,
    /// What may be cited.
    pub sources: &'a str,
    pub today: &'a str,
}

impl<'a> Values<'a> {
    /// The names of all values but `persona`, with what they are.
    pub(super) fn names(&self) -> [(&'static str, &'a str); 7] {
        let Self { account, available_tools, guidance, problem, schema, sources, today } = *self;
        [
            ("account", account),
            ("available_tools", available_tools),
            ("guidance", guidance),
            ("problem", problem),
            ("schema", schema),
            ("sources", sources),
            ("today", today),
        ]
    }
}
