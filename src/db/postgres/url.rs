//! Reads the address of a server. What has no effect in it is refused by name: a misspelt `sslmode` would be a
//! connection without encryption.

use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx_core::Url;

use toolwire_contract::near::did_you_mean;

/// The parameters that have an effect, each with its other names.
const PARAMETERS: [&[&str]; 10] = [
    &["sslmode", "ssl-mode"],
    &["sslrootcert", "ssl-root-cert", "ssl-ca"],
    &["sslcert", "ssl-cert"],
    &["sslkey", "ssl-key"],
    &["host", "hostaddr"],
    &["port"],
    &["dbname"],
    &["user"],
    &["password"],
    &["statement-cache-capacity"],
];

/// The longest part of an unknown parameter's name that is shown.
const MAX_SHOWN: usize = 32;

/// An address or a schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AddressError(String);

impl AddressError {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// Reads an address. Errors name parameters and show none of their values, which may be parts of a password.
pub(super) fn parse(url: &str) -> Result<PgConnectOptions, AddressError> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return refuse("it is no address of the form postgres://user@host/database");
    }
    let unreadable = "it cannot be read as postgres://user:password@host:port/database?sslmode=verify-full: encode special \
                      characters of the password as in URLs, such as %40 for @";
    let Ok(parsed) = Url::parse(url) else { return refuse(unreadable) };
    if parsed.fragment().is_some() {
        return refuse("what stands behind # has no effect in it: encode a # of the password as %23");
    }
    check_parameters(&parsed)?;
    let Ok(options) = PgConnectOptions::from_str(url) else { return refuse(unreadable) };
    check_encryption(&parsed, &options)?;
    Ok(options)
}

/// Refuses parameters that are unknown, that are given twice, and that toolwire sets itself.
fn check_parameters(url: &Url) -> Result<(), AddressError> {
    let mut given: Vec<&[&str]> = Vec::new();
    for (name, _) in url.query_pairs() {
        let shown = &name[..name.floor_char_boundary(MAX_SHOWN)];
        if name == "application_name" || name == "options" || name.starts_with("options[") {
            return refuse(format!(
                "the parameter {shown} has no effect in it: toolwire sets it itself; remove it"
            ));
        }
        let Some(parameter) = PARAMETERS.into_iter().find(|names| names.contains(&&*name)) else {
            let hint = did_you_mean(&name, PARAMETERS.into_iter().flatten().copied());
            return refuse(format!("the parameter {shown} has no effect in it: remove it{hint}"));
        };
        if given.contains(&parameter) {
            return refuse(format!("the parameter {shown} is given twice in it: remove one"));
        }
        given.push(parameter);
    }
    Ok(())
}

/// Refuses words about encryption that would be ignored.
fn check_encryption(url: &Url, options: &PgConnectOptions) -> Result<(), AddressError> {
    let has = |at: usize| url.query_pairs().any(|(name, _)| PARAMETERS[at].contains(&&*name));
    let (mode, has_root, has_cert, has_key) = (options.get_ssl_mode(), has(1), has(2), has(3));
    if matches!(mode, PgSslMode::Allow) {
        return refuse(
            "sslmode=allow is never encrypted: name disable, prefer, require, verify-ca or verify-full",
        );
    }
    if has_root && !matches!(mode, PgSslMode::VerifyCa | PgSslMode::VerifyFull) {
        return refuse(
            "sslrootcert has no effect but with sslmode=verify-ca or verify-full: name one of them",
        );
    }
    if has_cert != has_key {
        return refuse("sslcert and sslkey have an effect together alone: name both");
    }
    if has_cert && matches!(mode, PgSslMode::Disable) {
        return refuse("sslcert has no effect with sslmode=disable: remove it, or name verify-full");
    }
    if options.get_socket().is_some() && has(0) && !matches!(mode, PgSslMode::Disable | PgSslMode::Prefer) {
        return refuse("a socket of this machine is not encrypted: remove sslmode, or name a host");
    }
    Ok(())
}

fn refuse<T>(what: impl Into<String>) -> Result<T, AddressError> {
    Err(AddressError::new(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(query: &str) -> String {
        let error = parse(&format!("postgres://me:s3cret@db/tools{query}")).unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
        error
    }

    #[test]
    fn a_parameter_without_an_effect_is_refused_by_name() {
        for (query, named) in [
            ("?sslmod=verify-full", "sslmod has no effect in it: remove it. Did you mean sslmode"),
            ("?SSLMODE=require", "SSLMODE"),
            ("?ssl=true", "the parameter ssl "),
            ("?channel_binding=require", "channel_binding"),
            ("?gssencmode=require", "gssencmode"),
            ("?target_session_attrs=read-write", "target_session_attrs"),
            ("?connect_timeout=3", "connect_timeout"),
            ("?application_name=x", "application_name"),
            ("?options=-c%20statement_timeout=0", "options"),
            ("?options[search_path]=x", "options[search_path]"),
            ("?sslmode=verify-full&sslmode=disable", "sslmode is given twice"),
            ("?sslmode=verify-full&ssl-mode=disable", "ssl-mode is given twice"),
            ("#s3cret", "behind #"),
        ] {
            let error = refusal(query);
            assert!(error.contains(named), "{query}: {error}");
        }
    }

    #[test]
    fn a_word_about_encryption_has_an_effect_or_is_refused() {
        for (query, named) in [
            ("?sslmode=allow", "sslmode=allow is never encrypted"),
            ("?sslrootcert=/ca.pem", "sslrootcert has no effect"),
            ("?sslmode=require&sslrootcert=/ca.pem", "sslrootcert has no effect"),
            ("?sslmode=disable&ssl-ca=/ca.pem", "sslrootcert has no effect"),
            ("?sslmode=require&sslcert=/me.pem", "sslcert and sslkey"),
            ("?sslmode=disable&sslcert=/me.pem&sslkey=/me.key", "sslcert has no effect"),
            ("?sslmode=verified", "sslmode=verify-full"),
            ("?host=/run/postgresql&sslmode=verify-full", "a socket of this machine"),
        ] {
            let error = refusal(query);
            assert!(error.contains(named), "{query}: {error}");
        }
        for query in
            ["", "?sslmode=prefer", "?sslmode=verify-full&sslrootcert=/ca.pem", "?host=/run/postgresql"]
        {
            parse(&format!("postgres://me:s3cret@db/tools{query}")).unwrap();
        }
    }
}
