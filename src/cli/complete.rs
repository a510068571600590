//! `toolwire complete`: what the word at the cursor may become. Shells ask for it; the scripts are of `completions`.
//!
//! What it cannot find out in time, or at all, it leaves out, and says nothing.

mod line;

use std::{collections::BTreeSet, time::Duration};

use clap::{ArgMatches, Args, FromArgMatches};
use serde_json::Value;
use tokio::time::timeout;

use self::line::{Place, Typed, place, words};
use super::{
    backend::Backend,
    connection::Connection,
    schema::{self, having},
};
use toolwire_base::words::shell;
use toolwire_contract::proto::{
    tasks::v1 as tasks,
    v1::{self, ConfirmationState},
};
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// How long a person waits for words.
const LIMIT: Duration = Duration::from_secs(3);
/// How many identifiers are offered.
const MAX_IDS: i32 = 100;

/// The name of the command.
pub(super) const NAME: &str = "complete";

/// Prints what the word at the end of a command line may become, for the scripts of `completions`
#[derive(Debug, Args)]
pub(super) struct Complete {
    /// Whether the shell takes words as they are, and quotes them itself
    #[arg(long)]
    unquoted: bool,
    /// The command line up to the cursor
    #[arg(value_name = "LINE", allow_hyphen_values = true)]
    line: String,
}

impl Complete {
    /// Completes a line of this program.
    pub(super) async fn run(&self, program: clap::Command, domains: &[Domain]) -> Result<(), Failure> {
        let words = words(&self.line);
        let given = words.split_last().map(|(_, given)| given.to_vec()).unwrap_or_default();
        let matches = program.clone().ignore_errors(true).try_get_matches_from(given).ok();
        let candidates = async {
            let place = place(&program, &words);
            let source = Source { matches: matches.as_ref(), domains };
            candidates(&place, &source).await
        };
        for word in timeout(LIMIT, candidates).await.unwrap_or_default() {
            let word = if self.unquoted { word } else { quote(&word) };
            if console::line(&word)? == console::Reader::Gone {
                break;
            }
        }
        Ok(())
    }
}

/// What follows the `=` of a word is quoted, so that a shell goes on with the word.
fn quote(word: &str) -> String {
    match word.split_once('=') {
        Some((key, value)) if !value.is_empty() => format!("{key}={}", shell(value)),
        _ => word.to_owned(),
    }
}

/// Where values come from: the services that the line selects.
struct Source<'a> {
    matches: Option<&'a ArgMatches>,
    domains: &'a [Domain],
}

impl Source<'_> {
    async fn open(&self) -> Option<Backend> {
        let mut matches = self.matches?;
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        Connection::from_arg_matches(matches).ok()?.open(self.domains).await.ok()
    }
}

async fn candidates(place: &Place<'_>, source: &Source<'_>) -> Vec<String> {
    let (typed, before, mut found) = match &place.typed {
        Typed::Flag(typed) => (typed, "", flags(place.command)),
        Typed::Other(typed) => (typed, "", commands(place)),
        Typed::Value { of, typed, before } => {
            let mut found = values(of, typed, place, source).await;
            found.extend(commands(place));
            (typed, before.as_str(), found)
        }
    };
    found.retain(|it| it.starts_with(typed));
    found.into_iter().map(|it| format!("{before}{it}")).collect()
}

fn flags(command: &clap::Command) -> BTreeSet<String> {
    let shown = command.get_arguments().filter(|it| !it.is_hide_set());
    shown.filter_map(|it| it.get_long()).map(|it| format!("--{it}")).collect()
}

/// The commands that may stand here: before any argument.
fn commands(place: &Place<'_>) -> BTreeSet<String> {
    let shown = place.command.get_subcommands().filter(|it| !it.is_hide_set() && place.before.is_empty());
    shown.map(|it| it.get_name().to_owned()).collect()
}

