//! The lines that `serve` prints once it accepts connections: the addresses, the settings, and commands to try next.
//!
//! Scripts read the first line, and those of the HTTP listener and the admin endpoint: they keep their form. The others
//! are for people.

use std::{io, net::SocketAddr};

use toolwire_config::Config;
use toolwire_server::{
    app::{App, Listeners},
    console::{self, Failure},
};
use toolwire_sources::upstream::settings;

/// Prints the addresses first, which scripts wait for.
pub(super) fn announce(config: &Config, app: &App, listeners: &Listeners) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Failed(error.to_string());
    let address = listeners.grpc.local_addr().map_err(failed)?;
    console::print(&format!("toolwire listening on {address}"))?;
    if let Some(http) = &listeners.http {
        console::print(&format!("toolwire http on {}", http.local_addr().map_err(failed)?))?;
    }
    if let Some(admin) = &listeners.admin {
        console::print(&format!("toolwire admin on {}", admin.address().map_err(failed)?))?;
    }
    let tools = count_tools(app);
    let mut lines = describe_service(config, &tools)?;
    lines.extend(next(config, address));
    if let Some(http) = &listeners.http {
        let address = http.local_addr().map_err(failed)?;
        lines.extend(for_mcp(config, address));
        lines.extend(console_of(config, address));
    }
    console::print(&lines.join("\n"))
}

/// The number of offered tools, and the names of those without a manifest.
fn count_tools(app: &App) -> String {
    let count = app.registry.snapshot().tools().count();
    match &*app.undeclared {
        [] => count.to_string(),
        names => format!("{count} (without a manifest, and so not offered: {})", names.join(", ")),
    }
}

/// The settings of the service, one a line.
fn describe_service(config: &Config, tools: &str) -> Result<Vec<String>, Failure> {
    let data = config.data.dir.as_ref().map_or("built in".to_owned(), |dir| dir.display().to_string());
    let diagnostics = if config.server.diagnostics {
        "on: the tools debug_… are offered"
    } else {
        "off; --diagnostics offers tools that check the service's promises"
    };
    let state = if let Some(database) = &config.state.database {
        database.to_string()
    } else {
        let directory = config.state.directory().map_err(|error| Failure::Start(error.to_string()))?;
        format!("toolwire.db in {}", directory.display())
    };
    Ok(vec![
        format!("  tools        {tools}; manifests and data: {data}"),
        format!("  sources      {}", config.part::<settings::Settings>().mode),
        format!("  state        {state}"),
        format!("  diagnostics  {diagnostics}"),
    ])
}

/// Commands to try next.
fn next(config: &Config, address: SocketAddr) -> Vec<String> {
    let (scheme, plain) =
        if config.server.tls.files().is_some() { ("https", "") } else { ("http", " -plaintext") };
    let (token, header) = if config.auth.is_open() {
        ("", "")
    } else {
        (" --token-file FILE", " -expand-headers -H 'authorization: Bearer ${TOOLWIRE_TOKEN}'")
    };
    let mut lines = vec![format!("  try          toolwire list --server {scheme}://{address}{token}")];
    // Without reflection grpcurl would need the files of the contract.
    if config.server.reflection {
        let method = "toolwire.v1.ToolService/ListTools";
        lines.push(format!("               grpcurl{plain}{header} {address} {method}"));
    }
    if scheme == "https" {
        let note = "an authority that this machine does not know: --ca FILE, grpcurl -cacert FILE";
        lines.push(format!("               {note}"));
    }
    lines
}

/// The address of the console's page.
fn console_of(config: &Config, address: SocketAddr) -> Option<String> {
    config.http.console.then(|| format!("  console      {}/", http_url(config, address)))
}

/// The URL of the HTTP listener. Requests by another name than the public one may be refused, and tokens are for that.
fn http_url(config: &Config, address: SocketAddr) -> String {
    let scheme = if config.server.tls.files().is_some() { "https" } else { "http" };
    config.http.public_url.clone().unwrap_or_else(|| format!("{scheme}://{address}"))
}

