//! `toolwire confirmations`: the calls that wait for a person, and what became of others.

use clap::Args;
use futures_util::StreamExt;

use super::{
    backend::{Backend, into_answer},
    card::card,
    connection::Connection,
    ids, json,
    signals::unless_interrupted,
    table::Table,
    words,
};
use toolwire_base::words::visible;
use toolwire_contract::proto::v1::{self, ConfirmationWatchType};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Page size of requests.
const PAGE: i32 = 200;

/// Lists the calls that wait for a person: yours, and those that you may decide on. Shows one of them whole
#[derive(Debug, Args)]
pub(super) struct Confirmations {
    /// A confirmation, shown in full; without it they are listed
    #[arg(value_name = "CONFIRMATION", conflicts_with_all = ["watch", "all"])]
    confirmation: Option<String>,
    /// Shows what is waiting, then every change, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Lists those that are over, too
    #[arg(long, conflicts_with = "watch")]
    all: bool,
    /// Prints each as one JSON line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Confirmations {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        unless_interrupted(self.carry_out(domains)).await
    }

    async fn carry_out(&self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open_with_state(domains).await?;
        match &self.confirmation {
            Some(id) => self.show(&backend, id).await,
            None if self.watch => self.follow(&backend).await,
            None => self.list(&backend).await,
        }
    }

    async fn show(&self, backend: &Backend, id: &str) -> Result<(), Failure> {
        let id = ids::confirmation(backend, id).await?;
        let it = backend.confirmation(&id).await.map_err(|status| client::refusal(&status))?;
        if self.json {
            console::json(&json::confirmation(&it)).map(|_| ())
        } else {
            console::print(&card(&it))
        }
    }

    async fn list(&self, backend: &Backend) -> Result<(), Failure> {
        let found = self.fetch(backend).await?;
        if self.json {
            return console::json_lines(found.iter().map(json::confirmation));
        }
        if found.is_empty() {
            console::say("nothing waits for a person");
            return Ok(());
        }
        Table::new(found.iter().map(row))
            .with_heading(["CONFIRMATION", "STATE", "CALLER", "UNTIL", "WHAT"])
            .with_ids(0)
            .with_short(&[3])
            .with_dispensable(&[3, 2])
            .print()
    }

    async fn fetch(&self, backend: &Backend) -> Result<Vec<v1::Confirmation>, Failure> {
        let open = [v1::ConfirmationState::Pending, v1::ConfirmationState::Approved];
        let states = open.iter().filter(|_| !self.all).map(|state| (*state).into()).collect();
        let filter = v1::ConfirmationFilter { states, ..Default::default() };
        let (mut found, mut page_token) = (Vec::new(), String::new());
        loop {
            let request =
                v1::ListConfirmationsRequest { filter: Some(filter.clone()), page_size: PAGE, page_token };
            let page = into_answer(backend.confirmations().list_confirmations(request)).await?;
            found.extend(page.confirmations);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(found);
            }
        }
    }

    async fn follow(&self, backend: &Backend) -> Result<(), Failure> {
        let request = v1::WatchConfirmationsRequest::default();
        let mut changes = into_answer(backend.confirmations().watch_confirmations(request)).await?;
        while let Some(change) = changes.next().await {
            let mut change = change.map_err(|status| client::refusal(&status))?;
            if let Some(it) = change.confirmation.as_mut().filter(|it| it.arguments_cut && !self.json) {
                complete(backend, it).await;
            }
            let reader = match describe(&change) {
                _ if self.json => console::json(&json::confirmation_change(&change))?,
                text if text.is_empty() => continue,
                text => console::line(text.trim_end())?,
            };
            if reader == console::Reader::Gone {
                return Ok(());
            }
        }
        Err(Failure::Failed("the server ended the watch; watch again".to_owned()))
    }
}

/// Fetches the arguments that are too long for a watch: a person sees every one of them.
async fn complete(backend: &Backend, it: &mut v1::Confirmation) {
    if let Ok(whole) = backend.confirmation(&it.confirmation_id).await {
        (it.arguments, it.arguments_json, it.arguments_cut) = (whole.arguments, whole.arguments_json, false);
    }
}

/// A change in words; empty for a heartbeat.
fn describe(change: &v1::WatchConfirmationsResponse) -> String {
    match (change.r#type(), &change.confirmation) {
        (ConfirmationWatchType::Requested | ConfirmationWatchType::Changed, Some(it)) => card(it),
        (ConfirmationWatchType::Synced, _) => "synced: every change follows from now on".to_owned(),
        _ => String::new(),
    }
}

fn row(it: &v1::Confirmation) -> [String; 5] {
    let until = it.expires_at.as_ref().map(ToString::to_string).unwrap_or_default();
    let state = words::confirmation_state(it.state());
    [it.confirmation_id.clone(), state, visible(&it.user_id), until, visible(&it.summary)]
}
