//! `toolwire mcp`: the tools for one client that speaks MCP, on standard input and output.

mod hang_up;
mod identity;
mod print;

use std::{future::pending, time::Duration};

use clap::Args;
use tokio::{
    io::{stdin, stdout},
    select,
    time::sleep,
};
use url::Url;

use super::{
    connection::Connection,
    orphans,
    settings::{as_flags, words},
    signals::Signals,
    wiring,
};
use toolwire_config::{self as config, Config};
use toolwire_mcp::server::{Confirmations, Handler, Services, ToolMode, Transport, stdio};
use toolwire_server::{
    client::Server,
    console::{self, Failure},
    domain::Domain,
    faces::mcp::{confirmations, settings},
};

/// Why `--decide-here` is refused for clients over HTTP.
pub(super) const DECIDE_HERE_OVER_HTTP: &str = "--decide-here is for a client that starts `toolwire mcp` and speaks over its standard input and output. Over HTTP \
     the operator of the server names the users whose forms decide: [confirmations] in_client";

const DECIDE_HERE: &str = "--decide-here";

/// Maximum size of a message from a server in bytes: the default of gRPC clients.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;

/// Serves the tools to a client of MCP on standard input and output, until its input ends
#[derive(Debug, Args)]
pub(super) struct Mcp {
    /// Prints the configuration of CLIENT for these tools and ends; --server is then a server's address, or its URL for
    /// MCP, http://HOST:PORT/mcp
    #[arg(long, value_name = "CLIENT")]
    print: Option<print::Client>,
    /// Lets the person at this client approve and deny in the forms that it shows, as far as this user may decide;
    /// otherwise an answer in a form decides nothing
    #[arg(long)]
    decide_here: bool,
    /// How the tools are listed: all of them, or for clients that take few the four find_tools, describe_tool,
    /// call_read_tool and call_tool
    #[arg(long, value_name = "MODE", default_value = "list", value_parser = ["list", "search"])]
    mode: String,
    /// Where you sign in if the server wants credentials and none are given or kept: its URL for MCP [default: where
    /// you signed in last, or --server]
    #[arg(long, value_name = "URL")]
    login: Option<Url>,
    /// The name by which the identity provider knows this program [default: one that it registers] [env:
    /// TOOLWIRE_CLIENT_ID]
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

impl Mcp {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        if let Some(client) = self.print {
            return print::run(client, &self.connection, self.mode(), self.further_flags());
        }
        if let Some(config) = self.connection.own_config(domains)? {
            return Box::pin(self.serve_own(&config, domains)).await;
        }
        let server =
            identity::connect(&self.connection, self.login.as_ref(), self.client_id.as_deref()).await?;
        let services = Services::new(server, MAX_MESSAGE);
        let settings = settings(&config::Http::default());
        let confirmations = Confirmations { decide_here: self.decide_here, ..Confirmations::default() };
        let handler = Handler::new(services, settings, Transport::Stdio)
            .with_confirmations(confirmations)
            .with_flags(self.flags()?)
            .in_mode(self.mode());
        self.say_who_decides("");
        let end_of_input = handler.end_of_input();
        let serving = Box::pin(stdio::serve(handler, stdin(), stdout()));
        let drain = Config::default().server.drain.forced_end;
        until_ended(|| end_of_input.cancel(), drain, serving).await
    }

    /// The flags of this command alone, as words, in the configuration of a client.
    fn further_flags(&self) -> Vec<String> {
        let login = words("login", self.login.as_ref().map(ToString::to_string));
        let client_id = words("client-id", self.client_id.clone());
        let decide_here = self.decide_here.then(|| DECIDE_HERE.to_owned());
        [login, client_id, decide_here.into_iter().collect()].concat()
    }

    fn mode(&self) -> ToolMode {
        ToolMode::parse(&self.mode).expect("the flag takes no other")
    }

    /// Reports on standard error whether forms of the client decide. `named` is the user if `in_client` names them, or
    /// empty.
    fn say_who_decides(&self, named: &str) {
        console::say(&match (self.decide_here, named) {
            (true, _) => {
                "toolwire mcp: the forms of this client approve and deny calls (--decide-here)".to_owned()
            }
            (false, "") => {
                "toolwire mcp: an answer in a form of this client decides nothing; --decide-here lets it, or \
                 without --server [confirmations] in_client"
                    .to_owned()
            }
            (false, user) => {
                format!(
                    "toolwire mcp: the forms of {user} approve and deny calls ([confirmations] in_client)"
                )
            }
        });
    }

    /// The flags with which a person finds the same tools from another directory, by a token of their own.
    fn flags(&self) -> Result<String, Failure> {
        Ok(as_flags(&self.connection.to_words_of_others_elsewhere()?))
    }

    /// Serves the tools of this program, which is a service of its own meanwhile.
    async fn serve_own(&self, config: &Config, domains: &[Domain]) -> Result<(), Failure> {
        let user = self.connection.own_user(config)?;
        let mut telemetry = wiring::start_telemetry(config)?;
        let app = wiring::open(config, domains)?;
        wiring::open_state(&app).await?;
        let _guard = orphans::guard(config);
        let cap = config.server.deadline_cap;
        let server = Server::within(app.routes(), user.clone(), cap).by_face("mcp");
        let named = if config.confirmations.in_client.contains(&user.id) { user.id.as_str() } else { "" };
        self.say_who_decides(named);
        let services = Services::new(server, usize::MAX).of_user(user);
        let confirmations = Confirmations { decide_here: self.decide_here, ..confirmations(config) };
        let handler = Handler::new(services, settings(&config.http), Transport::Stdio)
            .with_confirmations(confirmations)
            .with_flags(self.flags()?)
            .in_mode(self.mode());
        let end_of_input = handler.end_of_input();
        let serving =
            app.serve_within(config, end_of_input.clone(), stdio::serve(handler, stdin(), stdout()));
        let drain = config.server.drain.forced_end;
        let done = until_ended(|| end_of_input.cancel(), drain, Box::pin(serving)).await;
        telemetry.end_within(drain);
        done
    }
}

/// Nothing is read again: the client starts another one with other settings.
fn ignore_hang_up() {
    tracing::warn!(
        signal = "SIGHUP",
        "ignored, since no terminal of this process was closed; settings are read at the start alone: SIGTERM ends it"
    );
}

/// Serves a client. A signal counts as the end of input, and another one ends the program at once. Half the time of a
/// drain after the client has closed the input counts as its end too, if what it wrote before is not read by then.
async fn until_ended(
    end_input: impl Fn(),
    drain: Duration,
    serving: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let mut signals = Signals::install().map_err(|error| Failure::Failed(format!("no signals: {error}")))?;
    let hang_up = async {
        hang_up::hung_up().await;
        // The other half is for what is under way then.
        sleep(drain / 2).await;
        end_input();
        pending().await
    };
    select! {
        () = serving => Ok(()),
        never = hang_up => never,
        () = async {
            signals.any(ignore_hang_up).await;
            end_input();
            signals.abort_requested().await;
        } => Err(Failure::Interrupted),
    }
}
