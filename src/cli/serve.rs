//! `toolwire serve`: serves the tools until a signal ends it.

mod announce;
mod parent;
mod stdin;

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

use clap::Args;
use rustix::process::Pid;
use tokio::{select, sync::oneshot, time::sleep};

use super::{mcp, orphans, settings, settings::Settings, signals::Signals, wiring};
use toolwire_config::{self as config, Flags, Loaded};
use toolwire_server::{
    app::SettingsFile,
    console::{self, Failure},
    domain::Domain,
};
use toolwire_transport::Report;

/// Serves the tools over gRPC until SIGTERM, SIGINT, or the end of its terminal
///
/// Flags win over environment variables (TOOLWIRE_…), those over toolwire.toml, and that over defaults.
/// --print-config shows every setting.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "an option each")]
pub(super) struct Serve {
    /// Listens on ADDRESS; port 0 takes a free one [default: 127.0.0.1:50051] [env: TOOLWIRE_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Serves browsers and scripts over HTTP on ADDRESS [without one: 127.0.0.1:50080] [default: none] [env:
    /// TOOLWIRE_HTTP]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = config::Http::USUAL)]
    #[arg(value_name = "ADDRESS")]
    http: Option<String>,
    /// Answers operators on ADDRESS over HTTP: /metrics, /healthz, /readyz [default: none] [env: TOOLWIRE_ADMIN]
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<String>,
    /// Logs in this format [default: auto] [env: TOOLWIRE_LOG]
    #[arg(long, value_name = "FORMAT", value_parser = ["auto", "json", "text"])]
    log: Option<String>,
    /// Lets another process listen on the same address, for a restart without a gap [env: TOOLWIRE_REUSE_PORT]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    reuse_port: Option<bool>,
    /// Speaks TLS with the certificate of this PEM file [default: plain text] [env: TOOLWIRE_TLS_CERT]
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,
    /// The certificate's private key, a PEM file [env: TOOLWIRE_TLS_KEY]
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// Offers none of the bundled sample tools; `read_result` is not one of them [env: TOOLWIRE_SAMPLES=false]
    #[arg(long)]
    no_samples: bool,
    /// Ends when its standard input does
    #[arg(long)]
    until_stdin_ends: bool,
    /// Ends with the process PID, however that ends
    #[arg(long, value_name = "PID", value_parser = parent::parse)]
    parent: Option<Pid>,
    /// Of `toolwire mcp` alone: refused with words that say what there is instead.
    #[arg(long, hide = true)]
    decide_here: bool,
    /// Prints the effective configuration, secrets hidden, and ends
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    settings: Settings,
}

impl Serve {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        if self.decide_here {
            return Err(Failure::Usage(mcp::DECIDE_HERE_OVER_HTTP.to_owned()));
        }
        if self.print_config {
            return console::print(&config::print(&settings::load(self.flags(), domains)?));
        }
        let settings =
            settings::file(self.flags(), domains).map_err(|error| Failure::Start(error.to_string()))?;
        let settings = Arc::new(settings);
        let Loaded { config, warnings, .. } = settings.started().clone();
        config.check_exposure().map_err(|error| Failure::Start(error.to_string()))?;
        let mut telemetry = wiring::start_telemetry(&config)?;
        for warning in config.warnings() {
            tracing::warn!("{warning}");
        }
        let app = wiring::open(&config, domains)?.with_settings(Arc::clone(&settings));
        for warning in warnings.iter().chain(&app.unmatched_patterns(&config)) {
            tracing::warn!(at = warning.at, "{}", warning.what);
        }
        wiring::open_state(&app).await?;
        let listeners = wiring::bind(&config, &telemetry).await?;
        let signals = Signals::install().map_err(|error| Failure::Failed(format!("no signals: {error}")))?;
        announce::announce(&config, &app, &listeners)?;
        let _guard = orphans::guard(&config);
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            // Never an error: `wait_for_end` sends before it returns.
            let _ = stopped.await;
        };
        select! {
            report = app.serve(&config, listeners, shutdown) => {
                log_end(report);
                telemetry.end_within(config.server.drain.forced_end.saturating_sub(report.elapsed));
                Ok(())
            }
            end = wait_for_end(signals, &settings, self.starter_ended(), stop) => {
                telemetry.end_within(Duration::ZERO);
                end
            }
        }
    }

    /// Waits until the process that started the server has ended, by the signs that the flags name. Returns its name.
    async fn starter_ended(&self) -> &'static str {
        let parent = async {
            match self.parent {
                Some(id) => parent::wait_for_end(id).await,
                None => pending().await,
            }
        };
        select! {
            () = stdin::wait_for_end(), if self.until_stdin_ends => "standard input",
            () = parent => "the process that started the server",
        }
    }

    fn flags(&self) -> Flags {
        let flags = self.settings.flags().set("server.listen", self.listen.as_ref());
        let flags = flags.set("log.format", self.log.as_ref()).set("admin.listen", self.admin.as_ref());
        let flags = flags.set("http.listen", self.http.as_ref());
        let flags = flags.set("server.reuse_port", self.reuse_port);
        let flags = flags.set("server.samples", self.no_samples.then_some(false));
        flags.set("server.tls.cert", self.tls_cert.as_ref()).set("server.tls.key", self.tls_key.as_ref())
    }
}

/// How long calls may go on once the process that started the server is gone.
const AFTER_STARTER: Duration = Duration::from_secs(1);

/// Asks the server to end at the first signal, or when its starter has ended. Returns when its drain must be cut off:
/// at the next SIGTERM or SIGINT, or soon after the end of its starter.
async fn wait_for_end(
    mut signals: Signals,
    settings: &SettingsFile,
    starter_ended: impl Future<Output = &'static str>,
    stop: oneshot::Sender<()>,
) -> Result<(), Failure> {
    let mut starter_ended = pin!(starter_ended);
    select! {
        signal = signals.any(|| read_again(settings)) => {
            tracing::info!(
                signal,
                "draining: calls are served on for a while, then those under way may finish; interrupt again to end at \
                 once"
            );
            let _ = stop.send(());
            select! {
                () = signals.abort_requested() => return Err(Failure::Interrupted),
                _ = &mut starter_ended => {}
            }
        }
        what = &mut starter_ended => {
            tracing::info!("{what} has ended, and the server ends with it");
            let _ = stop.send(());
        }
    }
    sleep(AFTER_STARTER).await;
    Ok(())
}

/// What a service manager asks of a daemon by SIGHUP.
fn read_again(settings: &SettingsFile) {
    tracing::info!(
        signal = "SIGHUP",
        "the settings are read again, since no terminal of this process was closed"
    );
    settings.read_again();
}

fn log_end(report: Report) {
    let Report { connections, streams_cut, elapsed } = report;
    tracing::info!(connections, streams_cut, elapsed_ms = elapsed.as_secs_f64() * 1000.0, "drained");
}
