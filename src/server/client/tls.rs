//! TLS as a client: which certificates to trust, and in plain words why a connection failed.
//!
//! Not here: the handshake, which is tonic's over rustls.

use std::{error::Error, io, iter::successors, path::Path};

use rustls::{CertificateError, InvalidMessage};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use super::server_url::ServerUrl;
use crate::console::Failure;
use toolwire_outgoing::Authorities;

/// The endpoint with TLS: trusting the authorities in the file, or else those of the platform.
pub(super) fn add(endpoint: Endpoint, ca: Option<&Path>) -> Result<Endpoint, Failure> {
    let config = match ca {
        Some(file) => ClientTlsConfig::new().ca_certificate(authorities(file)?),
        None => ClientTlsConfig::new().with_native_roots(),
    };
    endpoint.tls_config(config).map_err(|error| {
        let cause = causes(&error).last().map(ToString::to_string).unwrap_or_default();
        Failure::Failed(format!("TLS cannot be used: {cause}. Name the authorities to trust with --ca FILE"))
    })
}

fn authorities(file: &Path) -> Result<Certificate, Failure> {
    let authorities =
        Authorities::read(file).map_err(|what| Failure::Usage(format!("--ca {}: {what}", file.display())))?;
    Ok(Certificate::from_pem(authorities.as_pem()))
}

/// Why TLS failed, if it did.
pub(super) fn why(url: &ServerUrl, error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = causes(error).find_map(of_rustls) {
        return Some(in_words(url, error));
    }
    causes(error).any(|cause| cause.to_string().contains("tls handshake eof")).then(|| {
        "the server closed the connection when TLS began; if it does not speak TLS, use http://".to_owned()
    })
}

/// An I/O error does not report the error that it wraps as its source.
fn of_rustls<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let inner = || cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref();
    cause.downcast_ref().or_else(inner)
}

fn in_words(url: &ServerUrl, error: &rustls::Error) -> String {
    use rustls::Error::{InvalidCertificate, InvalidMessage as Garbled};
    match error {
        Garbled(InvalidMessage::InvalidContentType) => {
            format!("the server does not speak TLS: use {}", url.0.replacen("https://", "http://", 1))
        }
        InvalidCertificate(error) => of_certificate(error),
        error => format!("TLS failed: {error}"),
    }
}

fn of_certificate(error: &CertificateError) -> String {
    use CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext, UnknownIssuer,
    };
    match error {
        // An authority of the same name with another key is not trusted either.
        UnknownIssuer | BadSignature => {
            "its certificate is from an authority that is not trusted here. If it is yours, name the \
                          authority's certificate with --ca FILE"
                .to_owned()
        }
        NotValidForName => {
            "its certificate is for another name. Use a name that the certificate has".to_owned()
        }
        NotValidForNameContext { presented, .. } => {
            format!("its certificate is for another name. Use one that it has: {}", presented.join(", "))
        }
        Expired | ExpiredContext { .. } => "its certificate has expired".to_owned(),
        NotValidYet | NotValidYetContext { .. } => {
            "its certificate is not valid yet; is the clock of this machine right?".to_owned()
        }
        error => format!("its certificate is not accepted: {error}"),
    }
}

/// An error and the chain of its sources.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |&cause| cause.source())
}

/// The address with `https://`.
pub(super) fn https_url(url: &ServerUrl) -> String {
    url.0.replacen("http://", "https://", 1)
}
