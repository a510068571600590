//! Identity providers whose tokens are accepted: `[[auth.issuers]]`.
//!
//! Not here: what a token of one must be, and how its keys are fetched.

use std::{path::PathBuf, time::Duration};

use url::Url;

use crate::{fields::Fields, reader::Reader, value::Value};
use toolwire_identity::{Algorithm, ClaimPath, Issuer, KeySource, check_address, check_file};

/// The longest name of an issuer: the ids of its users begin with it.
const LONGEST_NAME: usize = 32;
/// Entra's tokens are valid for 60 to 90 minutes, and say that they were issued 5 minutes earlier than they were.
const USUAL_LIFE: Duration = Duration::from_mins(100);

/// The names of issuers, also of those whose entries cannot be used: what is of one is no further mistake.
#[derive(Debug, Default)]
pub(crate) struct IssuerNames {
    names: Vec<String>,
    /// Whether there is an entry without a name.
    has_nameless: bool,
}

impl IssuerNames {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.has_nameless || self.names.iter().any(|it| it == name)
    }
}

pub(super) fn read_all(reader: &mut Reader) -> (Vec<Issuer>, IssuerNames) {
    let (mut issuers, mut names) = (Vec::<Issuer>::new(), IssuerNames::default());
    for mut entry in reader.list("auth.issuers") {
        let (name, issuer) = read(&mut entry);
        names.has_nameless |= name.is_none();
        names.names.extend(name);
        if let Some(issuer) = &issuer {
            // The owner of a token must not depend on the order of the entries.
            if issuers.iter().any(|it| it.name == issuer.name) {
                entry.problem("name is that of an earlier entry too; give each its own");
            }
            if issuers.iter().any(|it| it.issuer == issuer.issuer) {
                entry.problem("issuer is that of an earlier entry too; make them one");
            }
        }
        if reader.end(entry) {
            issuers.extend(issuer);
        }
    }
    for issuer in &issuers {
        reader.show_entry("[[auth.issuers]]", &shown(issuer));
    }
    (issuers, names)
}

/// The name, and the issuer if all of it can be used.
fn read(entry: &mut Fields) -> (Option<String>, Option<Issuer>) {
    let name = entry.required::<String>("name");
    (name.clone(), read_named(entry, name))
}

fn read_named(entry: &mut Fields, name: Option<String>) -> Option<Issuer> {
    // Every field is read even if an earlier one is wrong, so that all problems are reported at once.
    let issuer = entry.required::<String>("issuer");
    let audience = entry.required::<Vec<String>>("audience");
    let algorithms = entry.optional::<Vec<String>>("algorithms");
    let user = claim(entry, "user");
    let (email, groups) = (claim(entry, "email"), claim(entry, "groups"));
    let max_life = entry.optional("max_life").unwrap_or(USUAL_LIFE);
    let keys = keys(entry, issuer.as_deref());
    let (bearer_file, ca) = (entry.optional::<PathBuf>("bearer_file"), entry.optional::<PathBuf>("ca"));

    if name.as_deref().is_some_and(|name| !is_name(name)) {
        entry.problem(format!("name must be of a-z, 0-9, _ and -, at most {LONGEST_NAME} characters"));
    }
    if audience.as_ref().is_some_and(|all| all.is_empty() || all.iter().any(String::is_empty)) {
        entry.problem("audience must name at least one, of which a token names one");
    }
    if max_life.is_zero() {
        entry.problem("max_life must be more than zero: no token would be accepted");
    }
    if (bearer_file.is_some() || ca.is_some()) && matches!(keys, Some(KeySource::File(_))) {
        entry.problem("bearer_file and ca are for keys that are fetched, not for jwks_file; remove them");
    }
    let algorithms = match algorithms {
        None => Some(Algorithm::USUAL.to_vec()),
        Some(names) => self::algorithms(&names).map_err(|what| entry.problem(what)).ok(),
    };
    Some(Issuer {
        name: name?,
        issuer: issuer?,
        audience: audience?,
        algorithms: algorithms?,
        user: user.unwrap_or_else(|| "sub".parse().expect("it is a claim")),
        email,
        groups,
        max_life,
        keys: keys?,
        bearer_file,
        ca,
    })
}

fn claim(entry: &mut Fields, name: &'static str) -> Option<ClaimPath> {
    let text = entry.optional::<String>(name)?;
    text.parse().map_err(|what| entry.problem(format!("{name}: {what}"))).ok()
}

fn algorithms(names: &[String]) -> Result<Vec<Algorithm>, String> {
    if names.is_empty() {
        return Err("algorithms must name at least one".to_owned());
    }
    let parse = |name: &String| {
        name.parse().map_err(|_| {
            let known = <Algorithm as strum::VariantNames>::VARIANTS.join(", ");
            format!("algorithms must be of {known}, but there is {name:?}")
        })
    };
    names.iter().map(parse).collect()
}

/// Where the keys are: `jwks_url`, `jwks_file`, or what the issuer itself names.
fn keys(entry: &mut Fields, issuer: Option<&str>) -> Option<KeySource> {
    let (url, file) = (entry.optional::<String>("jwks_url"), entry.optional::<PathBuf>("jwks_file"));
    let source = match (url, file, issuer?) {
        (Some(_), Some(_), _) => Err("expected jwks_url or jwks_file, not both; remove one".to_owned()),
        (None, Some(file), _) => Ok(KeySource::File(file)),
        (Some(url), None, _) => address(&url).map(KeySource::Url).map_err(|what| format!("jwks_url {what}")),
        (None, None, issuer) => {
            let found = address(issuer).map(KeySource::Discovery);
            found.map_err(|what| format!("issuer {what}; or say where its keys are by jwks_url or jwks_file"))
        }
    };
    let source = source.and_then(|source| {
        check_file(&source).map_err(|what| format!("jwks_file: {what}"))?;
        Ok(source)
    });
    source.map_err(|what| entry.problem(what)).ok()
}

fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("cannot be read as an address: {error}"))?;
    check_address(&url).map_err(|what| what.to_string())?;
    Ok(url)
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(fits)
}

fn shown(issuer: &Issuer) -> Vec<(&'static str, String)> {
    let algorithms: Vec<_> = issuer.algorithms.iter().map(ToString::to_string).collect();
    let claim = |path: &ClaimPath| path.as_str().to_owned().to_toml();
    let keys = match &issuer.keys {
        KeySource::Discovery(_) => None,
        KeySource::Url(url) => Some(("jwks_url", url.to_string().to_toml())),
        KeySource::File(path) => Some(("jwks_file", path.to_toml())),
    };
    let mut shown = vec![
        ("name", issuer.name.to_toml()),
        ("issuer", issuer.issuer.to_toml()),
        ("audience", issuer.audience.to_toml()),
        ("algorithms", algorithms.to_toml()),
        ("user", claim(&issuer.user)),
        ("max_life", issuer.max_life.to_toml()),
    ];
    shown.extend(issuer.email.as_ref().map(|path| ("email", claim(path))));
    shown.extend(issuer.groups.as_ref().map(|path| ("groups", claim(path))));
    shown.extend(keys);
    shown.extend(issuer.bearer_file.as_ref().map(|path| ("bearer_file", path.to_toml())));
    shown.extend(issuer.ca.as_ref().map(|path| ("ca", path.to_toml())));
    shown
}
