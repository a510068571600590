//! `toolwire call`: calls a tool and shows its events as they come.

mod arguments;
pub(super) mod decision;
mod follow;
mod format;
pub(super) mod prospect;
mod render;
mod running_call;

use std::time::Duration;

use clap::Args;
use serde_json::json;
use tonic::Status;

use arguments::RawArguments;
use decision::PromptOutcome;
use follow::End;
use format::Format;
use running_call::RunningCall;

use super::{
    backend::{Backend, Invocation},
    connection::Connection,
    explain::{self, Invoked},
    schema,
    signals::Interrupts,
};
use toolwire_base::{clock, duration};
use toolwire_contract::proto::v1::{self, ToolDefinition};
use toolwire_engine::{model::FAILED, pipeline::Target};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};
use toolwire_tool::context::{RequestId, SessionId, TaskLabel};

/// Calls a tool and shows its events as they come
///
/// The result's data is printed on standard output, everything else on standard error. Exit code 0 means data, 1 an
/// error, 3 that a person must approve the call first, 130 that it was interrupted. Ctrl-C cancels the call and says
/// how it ended; a second one leaves it.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// The tool's name
    #[arg(value_name = "TOOL", index = 1, required_unless_present = "intent")]
    tool: Option<String>,
    /// Arguments: read as the tool's input schema says, a repeated key as a list. A value without a key is meant for
    /// the one parameter that is required
    // An index each: `mut_arg`, by which completions name the tools, would put the tool last otherwise.
    #[arg(value_name = "KEY=VALUE", index = 2)]
    pairs: Vec<String>,
    /// Calls the tool that this intent routes to, instead of TOOL
    #[arg(long, value_name = "NAME")]
    intent: Option<String>,
    /// All arguments as a JSON object, none if empty; - reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "pairs", allow_hyphen_values = true)]
    json: Option<String>,
    /// Ends the call after this time, such as 500ms or 5s
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    deadline: Option<Duration>,
    /// Recognises a repeat of the same call; made by this command for tools that do not only read
    #[arg(long, value_name = "UUID")]
    request_id: Option<RequestId>,
    /// Makes the call in this session, by which results and credentials are kept apart
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Makes the call on behalf of this task
    #[arg(long, value_name = "ID")]
    task: Option<TaskLabel>,
    /// Waits up to this long for the call to be approved, if a person must approve it
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    wait: Option<Duration>,
    /// Has a person approve the call, although the tool does not demand it
    #[arg(long)]
    require_confirmation: bool,
    /// How events and result are shown
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// The most tokens of the result, with --format model [default: 4000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(256..=1_000_000))]
    max_tokens: Option<u32>,
    #[command(flatten)]
    connection: Connection,
}

