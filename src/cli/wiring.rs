//! Where the commands meet the service: the composition root and the registry's reports.

use toolwire_base::files::{Problem, Problems, Tree};
use toolwire_config::{Config, Loaded, LogFormat};
use toolwire_contract::proto::v1;
use toolwire_engine::registry::{docs, lint};
use toolwire_server::{
    app::{self, App, Listeners},
    console::Failure,
    domain::Domain,
    faces::{admin::Admin, grpc, http},
};
use toolwire_telemetry::{self as telemetry, Format, Guard};
use toolwire_transport::ListenError;

/// The result of checking the manifests, the data and the settings.
#[derive(Debug)]
pub(super) struct Linted {
    /// The problems of start-up and of the linter.
    pub(super) problems: Vec<v1::DefinitionProblem>,
    /// Whether the service would refuse to start.
    pub(super) is_refused: bool,
}

/// Starts the log and the export of traces, metrics and the audit. They end when the guard is dropped.
pub(super) fn start_telemetry(config: &Config) -> Result<Guard, Failure> {
    let settings = telemetry::Settings {
        format: match config.log.format {
            LogFormat::Auto => Format::Auto,
            LogFormat::Json => Format::Json,
            LogFormat::Text => Format::Text,
        },
        filter: config.log.filter.clone(),
        traces: config.telemetry.traces.clone(),
        sampling: config.telemetry.sampling,
        batch: config.telemetry.batch.clone(),
        metrics: config.telemetry.metrics.clone(),
        audit: config.telemetry.audit.clone(),
        interval: config.telemetry.interval,
        prometheus: config.admin.listen.is_some(),
        service_name: config.telemetry.service_name.clone(),
        egress: config.egress.clone(),
        attributes: config.telemetry.attributes.clone(),
    };
    telemetry::init(&settings).map_err(|error| Failure::Start(error.to_string()))
}

/// Makes the service.
pub(super) fn open(config: &Config, domains: &[Domain]) -> Result<App, Failure> {
    App::build(config, domains).map_err(|error| Failure::Start(error.to_string()))
}

/// Opens the state before anything needs it.
pub(super) async fn open_state(app: &App) -> Result<(), Failure> {
    app.state.open().await.map_err(|error| Failure::Start(error.to_string()))
}

/// Takes the configured addresses.
pub(super) async fn bind(config: &Config, telemetry: &Guard) -> Result<Listeners, Failure> {
    let grpc = grpc::bind(&config.server).map_err(not_bound)?;
    let http =
        config.http.listen.map(|listen| http::bind(listen, &config.http, &config.server).map_err(not_bound));
    let admin = match config.admin.listen {
        None => None,
        Some(address) => {
            let admin = Admin::bind(address, telemetry.scrape()).await;
            Some(admin.map_err(|error| Failure::Failed(error.to_string()))?)
        }
    };
    Ok(Listeners { grpc, http: http.transpose()?, admin })
}

fn not_bound(error: ListenError) -> Failure {
    match error {
        ListenError::Bind(error) => Failure::Failed(error.to_string()),
        ListenError::Certificate(_) => Failure::Start(error.to_string()),
    }
}

/// Checks the manifests, the data, and settings that are allowed but hardly meant.
pub(super) fn lint(loaded: &Loaded, domains: &[Domain]) -> Result<Linted, Failure> {
    let config = &loaded.config;
    let tree = app::tree(config, domains).map_err(|error| Failure::Start(error.to_string()))?;
    let data = app::check(config, domains);
    let app = App::build(config, domains);
    let unmatched = app.as_ref().map(|app| app.unmatched_patterns(config)).unwrap_or_default();
    let settings = loaded.warnings.iter().chain(&unmatched);
    let settings = settings.map(|it| Problem::new(&it.at, "setting", it.what.clone()));
    let offered = app::gather(&tree, domains, config);
    let problems = offered.map_or_else(|Problems(problems)| problems, |offered| lint::lint(&offered));
    let undeclared = app.as_ref().map(|app| find_undeclared(app, &tree)).unwrap_or_default();
    let mut problems: Vec<_> = problems.into_iter().chain(data).chain(settings).chain(undeclared).collect();
    if let Err(error) = &app {
        let untold = error.beside_manifests();
        let untold = untold.iter().filter(|line| !problems.iter().any(|it| line.contains(&it.description)));
        let untold: Vec<_> = untold.map(|line| Problem::new("start", "refused", line.clone())).collect();
        problems.extend(untold);
    }
    Ok(Linted { problems: problems.into_iter().map(Into::into).collect(), is_refused: app.is_err() })
}

/// Tools that the program has and cannot offer. A directory of manifests may leave tools out; the program's own may
/// not.
fn find_undeclared(app: &App, tree: &Tree) -> Vec<Problem> {
    let names = if let Tree::Embedded(_) = tree { &*app.undeclared } else { &[] };
    let problem = |name: &String| {
        let what = format!(
            "nothing declares the tool {name}: write its manifest. If it is written, touch the Rust file that embeds \
             its folder, so that Cargo sees it"
        );
        Problem::new(&format!("tools/{name}.json"), "no-manifest", what)
    };
    names.iter().map(problem).collect()
}

/// The tools as markdown.
pub(super) fn render_docs(app: &App) -> String {
    docs::render(&app.registry.snapshot())
}