/// The URL for clients of MCP, the command that configures one of them, and what an answer in their forms does.
fn for_mcp(config: &Config, address: SocketAddr) -> Vec<String> {
    if !config.http.mcp {
        return Vec::new();
    }
    let url = format!("{}/mcp", http_url(config, address));
    let signs_in = config.http.public_url.is_some() && !config.auth.issuers.is_empty();
    // Claude Code replaces a variable in the file of a project, so that no list of processes shows the token.
    let (scope, header) = if config.auth.is_open() || signs_in {
        ("", "")
    } else {
        (" --scope project", " --header 'Authorization: Bearer ${TOOLWIRE_TOKEN}'")
    };
    let users: Vec<_> = config.confirmations.in_client.iter().map(ToString::to_string).collect();
    let forms = match &*users {
        [] => "the forms of clients decide nothing: [confirmations] in_client names no user".to_owned(),
        users => format!("the forms of {} approve and deny: [confirmations] in_client", users.join(", ")),
    };
    let mut lines = vec![format!("  mcp          {url}")];
    if signs_in {
        lines.push(format!("               toolwire login {url}"));
    }
    lines.push(format!("               claude mcp add{scope} --transport http toolwire {url}{header}"));
    lines.push(format!("               {forms}"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use toolwire_config::{AuthUser, Tls};
    use toolwire_identity::{Issuer, KeySource, TokenSettings};

    fn next_of(config: &Config) -> Vec<String> {
        next(config, "127.0.0.1:50051".parse().unwrap())
    }

    #[test]
    fn the_commands_to_try_speak_tls_and_present_a_token_where_the_server_wants_it() {
        let mut config = Config::default();
        let plain = next_of(&config).join("\n");
        assert!(plain.contains("--server http://127.0.0.1:50051\n"), "{plain}");
        assert!(plain.contains("grpcurl -plaintext 127.0.0.1:50051 toolwire.v1"), "{plain}");
        config.server.tls = Tls { cert: Some("c".into()), key: Some("k".into()), ..Tls::default() };
        config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), "a-token".into())];
        let secured = next_of(&config).join("\n");
        assert!(secured.contains("--server https://127.0.0.1:50051 --token-file FILE"), "{secured}");
        let header = "grpcurl -expand-headers -H 'authorization: Bearer ${TOOLWIRE_TOKEN}' 127.0.0.1:50051";
        assert!(secured.contains(header), "{secured}");
        assert!(secured.contains("--ca FILE") && !plain.contains("--ca"), "{secured}");
        assert!(!secured.contains("a-token"), "{secured}");
    }

    #[test]
    fn clients_of_mcp_are_told_the_url_if_it_is_served() {
        let mut config = Config::default();
        let address = "127.0.0.1:50080".parse().unwrap();
        let [url, command, forms] = for_mcp(&config, address).try_into().unwrap();
        assert_eq!(url, "  mcp          http://127.0.0.1:50080/mcp");
        assert!(
            command.ends_with("claude mcp add --transport http toolwire http://127.0.0.1:50080/mcp"),
            "{command}"
        );
        assert!(forms.ends_with("decide nothing: [confirmations] in_client names no user"), "{forms}");
        config.confirmations.in_client = vec!["riley".parse().unwrap()];
        let forms = for_mcp(&config, address).pop().unwrap();
        assert!(forms.ends_with("the forms of riley approve and deny: [confirmations] in_client"), "{forms}");
        config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), "a-token".into())];
        let command = for_mcp(&config, address).remove(1);
        assert!(command.contains("claude mcp add --scope project --transport http toolwire "), "{command}");
        assert!(command.ends_with(" --header 'Authorization: Bearer ${TOOLWIRE_TOKEN}'"), "{command}");
        config.http.mcp = false;
        assert!(for_mcp(&config, address).is_empty());
    }

    #[test]
    fn the_console_has_an_address_unless_it_is_off() {
        let mut config = Config::default();
        let line_of = |config: &Config| console_of(config, "127.0.0.1:50080".parse().unwrap());
        assert_eq!(line_of(&config).as_deref(), Some("  console      http://127.0.0.1:50080/"));
        config.http.public_url = Some("https://tools.example".to_owned());
        assert_eq!(line_of(&config).as_deref(), Some("  console      https://tools.example/"));
        config.http.console = false;
        assert_eq!(line_of(&config), None);
    }

    #[test]
    fn grpcurl_is_shown_only_where_it_can_ask_what_there_is() {
        let mut config = Config::default();
        config.server.reflection = false;
        assert_eq!(next_of(&config).len(), 1);
    }

    #[test]
    fn clients_that_sign_in_are_told_the_public_url_and_no_token() {
        let mut config = Config::default();
        let lines_of = |config: &Config| for_mcp(config, "127.0.0.1:50080".parse().unwrap()).join("\n");
        config.http.public_url = Some("https://tools.example".to_owned());
        let plain = lines_of(&config);
        assert!(plain.contains("https://tools.example/mcp") && !plain.contains("login"), "{plain}");
        config.auth.issuers = vec![Issuer {
            name: "corp".to_owned(),
            issuer: "https://login.example".to_owned(),
            user: "sub".parse().unwrap(),
            email: None,
            groups: None,
            tokens: TokenSettings {
                audience: vec!["toolwire".to_owned()],
                algorithms: Vec::new(),
                max_life: Duration::from_hours(1),
                keys: KeySource::File("jwks.json".into()),
                bearer_file: None,
                ca: None,
            },
        }];
        let lines = lines_of(&config);
        assert!(lines.starts_with("  mcp          https://tools.example/mcp\n"), "{lines}");
        assert!(lines.contains(" toolwire login https://tools.example/mcp\n"), "{lines}");
        let add = " claude mcp add --transport http toolwire https://tools.example/mcp\n";
        assert!(lines.contains(add), "{lines}");
        // Without a public URL no client can know where to sign in.
        config.http.public_url = None;
        let unknown = lines_of(&config);
        assert!(!unknown.contains("toolwire login") && unknown.contains("--header"), "{unknown}");
    }
}