impl CallArgs {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let mut interrupts = Interrupts::listen();
        let (backend, invocation, is_read) = interrupts.unless(self.prepare(domains)).await?;
        self.until_decided(&backend, invocation, is_read, &mut interrupts).await
    }

    /// The call, and whether its tool only reads.
    async fn prepare(&self, domains: &[Domain]) -> Result<(Backend, Invocation, bool), Failure> {
        if self.max_tokens.is_some() && self.format != Format::Model {
            return Err(Failure::Usage("--max-tokens is for --format model".to_owned()));
        }
        let (target, given) = (self.target(), self.read_arguments()?);
        let backend = self.connection.open(domains).await?;
        let definition = definition(&backend, &target, self.format, domains).await?;
        // A call by an intent that no tool has is refused.
        let is_read = definition.as_ref().is_none_or(|it| it.category() == v1::ToolCategory::Read);
        let request_id = self.request_id.or_else(|| (!is_read).then(generate_request_id));
        if request_id.is_some() {
            backend.open_state().await?;
        }
        let schema = definition.map(|it| schema::parse(&it.input_schema_json)).unwrap_or_default();
        let arguments = given.into_json(&schema)?;
        let invocation = Invocation {
            target,
            arguments,
            request_id,
            task_id: self.task.clone(),
            wait_for_confirmation: self.wait,
            require_confirmation: self.require_confirmation,
            session_id: self.session.clone(),
            deadline: self.deadline,
            result_format: self.format.of_result(),
            max_tokens: self.max_tokens.unwrap_or_default(),
        };
        Ok((backend, invocation, is_read))
    }

    /// Makes the call, and repeats it once it is approved, at this terminal or elsewhere in time.
    async fn until_decided(
        &self,
        backend: &Backend,
        mut invocation: Invocation,
        is_read: bool,
        interrupts: &mut Interrupts,
    ) -> Result<(), Failure> {
        let began = clock::now();
        loop {
            let required = match self.once(backend, invocation.clone(), is_read, interrupts).await? {
                End::Done => return Ok(()),
                End::ConfirmationRequired(required) => required,
                End::LeftUndecided(required) => {
                    self.report_undecided(&required, invocation.request_id, is_read);
                    return Err(Failure::Interrupted);
                }
            };
            // The server generates an identifier for a call without one: only a repeat under it finds the decision.
            invocation.request_id = required.request_id.parse().ok().or(invocation.request_id);
            // The time to wait covers the whole loop, not each call of it.
            let left = self.wait.map_or(Duration::ZERO, |wait| wait.saturating_sub(clock::now() - began));
            if !left.is_zero() {
                invocation.wait_for_confirmation = Some(left);
                continue;
            }
            let answer = match self.format {
                Format::Text | Format::Model => {
                    let asked = decision::ask(backend, &required, &self.connection);
                    let asked = interrupts.unless(asked).await;
                    if let Err(Failure::Interrupted) = asked {
                        console::say("");
                        self.report_undecided(&required, invocation.request_id, is_read);
                    }
                    asked?
                }
                Format::Json => PromptOutcome::Undecided,
            };
            match answer {
                PromptOutcome::Approved => {}
                PromptOutcome::Denied => return Err(Failure::Reported),
                PromptOutcome::Undecided => {
                    return Err(self.report_undecided(&required, invocation.request_id, is_read));
                }
            }
        }
    }

    /// Prints how to decide and how to repeat the call afterwards.
    fn report_undecided(
        &self,
        required: &v1::ConfirmationRequired,
        id: Option<RequestId>,
        is_read: bool,
    ) -> Failure {
        let request_id = id.map(|id| id.to_string());
        let called = self.invoked(&required.tool, request_id.as_deref(), is_read);
        console::say(&explain::confirmation(required, &called, &self.connection.to_flags_of_others()));
        Failure::AwaitsConfirmation
    }

    async fn once(
        &self,
        backend: &Backend,
        invocation: Invocation,
        is_read: bool,
        interrupts: &mut Interrupts,
    ) -> Result<End, Failure> {
        let (name, request_id) = (invocation.target.as_str().to_owned(), invocation.request_id);
        let reasons = backend.reasons();
        let request_id = request_id.map(|id| id.to_string());
        let called = self.invoked(&name, request_id.as_deref(), is_read);
        let invoking =
            async { backend.invoke(invocation).await.map_err(|status| refusal(&status, self.format)) };
        let events = interrupts.unless(invoking).await.inspect_err(|failure| {
            if let Failure::Interrupted = failure {
                console::say(&explain::report_left("", &called));
            }
        })?;
        let end =
            follow::follow(RunningCall::new(events, Some(backend), interrupts), self.format, called).await;
        reasons.print();
        interrupts.unless(backend.settle()).await?;
        end
    }

    fn invoked<'a>(&'a self, tool: &'a str, request_id: Option<&'a str>, is_read: bool) -> Invoked<'a> {
        Invoked { tool, request_id, task: self.task.as_ref().map(TaskLabel::as_str), is_read }
    }

    fn target(&self) -> Target {
        match (&self.intent, &self.tool) {
            (Some(intent), _) => Target::Intent(intent.clone()),
            (None, tool) => Target::Tool(tool.clone().unwrap_or_default()),
        }
    }

    fn read_arguments(&self) -> Result<RawArguments, Failure> {
        // With an intent there is no tool: the first positional argument is a pair, too.
        let first = self.tool.iter().filter(|_| self.intent.is_some());
        let pairs: Vec<_> = first.chain(&self.pairs).map(String::as_str).collect();
        match &self.json {
            Some(_) if !pairs.is_empty() => {
                Err(Failure::Usage("--json holds all arguments: leave key=value out".to_owned()))
            }
            Some(text) => RawArguments::json(text),
            None => Ok(RawArguments::words(&pairs)),
        }
    }
}

/// The definition of the tool to call; `None` if no tool has the intent, which the call itself reports better.
async fn definition(
    backend: &Backend,
    target: &Target,
    format: Format,
    domains: &[Domain],
) -> Result<Option<ToolDefinition>, Failure> {
    match target {
        Target::Tool(name) => {
            let found = backend.describe(name).await;
            found.map(Some).map_err(|status| {
                let printed = for_program(&status, format);
                printed.err().unwrap_or_else(|| explain::no_definition(&status, name, backend, domains))
            })
        }
        Target::Intent(intent) => {
            let tools = backend
                .list(&[], "", v1::ToolView::FullJson)
                .await
                .map_err(|status| refusal(&status, format))?;
            Ok(tools.into_iter().find(|tool| tool.intents.contains(intent)))
        }
    }
}

/// Reports why a call was not carried out, in the result's format too.
fn refusal(status: &Status, format: Format) -> Failure {
    for_program(status, format).err().unwrap_or_else(|| client::refusal(status))
}

/// Prints the error of a call that was not carried out, for the programs that read standard output.
fn for_program(status: &Status, format: Format) -> Result<(), Failure> {
    match format {
        Format::Text => return Ok(()),
        Format::Json => return render::refused_line("", status),
        Format::Model => {}
    }
    let refused = client::refusal_as_json(status);
    let mut error = json!({
        "code": refused["code"],
        "message": refused["message"],
        "retryable": !refused["retry_after_seconds"].is_null(),
    });
    if !refused["retry_after_seconds"].is_null() {
        error["retry_after_seconds"] = refused["retry_after_seconds"].clone();
    }
    console::exact(&format!(r#"{FAILED},"error":{error}}}"#))
}

/// A new `request_id` for a tool that does not only read. It is printed, so that the call can be repeated.
fn generate_request_id() -> RequestId {
    let request_id = RequestId::generate();
    console::say(&format!("request_id {request_id}"));
    request_id
}
