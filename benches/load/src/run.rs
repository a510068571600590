//! The measurement: starts the servers, loads them in turn, and hands over what was seen.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    Against, Options, Result,
    bare::Answer,
    client::{Clients, Seen},
    machine,
    report::{Figures, Report},
    rows::{self, Row},
    server::Server,
};

/// The server's processor, and the clients'.
const PROCESSORS: (usize, usize) = (0, 1);
const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// As long as it takes until caches are filled and buffers have grown.
const WARM_UP: Duration = Duration::from_millis(500);

/// What is measured in turn.
struct Side {
    server: Server,
    clients: Clients,
}

/// Measures as the options say, and prints.
pub fn run(options: &Options) -> Result<()> {
    let rows: Vec<Row> = rows::all()
        .into_iter()
        .filter(|row| options.row.is_empty() || options.row.iter().any(|text| row.name.contains(text)))
        .collect();
    if rows.is_empty() {
        return Err("no row has such a name".into());
    }
    let directory = env::temp_dir().join(format!("toolwire-load-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(measure(options, &rows, &directory));
    fs::remove_dir_all(&directory)?;
    let report = report?;
    print!("{report}");
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_vec_pretty(&report)?)?;
    }
    Ok(())
}

async fn measure(options: &Options, rows: &[Row], directory: &Path) -> Result<Report> {
    let machine = machine::describe();
    let ours = Side::start(&mut toolwire(options, directory)?, Some(TOKEN)).await?;
    let idle = machine::memory(ours.server.id())?;
    let bare = match options.against {
        Some(Against::Bare) => {
            let answers = record(&ours.clients, rows, directory).await?;
            let command = &mut Command::new(env::current_exe()?);
            Some(Side::start(command.arg("--serve-answers").arg(answers), None).await?)
        }
        None => None,
    };
    let mut report = Report::new(machine, idle);
    let time = Duration::from_secs_f64(options.seconds);
    for row in rows {
        for side in [Some(&ours), bare.as_ref()].into_iter().flatten() {
            side.clients.load(row, WARM_UP).await?;
        }
        for _ in 0..options.rounds {
            let ours = ours.measure(row, time).await?;
            let bare = match &bare {
                Some(bare) => Some(bare.measure(row, time).await?),
                None => None,
            };
            report.add(row.name, ours, bare);
        }
        eprintln!("{}", row.name);
    }
    Ok(report)
}

impl Side {
    async fn start(command: &mut Command, token: Option<&str>) -> Result<Self> {
        let (processor, own) = PROCESSORS;
        let server = Server::start(command, processor, own)?;
        let most = rows::all().iter().map(|row| row.load.connections).max().unwrap_or(1);
        let clients = Clients::connect(server.address, token, most).await?;
        Ok(Self { server, clients })
    }

    async fn measure(&self, row: &Row, time: Duration) -> Result<Figures> {
        let before = machine::processor_time(self.server.id())?;
        let start = Instant::now();
        let Seen { requests, latency } = self.clients.load(row, time).await?;
        let (elapsed, after) = (start.elapsed(), machine::processor_time(self.server.id())?);
        Ok(Figures::new(requests, elapsed, after - before, &latency))
    }
}

/// The server as a deployment runs it: with credentials, metrics and the line of each call.
fn toolwire(options: &Options, directory: &Path) -> Result<Command> {
    let config = directory.join("toolwire.toml");
    let user = format!("[[auth.users]]\nuser_id = \"load\"\ntoken = \"{TOKEN}\"\n");
    fs::write(&config, user)?;
    let log = fs::File::create(directory.join("log"))?;
    let mut command = Command::new(&options.server);
    command
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0",
            "--diagnostics",
            "--log",
            "json",
        ])
        .arg("--config")
        .arg(&config)
        .arg("--state")
        .arg(directory.join("state"))
        .stderr(Stdio::from(log));
    Ok(command)
}

/// Keeps what the server answers, for the bare one to say it too.
async fn record(clients: &Clients, rows: &[Row], directory: &Path) -> Result<std::path::PathBuf> {
    let mut answers = Vec::new();
    for row in rows {
        // The first may say that it is fresh; later ones come as the load sees them.
        clients.answer(row).await?;
        let messages = clients.answer(row).await?;
        answers.push(Answer {
            path: row.path.to_owned(),
            request: row.request[5..].to_vec(),
            messages: messages.iter().map(|message| message[5..].to_vec()).collect(),
        });
    }
    let file = directory.join("answers.json");
    fs::write(&file, serde_json::to_vec(&answers)?)?;
    Ok(file)
}
