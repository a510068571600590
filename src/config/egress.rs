//! How the server goes out to others: `[network]`.
//!
//! Not here: what a server elsewhere is trusted by in its own table, and the certificates that are presented to it.

use std::path::PathBuf;

use super::{
    ConfigError, Environment, Sources,
    raw_value::{Entries, RawValue},
    reader::Reader,
    redact_url,
    setting::Setting,
    value::{Value, quote},
};
use toolwire_outgoing::{Authorities, Bypass, Egress, ProxyAddress};

const PROXY: &str = "network.proxy";
const NO_PROXY: &str = "network.no_proxy";
const CA: &str = "network.ca";

/// The word for the proxy of the environment.
const ENVIRONMENT: &str = "env";

/// `network.proxy`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProxySetting {
    /// That of `HTTPS_PROXY`, with `NO_PROXY`.
    Environment,
    At(ProxyAddress),
}

/// The proxy (`proxy`, `TOOLWIRE_NETWORK_PROXY`, default none), what is asked without it (`no_proxy`,
/// `TOOLWIRE_NETWORK_NO_PROXY`, default this machine alone), and the authorities that are trusted beside the system's
/// (`ca`, `TOOLWIRE_NETWORK_CA`, default none).
pub(super) fn read(reader: &mut Reader) -> Egress {
    let proxy = reader.optional(Setting::new(PROXY, "TOOLWIRE_NETWORK_PROXY"), None::<ProxySetting>);
    let mut bypassed =
        reader.values(Setting::new(NO_PROXY, "TOOLWIRE_NETWORK_NO_PROXY"), Vec::<Bypass>::new());
    let ca = reader.optional(Setting::new(CA, "TOOLWIRE_NETWORK_CA"), None::<PathBuf>);
    if !reader.is_set(PROXY) && !bypassed.is_empty() {
        reader.problem(NO_PROXY, "has no effect without network.proxy; set that too, or remove it");
    }
    let address = match proxy {
        None => None,
        Some(ProxySetting::At(address)) => Some(address),
        Some(ProxySetting::Environment) => {
            bypassed.extend(no_proxy_of_environment(reader));
            proxy_of_environment(reader)
        }
    };
    let egress = address.map_or_else(Egress::default, |it| Egress::default().with_proxy(it, &bypassed));
    let Some(ca) = ca else { return egress };
    match Authorities::read(&ca) {
        Ok(authorities) => egress.with_authorities(authorities),
        Err(what) => {
            reader.problem(CA, format!("{} {what}", ca.display()));
            egress
        }
    }
}

/// How a command goes out that reads no file of settings: by the variables alone.
pub fn egress_of_environment(environment: Environment) -> Result<Egress, ConfigError> {
    let sources = Sources { environment, ..Sources::default() };
    let mut reader = Reader::new(Entries::new(), &sources);
    let egress = read(&mut reader);
    if reader.problems.is_empty() { Ok(egress) } else { Err(ConfigError(reader.problems)) }
}

fn proxy_of_environment(reader: &mut Reader) -> Option<ProxyAddress> {
    let Some((name, text)) = of_environment(reader, ["HTTPS_PROXY", "https_proxy"]) else {
        reader.warn(PROXY, "is env, but HTTPS_PROXY is not set: connections go out directly");
        return None;
    };
    text.parse().map_err(|what| reader.problem_of_variable(name, format!("{what}"))).ok()
}

/// What fits of `NO_PROXY`, which other programs read in other ways too.
fn no_proxy_of_environment(reader: &mut Reader) -> Vec<Bypass> {
    let Some((name, text)) = of_environment(reader, ["NO_PROXY", "no_proxy"]) else { return Vec::new() };
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let read = |entry: &str| {
        entry.parse().map_err(|what| reader.warn_of_variable(name, format!("{what}; it is ignored"))).ok()
    };
    entries.filter_map(read).collect()
}

fn of_environment(reader: &Reader, names: [&'static str; 2]) -> Option<(&'static str, String)> {
    names.into_iter().find_map(|name| Some((name, reader.environment().get(name)?.to_owned())))
}

impl Value for ProxySetting {
    fn read(found: &RawValue) -> Result<Self, String> {
        // What was found may hold a password.
        let expected = "expected the address of a proxy such as \"http://proxy.example:3128\", or \"env\"";
        let RawValue::Text(text) = found else { return Err(expected.to_owned()) };
        if text == ENVIRONMENT {
            return Ok(Self::Environment);
        }
        let hidden = |what| format!("{what}; found {:?}", redact_url(text));
        text.parse().map(Self::At).map_err(hidden)
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Environment => quote(ENVIRONMENT),
            Self::At(address) => quote(&address.to_string()),
        }
    }
}

impl Value for Bypass {
    fn read(found: &RawValue) -> Result<Self, String> {
        let text = String::read(found)?;
        text.parse().map_err(|error: <Self as std::str::FromStr>::Err| error.to_string())
    }

