//! The flags that select the tools: those of a server, or those of the program itself.

use std::{
    convert::Infallible,
    fs,
    path::{self, Path, PathBuf},
};

use clap::Args;
use secrecy::SecretString;

use super::{
    backend::Backend,
    settings::{self, Settings},
    sign_in, wiring,
};
use toolwire_base::words::without_bom;
use toolwire_config::{Client, Config, Environment, Right};
use toolwire_contract::near::did_you_mean;
use toolwire_server::{
    client::{Credentials, Server, ServerUrl},
    console::Failure,
    domain::Domain,
};
use toolwire_tool::context::{ToolsetName, User, UserId};

/// Selects the tools.
#[derive(Clone, Debug, Args)]
pub(super) struct Connection {
    /// Asks the server at URL, http:// or https://HOST:PORT; without it this program answers itself [env:
    /// TOOLWIRE_SERVER]
    #[arg(long, value_name = "URL", conflicts_with = "settings")]
    server: Option<ServerUrl>,
    /// Calls as this user, where the server needs no credentials
    #[arg(long, value_name = "NAME")]
    user: Option<UserId>,
    /// Lists and calls only the tools of this toolset, [toolsets.NAME] of the server's file
    #[arg(long, value_name = "NAME")]
    toolset: Option<ToolsetName>,
    /// Presents the bearer token in this file to the server, which no list of processes shows [env: TOOLWIRE_TOKEN, the
    /// token itself]
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Presents this bearer token, which other users of the machine can read meanwhile: prefer --token-file
    #[arg(long, value_name = "TOKEN", value_parser = secret)]
    token: Option<SecretString>,
    /// Trusts the authorities in this PEM file for https:// [default: the platform's] [env: TOOLWIRE_CA]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

/// The user whose records a command is shown.
#[derive(Debug)]
pub(super) enum Seen {
    All,
    /// This user's own alone.
    Own(UserId),
    /// What the server lets the user see.
    Unknown,
}

impl Connection {
    /// The selected tools.
    pub(super) async fn open(&self, domains: &[Domain]) -> Result<Backend, Failure> {
        match self.url()? {
            Some(url) => Ok(Backend::of_server(self.connect(&url).await?)),
            None => self.own(domains),
        }
    }

    /// The same, with the state at hand where this program answers by itself.
    pub(super) async fn open_with_state(&self, domains: &[Domain]) -> Result<Backend, Failure> {
        let backend = self.open(domains).await?;
        backend.open_state().await?;
        Ok(backend)
    }

    /// The flags by which another command finds the same, each after a space. Never a token.
    pub(super) fn to_flags(&self) -> String {
        settings::as_flags(&self.to_words(self.server.as_ref(), |path| path.display().to_string()))
    }

    /// The same for a command of another user, who has another token.
    pub(super) fn to_flags_of_others(&self) -> String {
        let token_file = self.token_file.as_ref().map(|_| PathBuf::from("FILE"));
        Self { token_file, ..self.clone() }.to_flags()
    }

    /// The same for a command that is started elsewhere, with the server that the environment names.
    pub(super) fn to_words_elsewhere(&self) -> Result<Vec<String>, Failure> {
        let absolute =
            |path: &Path| path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
        Ok(self.to_words(self.url()?.as_ref(), absolute))
    }

    /// The same for a command of another user, who has another token.
    pub(super) fn to_words_of_others_elsewhere(&self) -> Result<Vec<String>, Failure> {
        let mut words = Self { token_file: None, ..self.clone() }.to_words_elsewhere()?;
        if self.has_token() {
            words.extend(settings::words("token-file", Some("FILE".to_owned())));
        }
        Ok(words)
    }

    fn to_words(&self, server: Option<&ServerUrl>, path: impl Fn(&Path) -> String) -> Vec<String> {
        let server = settings::words("server", server.map(ToString::to_string));
        let token = settings::words("token-file", self.token_file.as_deref().map(&path));
        let ca = settings::words("ca", self.ca.as_deref().map(&path));
        let user = settings::words("user", self.user.as_ref().map(ToString::to_string));
        let toolset = settings::words("toolset", self.toolset.as_ref().map(ToString::to_string));
        [server, token, ca, self.settings.to_words(path), user, toolset].concat()
    }

    /// Whether a token is presented.
    pub(super) fn has_token(&self) -> bool {
        self.gives_token() || Client::from_environment(&Environment::read()).token.is_some()
    }

    /// Whether the flags or the environment say who calls.
    pub(super) fn gives_identity(&self) -> bool {
        self.has_token() || self.user.is_some()
    }

    pub(super) fn ca(&self) -> Option<&Path> {
        self.ca.as_deref()
    }

    /// The tools of the selected server, for commands that need one.
    pub(super) async fn remote(&self) -> Result<Backend, Failure> {
        self.server().await.map(Backend::of_server)
    }

