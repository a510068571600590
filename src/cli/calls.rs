//! `toolwire calls`: running and ended calls.

use std::{collections::HashMap, time::Duration};

use clap::Args;

use super::{
    backend::{Backend, into_answer},
    connection::Connection,
    ids, json,
    signals::unless_interrupted,
    table::Table,
};
use toolwire_base::words::visible;
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Lists calls, the newest first: those that run, and those that ended and are still known. Shows one with its outcome
#[derive(Debug, Args)]
pub(super) struct Calls {
    /// A call, shown with its outcome or with what it waits for; without it they are listed
    #[arg(value_name = "CALL", conflicts_with_all = ["watch", "open", "of"])]
    call: Option<String>,
    /// Shows what there is, then every change, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Lists only calls that run or wait for a person
    #[arg(long)]
    open: bool,
    // Not `user`, which is who asks.
    /// Lists the calls of another user, or with '*' of all users, if you may observe
    #[arg(long = "of", value_name = "USER")]
    of: Option<String>,
    /// Maximum number of calls
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(i32).range(1..=1_000))]
    limit: i32,
    /// Prints each as one JSON line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Calls {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        unless_interrupted(self.carry_out(domains)).await
    }

    async fn carry_out(&self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open_with_state(domains).await?;
        match &self.call {
            Some(call) => self.show(&backend, call).await,
            None if self.watch => self.follow(&backend).await,
            None => self.print(&self.fetch(&backend).await?),
        }
    }

    async fn show(&self, backend: &Backend, call: &str) -> Result<(), Failure> {
        let call = ids::call(backend, call, self.of.as_deref().unwrap_or_default()).await?;
        let request = v1::GetCallRequest {
            call: Some(v1::get_call_request::Call::CallId(call)),
            result_format: v1::ResultFormat::Json.into(),
            ..v1::GetCallRequest::default()
        };
        let found = into_answer(backend.tools().get_call(request)).await?;
        let found = json::call(&found);
        if self.json { console::json(&found).map(|_| ()) } else { console::json_pretty(&found) }
    }

    fn filter(&self) -> v1::CallFilter {
        let open = [v1::CallState::Running, v1::CallState::AwaitingConfirmation];
        v1::CallFilter {
            states: open.iter().filter(|_| self.open).map(|state| (*state).into()).collect(),
            user_id: self.of.clone().unwrap_or_default(),
            ..v1::CallFilter::default()
        }
    }

    async fn fetch(&self, backend: &Backend) -> Result<Vec<v1::CallRecord>, Failure> {
        let (filter, page_size) = (Some(self.filter()), self.limit);
        let request = v1::ListCallsRequest { filter, page_size, page_token: String::new() };
        Ok(into_answer(backend.tools().list_calls(request)).await?.calls)
    }

    fn print(&self, found: &[v1::CallRecord]) -> Result<(), Failure> {
        if self.json {
            return console::json_lines(found.iter().map(json::plain));
        }
        if found.is_empty() {
            console::say(&match self.of.as_deref() {
                None => "no call is known".to_owned(),
                Some("*") => "no call is known that you may see".to_owned(),
                Some(user) => format!("no call of {} is known that you may see", visible(user)),
            });
            return Ok(());
        }
        if self.of.as_deref() == Some("*")
            && let Some(user) = only_user(found)
        {
            console::say(&format!("these are of {user} alone: who may not observe sees no calls of others"));
        }
        Table::new(found.iter().map(row))
            .with_heading(["CALL", "TOOL", "USER", "STATE", "CAME", "TOOK"])
            .with_ids(0)
            .with_short(&[4])
            .with_dispensable(&[2, 4])
            .print()
    }

    /// Prints the calls that there are, the oldest first, then each that starts or ends.
    async fn follow(&self, backend: &Backend) -> Result<(), Failure> {
        let request = v1::WatchCallsRequest { filter: Some(self.filter()), after_position: String::new() };
        // Before the list: what changes meanwhile is in one of both.
        let mut events = into_answer(backend.tools().watch_calls(request)).await?;
        let mut told: HashMap<String, i32> = HashMap::new();
        for call in self.fetch(backend).await?.iter().rev() {
            if self.tell(call, &mut told)? == console::Reader::Gone {
                return Ok(());
            }
        }
        while let Some(event) = events.message().await.map_err(|status| client::refusal(&status))? {
            let Some(call) = event.call else { continue };
            if self.tell(&call, &mut told)? == console::Reader::Gone {
                return Ok(());
            }
            if event.r#type == v1::CallWatchType::Ended as i32 {
                told.remove(&call.call_id);
            }
        }
        Err(Failure::Failed("the server ended the watch; watch again".to_owned()))
    }

    /// Prints a call, unless it was printed in this state.
    fn tell(
        &self,
        call: &v1::CallRecord,
        told: &mut HashMap<String, i32>,
    ) -> Result<console::Reader, Failure> {
        if told.insert(call.call_id.clone(), call.state) == Some(call.state) {
            return Ok(console::Reader::Listens);
        }
        if self.json { console::json(&json::plain(call)) } else { console::line(&row(call).join("  ")) }
    }
}

/// The user whose calls these all are.
fn only_user(found: &[v1::CallRecord]) -> Option<String> {
    let user = &found.first()?.user_id;
    found.iter().all(|it| it.user_id == *user).then(|| visible(user))
}

fn row(it: &v1::CallRecord) -> [String; 6] {
    let name = it.state().as_str_name().trim_start_matches("CALL_STATE_").to_lowercase();
    let state = match it.code() {
        v1::ToolErrorCode::Unspecified => name,
        code => format!("{name}: {}", code.as_str_name().trim_start_matches("TOOL_ERROR_CODE_")),
    };
    let came = it.arrived_at.as_ref().map(ToString::to_string).unwrap_or_default();
    let took = it.duration.and_then(|took| Duration::try_from(took).ok()).unwrap_or_default();
    [
        it.call_id.clone(),
        it.tool.clone(),
        visible(&it.user_id),
        state,
        came,
        format!("{} ms", took.as_millis()),
    ]
}
