//! Identity providers whose tokens are accepted: `[[auth.issuers]]`.
//!
//! Not here: what a token of one must be, and how its keys are fetched.

use super::{EntryNames, token_settings};
use crate::{fields::Fields, reader::Reader, value::Value};
use toolwire_identity::{ClaimPath, Issuer, KeyUse};

/// The longest name of an issuer: the ids of its users begin with it.
const LONGEST_NAME: usize = 32;

pub(super) fn read_all(reader: &mut Reader) -> (Vec<Issuer>, EntryNames) {
    let (mut issuers, mut names) = (Vec::<Issuer>::new(), EntryNames::default());
    for mut entry in reader.list("auth.issuers") {
        let (name, issuer) = read(&mut entry);
        names.add(name);
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
    let user = claim(entry, "user");
    let (email, groups) = (claim(entry, "email"), claim(entry, "groups"));
    let tokens = token_settings::read(entry, KeyUse::Signature, issuer.as_deref());

    if name.as_deref().is_some_and(|name| !is_name(name)) {
        entry.problem(format!("name must be of a-z, 0-9, _ and -, at most {LONGEST_NAME} characters"));
    }
    let user = user.unwrap_or_else(|| "sub".parse().expect("it is a claim"));
    Some(Issuer { name: name?, issuer: issuer?, user, email, groups, tokens: tokens? })
}

fn claim(entry: &mut Fields, name: &'static str) -> Option<ClaimPath> {
    let text = entry.optional::<String>(name)?;
    text.parse().map_err(|what| entry.problem(format!("{name}: {what}"))).ok()
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(fits)
}

fn shown(issuer: &Issuer) -> Vec<(&'static str, String)> {
    let claim = |path: &ClaimPath| path.as_str().to_owned().to_toml();
    let mut shown = vec![
        ("name", issuer.name.to_toml()),
        ("issuer", issuer.issuer.to_toml()),
        ("user", claim(&issuer.user)),
    ];
    shown.extend(issuer.email.as_ref().map(|path| ("email", claim(path))));
    shown.extend(issuer.groups.as_ref().map(|path| ("groups", claim(path))));
    shown.extend(token_settings::shown(&issuer.tokens));
    shown
}
