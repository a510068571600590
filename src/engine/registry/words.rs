//! The closed vocabularies of a manifest: type, category, consequence level, extraction and caching.

use serde::Deserialize;
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};

use toolwire_contract::proto::v1;

macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, EnumString, IntoStaticStr, VariantArray)]
        #[strum(const_into_str)]
        pub enum $name { $($(#[$of_variant])* #[serde(rename = $word)] #[strum(serialize = $word)] $variant,)* }

        impl $name {
            /// The words as a JSON Schema.
            pub(in crate::registry) fn form() -> Value {
                json!({"enum": [$($word),*]})
            }
        }
    )*};
}

words! {
    /// How a call of a tool is carried out.
    ToolType {
        /// Executes and returns a result.
        Function = "function_tool",
        /// Is recorded and answered at once, without executing anything.
        NonFunction = "non_function_tool",
        /// Completes the task and hands its result to the parent.
        Handoff = "handoff",
        /// Delegates to another agent and blocks until it is done.
        AgentAsTool = "agent_as_tool",
        /// Asks the parent agent or a person and blocks until answered.
        AskMaster = "ask_master",
        Root = "root",
    }

    /// What a call may change.
    Category {
        Read = "read",
        Write = "write",
        Delete = "delete",
        SideEffect = "side_effect",
    }

    /// The impact of a call on the real world; independent of the category.
    ConsequenceLevel {
        /// None.
        Low = "low",
        /// May influence a decision.
        Medium = "medium",
        /// Trades, account changes, deletions, what cannot be undone.
        High = "high",
    }

    /// What is read from a message into a parameter.
    ExtractKind {
        /// The value of one name, such as a stock's symbol.
        Symbol = "symbol",
        /// The values of all names.
        Symbols = "symbols",
        /// The value of a name, or the words that stand where a name would.
        Company = "company",
        /// What a question is about, in its own words.
        Topic = "topic",
        /// A stretch of time as one of the parameter's words: `this year` is `YTD`.
        Timeframe = "timeframe",
        Account = "account",
        /// A number of days: `the last two weeks` are 14.
        Days = "days",
        /// A number of things: `the top five`.
        Count = "count",
        /// A number of quarters: `the last two years` are 8.
        Quarters = "quarters",
        /// The first day of a time, as a date.
        Since = "since",
        /// The last day of a time, as a date.
        Until = "until",
        /// A configured word, such as the name of a set of rules.
        Profile = "profile",
        /// One of the parameter's words, by itself or by what people say for it.
        Words = "words",
        /// True, if that is asked for in words.
        Flag = "flag",
        /// What is left of the message once everything else is read: a note.
        Rest = "rest",
    }

    /// What of a call an argument is bound to.
    Binding {
        UserId = "user.id",
        /// Absent if the credentials carry none.
        UserEmail = "user.email",
        /// Absent if the credentials carry none.
        UserRole = "user.role",
        /// Absent for a call of no task.
        TaskId = "task_id",
        /// Absent for a call of no session.
        SessionId = "session_id",
        CallId = "call_id",
        RequestId = "request_id",
    }

    /// The store of cached results.
    CacheTier {
        /// Memory, for about a minute, so that one cycle of an agent asks once.
        Request = "request",
        /// Memory, for about a quarter of an hour, for one session.
        Session = "session",
        /// The database, for up to a day and across restarts.
        Persistent = "persistent",
    }

    /// For whom a call that is only logged is remembered.
    MemoryScope {
        /// For every task of the tree.
        Tree = "tree",
        /// For every task of the user.
        User = "user",
    }

    /// Whether one user's result may answer another.
    #[derive(Default)]
    CacheScope {
        /// It may not.
        #[default]
        User = "user",
        /// It may: public data.
        Shared = "shared",
    }
}

impl Binding {
    /// Whether it differs between a call and its repeat or names the call, so that only its execution has it.
    pub(in crate::registry) const fn is_of_execution(self) -> bool {
        matches!(self, Self::CallId | Self::RequestId)
    }
}

impl From<ToolType> for v1::ToolType {
    fn from(kind: ToolType) -> Self {
        match kind {
            ToolType::Function => Self::Function,
            ToolType::NonFunction => Self::NonFunction,
            ToolType::Handoff => Self::Handoff,
            ToolType::AgentAsTool => Self::AgentAsTool,
            ToolType::AskMaster => Self::AskMaster,
            ToolType::Root => Self::Root,
        }
    }
}

impl From<Category> for v1::ToolCategory {
    fn from(category: Category) -> Self {
        match category {
            Category::Read => Self::Read,
            Category::Write => Self::Write,
            Category::Delete => Self::Delete,
            Category::SideEffect => Self::SideEffect,
        }
    }
}

impl From<ConsequenceLevel> for v1::ConsequenceLevel {
    fn from(level: ConsequenceLevel) -> Self {
        match level {
            ConsequenceLevel::Low => Self::Low,
            ConsequenceLevel::Medium => Self::Medium,
            ConsequenceLevel::High => Self::High,
        }
    }
}
