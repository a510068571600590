//! The address of the database that has the state, and of the pooler before it.

use secrecy::{ExposeSecret, SecretString};

use super::{Reader, Setting};
use toolwire_db::{Address, AddressError};

/// The address, if the state is in a database.
pub(super) fn read(reader: &mut Reader) -> Option<Address> {
    let url = url(reader, "state.url", "TOOLWIRE_STATE_URL");
    let schema = Setting::new("state.schema", "TOOLWIRE_STATE_SCHEMA");
    let schema = reader.value(schema, "toolwire".to_owned());
    let is_pooled = reader.value(Setting::new("state.pooled", "TOOLWIRE_STATE_POOLED"), false);
    let direct = self::url(reader, "state.direct_url", "TOOLWIRE_STATE_DIRECT_URL");
    if url.is_some() && reader.is_set("state.dir") {
        let what = "expected url or dir, not both: a state is in PostgreSQL or in a directory; remove one";
        reader.problem("state.url", what);
    }
    match (url, is_pooled, direct) {
        (Some(url), false, None) => url.check(reader, |url| Address::new(url, &schema)),
        (Some(url), true, Some(direct)) => {
            let address = direct.check(reader, |direct| Address::new(direct, &schema))?;
            url.check(reader, |url| address.behind_pooler(url))
        }
        (_, false, Some(direct)) => {
            let what = "it is used with pooled = true only; add that to [state], or remove this";
            reader.problem(&direct.key, what);
            None
        }
        (Some(_), true, None) => {
            let what = "expected direct_url or direct_url_env beside it, the address of the database itself: locks of a \
                        process and notifications do not pass through a pooler";
            reader.problem("state.pooled", what);
            None
        }
        (None, true, _) => {
            reader.problem("state.pooled", "expected url or url_env beside it, the address of the pooler");
            None
        }
        (None, false, None) => None,
    }
}

/// An address, and the key that it was read from.
struct Url {
    key: String,
    url: SecretString,
}

impl Url {
    fn check<T>(&self, reader: &mut Reader, read: impl FnOnce(&str) -> Result<T, AddressError>) -> Option<T> {
        read(self.url.expose_secret()).map_err(|error| reader.problem(&self.key, error.to_string())).ok()
    }
}

/// Reads an address, or the name of a variable that has it.
fn url(reader: &mut Reader, key: &str, variable: &str) -> Option<Url> {
    let of_variable = format!("{key}_env");
    let url: Option<SecretString> = reader.optional(Setting::new(key, variable), None);
    let named = Setting::new(&*of_variable, format!("{variable}_ENV"));
    let named: Option<String> = reader.optional(named, None);
    match (url, named) {
        (None, None) => None,
        (Some(_), Some(_)) => {
            let name = key.trim_start_matches("state.");
            reader.problem(&of_variable, format!("expected {name} or {name}_env, not both; remove one"));
            None
        }
        (Some(url), None) => Some(Url { key: key.to_owned(), url }),
        (None, Some(name)) => {
            let url = reader.variable(&name);
            if url.is_none() {
                let what = format!("the variable {name} is not set; set it to the address");
                reader.problem(&of_variable, what);
            }
            Some(Url { key: of_variable, url: url?.into() })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Flags, testing::load_text};

    const URL: &str = "[state]\nurl = \"postgres://me:s3cret@db/tools\"\n";

    #[track_caller]
    fn refusal(file: &str, variables: &[(&str, &str)]) -> String {
        let error = load_text(file, variables, Flags::default(), &[]).unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
        error
    }

    #[test]
    fn a_state_is_in_a_database_or_in_a_directory() {
        load_text(URL, &[], Flags::default(), &[]).unwrap();
        let both = format!("{URL}dir = \"/var/lib/toolwire\"\n");
        for (file, variables) in [(both.as_str(), &[][..]), (URL, &[("TOOLWIRE_STATE", "/var/lib/toolwire")])]
        {
            let error = refusal(file, variables);
            assert!(error.contains("expected url or dir, not both"), "{error}");
        }
    }

    #[test]
    fn a_pooler_and_the_address_of_the_database_are_set_together() {
        let direct = ("TOOLWIRE_STATE_DIRECT_URL_ENV", "DIRECT");
        let is = ("DIRECT", "postgres://me:s3cret@direct/tools");
        let pooled = ("TOOLWIRE_STATE_POOLED", "true");
        let loaded = load_text(URL, &[direct, is, pooled], Flags::default(), &[]).unwrap();
        let address = loaded.config.state.database.unwrap().to_string();
        assert_eq!(address, "postgres://direct:5432/tools, schema toolwire, through postgres://db:5432");
        let refused = |variables: &[_], with: &str| {
            let error = refusal(URL, variables);
            assert!(error.contains(with), "{error}");
        };
        refused(&[pooled], "expected direct_url or direct_url_env beside it");
        refused(&[direct, is], "pooled = true only");
        refused(&[direct, pooled], "the variable DIRECT is not set");
        refused(&[direct, ("DIRECT", "s3cret"), pooled], "postgres://user@host/database");
        assert!(refusal("", &[direct, is, pooled]).contains("expected url or url_env beside it"));
    }
}