    /// The selected server.
    pub(super) async fn server(&self) -> Result<Server, Failure> {
        match self.url()? {
            Some(url) => self.connect(&url).await,
            None => Err(usage("name the server: --server http://HOST:PORT, or TOOLWIRE_SERVER")),
        }
    }

    /// The address of the server, if one is given. Flags for this program's own tools take precedence over the
    /// environment.
    pub(super) fn url(&self) -> Result<Option<ServerUrl>, Failure> {
        if self.server.is_some() {
            return Ok(self.server.clone());
        }
        let configured = Client::from_environment(&Environment::read()).server;
        match configured.filter(|_| !self.settings.is_given()) {
            Some(text) => text
                .parse::<ServerUrl>()
                .map(Some)
                .map_err(|error| usage(&format!("TOOLWIRE_SERVER: {error}"))),
            None if self.gives_token() || self.ca.is_some() => {
                Err(usage("a token or a CA is for a server: name it with --server or TOOLWIRE_SERVER"))
            }
            None => Ok(None),
        }
    }

    fn own(&self, domains: &[Domain]) -> Result<Backend, Failure> {
        let config = self.settings.load(domains)?.config;
        let user = self.own_user(&config)?;
        let app = wiring::open(&config, domains)?;
        Ok(Backend::of_program(app, user, config.server.deadline_cap))
    }

    /// The configuration of this program's own tools; `None` if those of a server are selected.
    pub(super) fn own_config(&self, domains: &[Domain]) -> Result<Option<Config>, Failure> {
        match self.url()? {
            Some(_) => Ok(None),
            None => Ok(Some(self.settings.load(domains)?.config)),
        }
    }

    /// The user of this program's own tools.
    pub(super) fn own_user(&self, config: &Config) -> Result<User, Failure> {
        if let Some(name) = self.toolset.as_ref().filter(|name| config.toolsets.get(name).is_none()) {
            let near = did_you_mean(name.as_str(), config.toolsets.iter().map(|it| it.name.as_str()));
            return Err(usage(&format!("--toolset {name}: there is no [toolsets.{name}]{near}")));
        }
        let id = self.user.clone().unwrap_or_else(|| config.data.default_user.clone());
        Ok(User::new(id).with_toolset(self.toolset.clone()))
    }

    /// The user whose records this program shows.
    pub(super) fn seen(&self, domains: &[Domain]) -> Result<Seen, Failure> {
        let Some(config) = self.own_config(domains)? else { return Ok(Seen::Unknown) };
        let user = self.own_user(&config)?;
        let sees_all = config.auth.is_open() || config.auth.may_some(&user, Right::Observe);
        Ok(if sees_all { Seen::All } else { Seen::Own(user.id) })
    }

    /// Whether the tools are those of somebody whom credentials prove, or are to prove.
    pub(super) fn is_identified(&self, domains: &[Domain]) -> Result<bool, Failure> {
        Ok(match self.own_config(domains)? {
            Some(config) => !config.auth.is_open(),
            None => self.has_token() || self.url()?.is_some_and(|url| sign_in::is_kept_for(&url)),
        })
    }

    pub(super) fn toolset(&self) -> Option<&ToolsetName> {
        self.toolset.as_ref()
    }

    fn gives_token(&self) -> bool {
        self.token.is_some() || self.token_file.is_some()
    }

    fn token_in_file(&self) -> Result<Option<SecretString>, Failure> {
        let Some(file) = &self.token_file else { return Ok(None) };
        let problem = |what: &str| usage(&format!("--token-file {}: {what}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| problem(&error.to_string()))?;
        match without_bom(&text).trim() {
            "" => Err(problem("it is empty; write the token into it")),
            token if token.contains(char::is_whitespace) => Err(problem("it has more than one word")),
            token => Ok(Some(SecretString::from(token))),
        }
    }

    async fn connect(&self, url: &ServerUrl) -> Result<Server, Failure> {
        if self.ca.is_some() && !url.is_https() {
            return Err(usage("--ca is for a server that speaks TLS: --server https://HOST:PORT"));
        }
        let Client { token, ca, .. } = Client::from_environment(&Environment::read());
        let token = self.token.clone().or(self.token_in_file()?).or(token);
        let ca = self.ca.as_deref().or(ca.as_deref());
        let is_given = token.is_some() || self.user.is_some();
        let tokens = if is_given { None } else { sign_in::token_for(url, ca)? };
        let (user, toolset) = (self.user.clone(), self.toolset.clone());
        let login = (!is_given).then(|| sign_in::command_for(url));
        Server::connect(url, &Credentials { token, tokens, login, user, toolset }, ca).await
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the form clap asks for")]
fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text))
}

fn usage(text: &str) -> Failure {
    Failure::Usage(text.to_owned())
}
