//! `toolwire timeline`: what happened in a task, entry by entry.

use clap::Args;
use futures_util::StreamExt;

use super::{
    backend::{Backend, into_answer, require},
    connection::Connection,
    ids, json,
    signals::unless_interrupted,
    table,
    table::Table,
};
use toolwire_base::words::visible;
use toolwire_contract::proto::tasks::v1::{self, timeline_entry::Entry, watch_timeline_response::Event};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Page size of requests.
const PAGE: i32 = 500;

/// Maximum length of the text of an entry in a line, in characters; `--full` shows all of it.
const MAX_WIDTH: usize = 100;

/// Shows the timeline of a task
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "an option each")]
pub(super) struct Timeline {
    /// The name of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Goes on with what comes, until the task has ended or Ctrl-C
    #[arg(long)]
    follow: bool,
    /// Shows every entry in full, including long texts
    #[arg(long)]
    full: bool,
    /// Shows the messages that a model is shown, as JSON
    #[arg(long, conflicts_with_all = ["follow", "full", "from"])]
    as_model: bool,
    /// Maximum number of tokens, with --as-model [default: 60000]
    #[arg(
        long,
        value_name = "TOKENS",
        requires = "as_model",
        default_value_t = 0,
        hide_default_value = true
    )]
    budget: u32,
    /// Begins with this entry
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Prints each entry as one JSON line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Stands for a long text that was not requested.
const APART: &str = "(kept apart: --full shows it)";

impl Timeline {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        unless_interrupted(self.carry_out(domains)).await
    }

    async fn carry_out(mut self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open_with_state(domains).await?;
        self.task = ids::task(&backend, &self.task).await?;
        match &self {
            Self { as_model: true, .. } => self.as_model(&backend).await,
            Self { follow: true, .. } => self.follow(&backend).await,
            _ => self.list(&backend).await,
        }
    }

    async fn as_model(&self, backend: &Backend) -> Result<(), Failure> {
        let request = v1::RenderForModelRequest {
            task_id: self.task.clone(),
            token_budget: self.budget,
            ..v1::RenderForModelRequest::default()
        };
        let rendered = into_answer(backend.tasks().render_for_model(request)).await?;
        console::json_pretty(&json::message(&rendered))
    }

    async fn list(&self, backend: &Backend) -> Result<(), Failure> {
        let mut from = Some(self.from);
        while let Some(sequence) = from {
            let request = v1::ListTimelineRequest {
                task_id: self.task.clone(),
                sequence: Some(sequence),
                backwards: false,
                page_size: PAGE,
            };
            let page = into_answer(backend.tasks().list_timeline(request)).await?;
            for entry in page.entries {
                if self.show(backend, entry).await? == console::Reader::Gone {
                    return Ok(());
                }
            }
            from = page.next_sequence;
        }
        Ok(())
    }

    async fn follow(&self, backend: &Backend) -> Result<(), Failure> {
        let after_sequence = self.from.checked_sub(1);
        let request = v1::WatchTimelineRequest { task_id: self.task.clone(), after_sequence };
        let mut events = into_answer(backend.tasks().watch_timeline(request)).await?;
        let mut next = self.from;
        while let Some(event) = events.next().await {
            let event = event.map_err(|status| {
                let failure = client::refusal(&status);
                console::say(&format!(
                    "  Go on with `toolwire timeline {} --follow --from {next}`.",
                    self.task
                ));
                failure
            })?;
            if let Some(Event::Entry(entry)) = event.event {
                next = entry.sequence + 1;
                if self.show(backend, entry).await? == console::Reader::Gone {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn show(&self, backend: &Backend, entry: v1::TimelineEntry) -> Result<console::Reader, Failure> {
        let entry = if self.full && has_parts_apart(&entry) {
            let request = v1::GetEntryRequest { task_id: self.task.clone(), sequence: entry.sequence };
            require(into_answer(backend.tasks().get_entry(request)).await?.entry)?
        } else {
            entry
        };
        if self.json {
            return console::json(&json::message(&entry));
        }
        let text = visible(&describe(&entry));
        let shown = if self.full { text } else { table::shorten(&text, MAX_WIDTH) };
        let time = entry.timestamp.as_ref().map(ToString::to_string).unwrap_or_default();
        let row = Table::new([[format!("{:>4}", entry.sequence), time, shown]]).with_short(&[1]);
        console::line(row.render("", console::width()).trim_end())
    }
}

fn has_parts_apart(entry: &v1::TimelineEntry) -> bool {
    match &entry.entry {
        Some(Entry::ToolCall(it)) => !it.kept_apart.is_empty(),
        Some(Entry::Answer(it)) => !it.kept_apart.is_empty(),
        Some(Entry::Message(it)) => it.text.is_empty(),
        Some(Entry::Ended(it)) => it.result.is_none(),
        Some(Entry::Created(_) | Entry::Started(_) | Entry::Decision(_)) | None => false,
    }
}

/// An entry in words.
fn describe(entry: &v1::TimelineEntry) -> String {
    match &entry.entry {
        Some(Entry::Created(it)) => format!("created by {}: {}", it.tool, it.request),
        Some(Entry::Started(it)) => format!("started by {}", it.holder),
        Some(Entry::Message(it)) => {
            let who = if it.role() == v1::MessageRole::User { "said" } else { "agent" };
            format!("{who}: {}", it.text)
        }
        Some(Entry::ToolCall(it)) => {
            let error = it.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
            let apart = |part: &str| it.kept_apart.iter().any(|kept| kept.part == part);
            let input = if apart("input") { APART } else { &it.input_json };
            let result = if apart("result") { APART } else { &it.result_json };
            words(&[&it.tool, input, &it.status, result, error])
        }
        Some(Entry::Answer(it)) => {
            let error = it.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
            let of = format!("(of {})", it.answers);
            words(&[&it.status, &it.result_json, error, &of])
        }
        Some(Entry::Decision(it)) => format!("{} (of {})", it.status, it.decides),
        Some(Entry::Ended(it)) if it.cause == it.state => words(&[&it.state, &it.message]),
        Some(Entry::Ended(it)) => words(&[&it.state, &format!("({})", it.cause), &it.message]),
        None => String::new(),
    }
}

/// Joins the texts that are not empty with spaces.
fn words(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
}
