//! `toolwire watch`: the tools of a server and their changes, one line each.

use clap::Args;
use prost::Message;

use super::{backend::into_answer, connection::Connection, json, signals::unless_interrupted, words};
use toolwire_base::words::visible;
use toolwire_contract::proto::v1::{self, WatchEventType, WatchToolsResponse};
use toolwire_server::{
    client,
    console::{self, Failure},
};

/// Watches the tools of a server until Ctrl-C: those there are, then every change
#[derive(Debug, Args)]
pub(super) struct Watch {
    /// Prints every event as one JSON line, heartbeats and complete definitions included
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Watch {
    pub(super) async fn run(self) -> Result<(), Failure> {
        unless_interrupted(self.follow()).await
    }

    async fn follow(&self) -> Result<(), Failure> {
        let remote = self.connection.remote().await?;
        let view = if self.json { v1::ToolView::Full } else { v1::ToolView::Basic };
        let request = v1::WatchToolsRequest { view: view.into() };
        let mut events = into_answer(remote.tools().watch_tools(request)).await?;
        while let Some(event) = events.message().await.map_err(|status| client::refusal(&status))? {
            let mut lines = lines(&event).into_iter();
            let reader = if self.json {
                console::json(&json::watch_event(&event))?
            } else {
                lines.try_fold(console::Reader::Listens, |_, line| console::line(&line))?
            };
            if reader == console::Reader::Gone {
                return Ok(());
            }
        }
        Err(Failure::Failed("the server ended the watch; watch again".to_owned()))
    }
}

/// An event in words, a line each; none for a heartbeat.
fn lines(event: &WatchToolsResponse) -> Vec<String> {
    // No event but those of a tool has one, and what cannot be read says nothing.
    let tool = v1::ToolDefinition::decode(&*event.tool).ok();
    let tool = tool.as_ref();
    let name = tool.map_or("", |tool| tool.name.as_str());
    let title = tool.map_or_else(String::new, |tool| visible(&tool.title));
    let titled = |word: &str| vec![format!("{word:<8}  {name}  {title}")];
    match event.r#type() {
        WatchEventType::Added => titled("added"),
        WatchEventType::Changed => titled("changed"),
        WatchEventType::Removed => vec![format!("removed   {name}")],
        WatchEventType::Degraded => {
            let status = tool.and_then(|tool| tool.status.as_ref());
            let (state, reason) =
                status.map_or_else(Default::default, |it| (words::state(it.state()), &*it.reason));
            vec![format!("{state:<8}  {name}  {}", visible(reason))]
        }
        WatchEventType::DataChanged => {
            vec![format!("data      the data that tools read is another: {}", event.data_digest)]
        }
        WatchEventType::Problem if event.problems.is_empty() => {
            vec!["fixed     no problems are left".to_owned()]
        }
        WatchEventType::Problem => event.problems.iter().map(problem).collect(),
        WatchEventType::Synced => vec!["synced    every change follows from now on".to_owned()],
        WatchEventType::Heartbeat | WatchEventType::Unspecified => Vec::new(),
    }
}

fn problem(it: &v1::DefinitionProblem) -> String {
    let place = if it.pointer.is_empty() { it.file.clone() } else { format!("{}#{}", it.file, it.pointer) };
    format!("problem   {place}: {} [{}]", it.description, it.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: WatchEventType, tool: Option<v1::ToolDefinition>) -> WatchToolsResponse {
        let tool = tool.map(|tool| tool.encode_to_vec().into()).unwrap_or_default();
        WatchToolsResponse { r#type: kind.into(), tool, ..Default::default() }
    }

    #[test]
    fn news_is_a_line_and_a_heartbeat_is_none() {
        let status = v1::ToolStatus { state: v1::ToolState::Degraded.into(), reason: "no tops".to_owned() };
        let tool = v1::ToolDefinition {
            name: "spin_top".to_owned(),
            title: "Spin".to_owned(),
            status: Some(status),
            ..Default::default()
        };
        let line = |kind| lines(&of(kind, Some(tool.clone())));
        assert_eq!(line(WatchEventType::Added), ["added     spin_top  Spin"]);
        assert_eq!(line(WatchEventType::Degraded), ["degraded  spin_top  no tops"]);
        assert_eq!(line(WatchEventType::Removed), ["removed   spin_top"]);
        assert_eq!(line(WatchEventType::Heartbeat), [""; 0]);
        let wrong = v1::DefinitionProblem {
            file: "tools/spin_top.json".to_owned(),
            pointer: "/titel".to_owned(),
            rule: "unknown-key".to_owned(),
            description: "unknown key".to_owned(),
        };
        let event = WatchToolsResponse { problems: vec![wrong], ..of(WatchEventType::Problem, None) };
        assert_eq!(lines(&event), ["problem   tools/spin_top.json#/titel: unknown key [unknown-key]"]);
        assert_eq!(lines(&of(WatchEventType::Problem, None)), ["fixed     no problems are left"]);
    }
}
