//! The address of a database, and the schema within it.

use std::fmt;

use sqlx::postgres::PgConnectOptions;

use super::url::{AddressError, parse};
use toolwire_base::digest::Digest;

/// How long a statement may take, wait for a lock, or leave its transaction idle, in milliseconds; and what a role, a
/// database or a pooler may set otherwise, by which values would have another text or statements another meaning.
const SETTINGS: [(&str, &str); 9] = [
    ("statement_timeout", "5000"),
    ("lock_timeout", "2000"),
    ("idle_in_transaction_session_timeout", "10000"),
    ("bytea_output", "hex"),
    ("datestyle", "ISO"),
    ("extra_float_digits", "1"),
    ("intervalstyle", "postgres"),
    ("standard_conforming_strings", "on"),
    ("timezone", "UTC"),
];

/// Prepared statements that a connection keeps: more than there are.
const PREPARED: usize = 512;

/// An option of each direct connection, which only a session that received its options has.
pub(super) const IS_DIRECT: &str = "toolwire.is_direct";

/// The longest name that PostgreSQL does not cut.
const MAX_SCHEMA: usize = 63;

/// A database, and the schema of the state in it. Its text has no password.
#[derive(Clone)]
pub struct Address {
    direct: PgConnectOptions,
    /// The pooler before the database, if transactions go through one.
    pooler: Option<PgConnectOptions>,
    schema: String,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?sslmode=verify-full`.
    pub fn new(url: &str, schema: &str) -> Result<Self, AddressError> {
        let is_name = |name: &str| {
            name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_')
                && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
        };
        if !is_name(schema) || schema.len() > MAX_SCHEMA || schema.starts_with("pg_") {
            let form = "a schema is up to 63 lower-case letters, digits and underscores, and begins with no digit and \
                        not with pg_";
            return Err(AddressError::new(format!("{form}: {schema:?} is none")));
        }
        Ok(Self { direct: parse(url)?, pooler: None, schema: schema.to_owned() })
    }

    /// The same state, whose transactions go through a pooler with an address of its own.
    pub fn behind_pooler(self, url: &str) -> Result<Self, AddressError> {
        Ok(Self { pooler: Some(parse(url)?), ..self })
    }

    /// The commands that copy the state and put a copy back, for operators.
    pub fn backup_hint(&self) -> String {
        let (host, port, database) = (self.direct.get_host(), self.direct.get_port(), self.database());
        let (user, schema) = (self.user(), &self.schema);
        let place = format!("-h {host} -p {port} -U {user} -d {database}");
        format!(
            "`pg_dump {place} -n {schema} -Fc -f state.dump` copies all of it, large documents included, also while \
             servers use it; `pg_restore {place} state.dump` puts it back where the schema is not"
        )
    }

    pub(super) fn schema(&self) -> &str {
        &self.schema
    }

    pub(super) fn user(&self) -> &str {
        self.direct.get_username()
    }

    pub(super) fn database(&self) -> &str {
        self.direct.get_database().unwrap_or_else(|| self.user())
    }

    pub(super) fn is_pooled(&self) -> bool {
        self.pooler.is_some()
    }

    /// The options of a connection whose statements are bounded, to the pooler if there is one.
    pub(super) fn bounded(&self) -> PgConnectOptions {
        match &self.pooler {
            // It refuses options of a session, which is not the session at the server.
            Some(pooler) => pooler.clone().application_name("toolwire").extra_float_digits(None),
            None => self.unbounded().options(SETTINGS),
        }
    }

    /// The options of a direct connection that may wait for others, to migrate or to listen.
    pub(super) fn unbounded(&self) -> PgConnectOptions {
        let options = self.direct.clone().application_name("toolwire").statement_cache_capacity(PREPARED);
        options.options([("search_path", self.schema.as_str()), (IS_DIRECT, "on")])
    }

    /// The settings that each transaction makes for itself, through a pooler.
    pub(super) fn transaction_settings(&self) -> Option<String> {
        self.pooler.as_ref()?;
        let settings = [("search_path", self.schema.as_str())].into_iter().chain(SETTINGS);
        let settings: Vec<_> = settings.map(|(name, value)| format!("SET LOCAL {name} = {value};")).collect();
        Some(settings.join(" "))
    }

    /// A key for a lock of this state. Equal keys of different names only cost a wait.
    pub(super) fn lock_key(&self, kind: &str, name: &str) -> (i32, i32) {
        (hash(&["toolwire", &self.schema, kind]), hash(&[name]))
    }
}

fn hash(parts: &[&str]) -> i32 {
    let digest = Digest::of_parts(parts.iter().copied());
    let bytes = digest.as_bytes();
    i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_server(f, &self.direct)?;
        write!(f, "/{}, schema {}", self.database(), self.schema)?;
        if let Some(pooler) = &self.pooler {
            f.write_str(", through ")?;
            write_server(f, pooler)?;
        }
        Ok(())
    }
}

fn write_server(f: &mut fmt::Formatter<'_>, options: &PgConnectOptions) -> fmt::Result {
    match options.get_socket() {
        Some(socket) => write!(f, "postgres://{}", socket.display()),
        None => write!(f, "postgres://{}:{}", options.get_host(), options.get_port()),
    }
}

/// Of the same database and schema; users and passwords are not compared.
impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Address {}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_address_has_no_password() {
        let address = Address::new("postgres://me:s3cret@db.example:6432/tools", "toolwire").unwrap();
        assert_eq!(address.to_string(), "postgres://db.example:6432/tools, schema toolwire");
        assert!(!format!("{address:?}").contains("s3cret"));
        let pooled =
            address.behind_pooler("postgres://me:s3cret@pool.example:6433/tools").unwrap().to_string();
        let through = ", through postgres://pool.example:6433";
        assert_eq!(pooled, format!("postgres://db.example:6432/tools, schema toolwire{through}"));
        let refused = Address::new("postgres://me:s3cr#t/@db:x/tools", "toolwire").unwrap_err().to_string();
        assert!(!refused.contains("s3cr") && refused.contains("%40"), "{refused}");
    }

    #[test]
    fn a_schema_is_a_plain_name() {
        for name in ["", "Tools", "1a", "a-b", "pg_tools", "a\"b", &"a".repeat(64)] {
            let refused = Address::new("postgres://me@db/tools", name).unwrap_err().to_string();
            assert!(refused.contains("63 lower-case"), "{name}: {refused}");
        }
        Address::new("postgres://me@db/tools", "tools_2").unwrap();
        Address::new("mysql://me@db/tools", "tools").unwrap_err();
    }
}
