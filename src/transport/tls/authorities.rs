//! Authorities of client certificates that are not valid now: they are trusted all the same, as X.509 leaves to who
//! trusts them, and the operator is warned. To refuse them would end a mesh at the moment in which its authority
//! expires.

use std::{
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use rustls::pki_types::{CertificateDer, UnixTime};
use webpki::{EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};

use toolwire_base::{clock, words::visible};

/// The longest name of an authority in the log, in characters.
const MAX_NAME: usize = 128;

/// Warns of the authorities of a file that are not valid at a time.
pub(super) fn warn_of_invalid(file: &Path, authorities: &[CertificateDer<'_>], now: UnixTime) {
    for (index, authority) in authorities.iter().enumerate() {
        let Some(why) = why_invalid(authority, now) else { continue };
        tracing::warn!(
            file = %file.display(), certificate = index + 1, subject = subject_of(authority), why,
            "an authority of client certificates is not valid now; what it signed is accepted all the same"
        );
    }
}

/// `it expired at 2026-01-15T10:00:00Z`; `None` of one that is valid.
fn why_invalid(authority: &CertificateDer<'_>, now: UnixTime) -> Option<String> {
    let at = |time: UnixTime| {
        let time = UNIX_EPOCH.checked_add(Duration::from_secs(time.as_secs()));
        time.map_or_else(|| "another time".to_owned(), clock::rfc3339)
    };
    // Its dates are looked at first. That it is no certificate of a client, and is not signed by another, is usual.
    let certificate = EndEntityCert::try_from(authority).ok()?;
    let verified = certificate.verify_for_usage(&[], &[], &[], now, KeyUsage::client_auth(), None, None);
    match verified {
        Err(Error::CertExpired { not_after, .. }) => Some(format!("it expired at {}", at(not_after))),
        Err(Error::CertNotValidYet { not_before, .. }) => {
            Some(format!("it is valid from {} on", at(not_before)))
        }
        _ => None,
    }
}

/// The organisation and the common name of an authority, as far as it has them.
fn subject_of(authority: &CertificateDer<'_>) -> String {
    let Ok(anchor) = anchor_from_trusted_cert(authority) else { return "unknown".to_owned() };
    let parts = [("O", 10), ("CN", 3)].map(|(name, kind)| {
        let value = attribute(anchor.subject.as_ref(), kind)?;
        Some(format!("{name}={value}"))
    });
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "without a name".to_owned() } else { parts.join(", ") }
}

/// The first attribute `2.5.4.kind` of a name in DER, if it has fewer than 128 bytes (X.520 allows 64).
fn attribute(name: &[u8], kind: u8) -> Option<String> {
    let identifier = [6, 3, 0x55, 4, kind];
    let at = name.windows(identifier.len()).position(|window| window == identifier)? + identifier.len();
    let (&length, value) = name.get(at + 1..)?.split_first()?;
    let value = value.get(..usize::from(length)).filter(|_| length < 0x80)?;
    let text: String = String::from_utf8_lossy(value).chars().take(MAX_NAME).collect();
    Some(visible(&text))
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, date_time_ymd};

    use super::*;

    fn authority(from: i32, until: i32, name: &[(DnType, &str)]) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, value) in name {
            params.distinguished_name.push(kind.clone(), *value);
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn what_is_wrong_with_the_dates_of_an_authority_is_told_with_its_name() {
        // The first hour of 2026.
        let now = UnixTime::since_unix_epoch(Duration::from_hours(490_896));
        let name = [(DnType::OrganizationName, "SPIFFE\u{202e}"), (DnType::CommonName, "Riley's CA")];
        let why = |from, until| why_invalid(&authority(from, until, &name), now);
        assert_eq!(why(2000, 2027), None);
        assert_eq!(why(2000, 2025).unwrap(), "it expired at 2025-01-01T00:00:00Z");
        assert_eq!(why(2027, 2030).unwrap(), "it is valid from 2027-01-01T00:00:00Z on");
        assert_eq!(subject_of(&authority(2000, 2025, &name)), "O=SPIFFE\\u{202e}, CN=Riley's CA");
        assert_eq!(subject_of(&authority(2000, 2025, &name[1..])), "CN=Riley's CA");
        assert_eq!(subject_of(&authority(2000, 2025, &[])), "without a name");
        assert_eq!(why_invalid(&CertificateDer::from(vec![0x30, 0]), now), None);
    }
}