async fn values(of: &clap::Arg, typed: &str, place: &Place<'_>, source: &Source<'_>) -> BTreeSet<String> {
    let named: BTreeSet<_> = of.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect();
    if !named.is_empty() {
        return named;
    }
    let name = of.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let found = match (name, of.get_id().as_str()) {
        ("TOOL", _) => tools(source, |tool| vec![tool.name]).await,
        ("TAG", _) => tools(source, |tool| tool.tags).await,
        (_, "intent") => tools(source, |tool| tool.intents).await,
        ("KEY=VALUE", _) => arguments(typed, place, source).await,
        ("CONFIRMATION", _) => confirmations(source).await,
        ("TASK", _) => of_tasks(source).await,
        ("CALL" | "CALL_ID" | "CALL_ID|REQUEST_ID", _) => calls(source).await,
        _ => None,
    };
    found.unwrap_or_default()
}

async fn tools(
    source: &Source<'_>,
    words: impl Fn(v1::ToolDefinition) -> Vec<String>,
) -> Option<BTreeSet<String>> {
    let tools = source.open().await?.list(&[], "", v1::ToolView::Basic).await.ok()?;
    Some(tools.into_iter().flat_map(words).collect())
}

async fn confirmations(source: &Source<'_>) -> Option<BTreeSet<String>> {
    let states = vec![ConfirmationState::Pending.into(), ConfirmationState::Approved.into()];
    let filter = Some(v1::ConfirmationFilter { states, ..Default::default() });
    let request = v1::ListConfirmationsRequest { filter, page_size: MAX_IDS, page_token: String::new() };
    let page = source.open().await?.confirmations().list_confirmations(request).await.ok()?.into_inner();
    Some(page.confirmations.into_iter().map(|it| it.confirmation_id).collect())
}

async fn of_tasks(source: &Source<'_>) -> Option<BTreeSet<String>> {
    let request = tasks::ListTasksRequest { page_size: MAX_IDS, ..Default::default() };
    let page = source.open().await?.tasks().list_tasks(request).await.ok()?.into_inner();
    Some(page.tasks.into_iter().map(|it| it.task_id).collect())
}

async fn calls(source: &Source<'_>) -> Option<BTreeSet<String>> {
    let request = v1::ListCallsRequest { page_size: MAX_IDS, ..Default::default() };
    let page = source.open().await?.tools().list_calls(request).await.ok()?.into_inner();
    Some(page.calls.into_iter().map(|it| it.call_id).collect())
}

/// The parameters of the tool that are not given yet, or the values of the one that is typed.
async fn arguments(typed: &str, place: &Place<'_>, source: &Source<'_>) -> Option<BTreeSet<String>> {
    let (tool, given) = place.before.split_first()?;
    let definition = source.open().await?.describe(tool).await.ok()?;
    let schema = schema::parse(&definition.input_schema_json);
    let properties = schema["properties"].as_object()?;
    let Some((key, value)) = typed.split_once('=') else {
        let is_given = |key: &str| given.iter().any(|it| it.split_once('=').is_some_and(|(it, _)| it == key));
        return Some(properties.keys().filter(|key| !is_given(key)).map(|key| format!("{key}=")).collect());
    };
    let property = properties.get(key)?;
    // Of a list, the items before stay.
    let (items, before) = match having(property, "items")["items"] {
        Value::Null => (property, ""),
        ref items => (items, value.rfind(',').map_or("", |end| &value[..=end])),
    };
    Some(words_of(items).into_iter().map(|it| format!("{key}={before}{it}")).collect())
}

/// The values that a schema names.
fn words_of(schema: &Value) -> Vec<String> {
    let named = having(schema, "enum")["enum"].as_array().cloned().unwrap_or_default();
    let named = named.iter().filter(|it| !it.is_null());
    let words: Vec<_> = named.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect();
    if words.is_empty() && schema::allows(schema, "boolean") {
        return ["false", "true"].map(ToOwned::to_owned).to_vec();
    }
    words
}
