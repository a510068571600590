//! The values that each prompt may use.

pub use toolwire_agent_api::Prompt;

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