    fn to_toml(&self) -> String {
        quote(&self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Flags, Loaded, print, testing::load_text};

    fn loaded(file: &str, variables: &[(&str, &str)]) -> Result<Loaded, String> {
        load_text(file, variables, Flags::default(), &[]).map_err(|error| error.to_string())
    }

    fn shown(file: &str, variables: &[(&str, &str)]) -> String {
        format!("{:?}", loaded(file, variables).unwrap().config.egress)
    }

    #[test]
    fn without_the_table_connections_go_out_directly_whatever_the_environment_says() {
        let shown = shown("", &[("HTTPS_PROXY", "http://proxy.example:3128")]);
        assert_eq!(shown, format!("{:?}", Egress::default()));
    }

    #[test]
    fn the_proxy_is_that_of_the_file_or_of_the_environment() {
        let file = "[network]\nproxy = 'http://riley:s3cret@proxy.example:3128'\nno_proxy = ['*.corp.example', '10.0.0.0/8']";
        let of_file = shown(file, &[("HTTPS_PROXY", "http://other.example")]);
        assert!(of_file.contains("http://[hidden]@proxy.example:3128"), "{of_file}");
        assert!(of_file.contains("corp.example,10.0.0.0/8"), "{of_file}");
        let printed = print(&loaded(file, &[]).unwrap());
        assert!(printed.contains(r#"proxy = "http://[hidden]@proxy.example:3128""#), "{printed}");
        assert!(
            printed.contains(r#"no_proxy = ["corp.example","10.0.0.0/8"]"#) && !printed.contains("s3cret")
        );
        for proxy in ["HTTPS_PROXY", "https_proxy"] {
            let variables =
                [(proxy, "proxy.example:3128"), ("NO_PROXY", "corp.example, x:1,"), ("no_proxy", "not.read")];
            let file = "[network]\nproxy = 'env'\nno_proxy = ['own.example']";
            let of_environment = shown(file, &variables);
            assert!(of_environment.contains("http://proxy.example:3128"), "{of_environment}");
            assert!(of_environment.contains("own.example,corp.example"), "{of_environment}");
            let warnings = format!("{:?}", loaded(file, &variables).unwrap().warnings);
            assert!(warnings.contains("NO_PROXY") && warnings.contains("x:1"), "{warnings}");
        }
        let unset = loaded("[network]\nproxy = 'env'", &[]).unwrap();
        assert!(format!("{:?}", unset.warnings).contains("HTTPS_PROXY is not set"), "{:?}", unset.warnings);
    }

    #[test]
    fn a_command_without_a_file_goes_out_as_the_variables_say() {
        let of = |proxy: &str| egress_of_environment(Environment::of(&[("TOOLWIRE_NETWORK_PROXY", proxy)]));
        let egress = format!("{:?}", of("http://proxy.example:3128").unwrap());
        assert!(egress.contains("http://proxy.example:3128"), "{egress}");
        assert!(of("https://proxy.example").unwrap_err().to_string().contains("must be http://"));
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_its_password() {
        for (file, words) in [
            ("proxy = 'https://u:s3cret@proxy.example'", "must be http://"),
            ("proxy = 'socks5://u:s3cret@proxy.example'", "must be http://"),
            ("proxy = 'u:s3cret@'", "expected the address of a proxy"),
            ("proxy = 7", "expected the address of a proxy"),
            ("proxy = 'http://proxy.example/path'", "address alone"),
            ("proxy = 'http://[hidden]@proxy.example'", "printed configuration"),
            ("proxy = 'http://proxy.example'\nno_proxy = ['corp.example:8080']", "without a port"),
            ("proxy = 'http://proxy.example'\nno_proxy = 'corp.example'", "expected a list"),
            ("no_proxy = ['corp.example']", "has no effect without network.proxy"),
            ("proxi = 'http://proxy.example'", "Did you mean network.proxy?"),
        ] {
            let refused = loaded(&format!("[network]\n{file}"), &[]).unwrap_err();
            assert!(refused.contains(words) && refused.contains("toolwire.toml:"), "{file}: {refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
        let refused = loaded("[network]\nproxy = 'env'", &[("HTTPS_PROXY", "ftp://u:s3cret@x")]).unwrap_err();
        assert!(refused.contains("HTTPS_PROXY") && !refused.contains("s3cret"), "{refused}");
    }

    #[test]
    fn a_file_of_authorities_that_is_away_or_holds_none_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("corporate.pem");
        let file = format!("[network]\nca = {:?}", path.display().to_string());
        let refused = loaded(&file, &[]).unwrap_err();
        assert!(
            refused.contains("network.ca") && refused.contains("corporate.pem cannot be read"),
            "{refused}"
        );
        fs::write(&path, "no certificate").unwrap();
        let refused = loaded(&file, &[]).unwrap_err();
        assert!(refused.contains("corporate.pem holds no certificate in PEM"), "{refused}");
    }
}
