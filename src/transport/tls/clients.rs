//! Client certificates: whose authorities are trusted, the workload that one names, and why a handshake failed.
//!
//! rustls verifies them. The names are read by `webpki`, which verified them: another reader could see another name,
//! and `x509-parser` would bring fifteen crates. Not here: which user a workload is.

use std::{io, sync::Arc};

use rustls::{
    CertificateError as Invalid, Error, RootCertStore, ServerConnection,
    crypto::ring,
    pki_types::CertificateDer,
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};
use webpki::EndEntityCert;

use toolwire_config::ClientAuth;
use toolwire_identity::{Workload, workload_of};

/// Verifies the certificates of clients by these authorities; the error says which cannot be one.
pub(super) fn verifier(
    authorities: Vec<CertificateDer<'static>>,
    client_auth: ClientAuth,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let unusable = |error: &dyn std::error::Error| format!("cannot be an authority of clients: {error}");
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority).map_err(|error| unusable(&error))?;
    }
    let provider = Arc::new(ring::default_provider());
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = match client_auth {
        ClientAuth::Optional => builder.allow_unauthenticated(),
        ClientAuth::Required => builder,
    };
    builder.build().map_err(|error| unusable(&error))
}

/// The workload that the client's certificate names. `None` without one.
pub(crate) fn workload(connection: &ServerConnection) -> Option<Workload> {
    let certificate = EndEntityCert::try_from(connection.peer_certificates()?.first()?);
    Some(workload_of(certificate.iter().flat_map(|it| it.valid_uri_names())))
}

/// The word for logs of what is wrong with a client's certificate. `None` if the handshake failed for another reason.
pub(crate) fn refusal_word(error: &io::Error) -> Option<&'static str> {
    let invalid = match error.get_ref()?.downcast_ref::<Error>()? {
        Error::NoCertificatesPresented => return Some("no_certificate"),
        Error::InvalidCertificate(invalid) => invalid,
        _ => return None,
    };
    Some(match invalid {
        Invalid::Expired | Invalid::ExpiredContext { .. } => "expired_certificate",
        Invalid::NotValidYet | Invalid::NotValidYetContext { .. } => "certificate_not_yet_valid",
        // The latter of an authority that has the name of a trusted one, such as its successor.
        Invalid::UnknownIssuer | Invalid::BadSignature => "certificate_of_unknown_authority",
        Invalid::InvalidPurpose | Invalid::InvalidPurposeContext { .. } => "certificate_not_for_clients",
        _ => "invalid_certificate",
    })
}
