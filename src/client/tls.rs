//! TLS as a client: whom to trust, and in plain words why a connection did not come about.
//!
//! Not here: the handshake, which is tonic's over rustls.

use std::{error::Error, fs, io, iter::successors, path::Path, time::Duration};

use rustls::{
    CertificateError, InvalidMessage,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use super::server_url::ServerUrl;
use crate::console::Failure;

/// How HTTP/2 begins: the preface and an empty SETTINGS frame (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// How much of an answer is looked at, in bytes, and for how long it is waited for.
const ANSWER: (usize, Duration) = (1_024, Duration::from_secs(1));
/// The first byte of a TLS alert.
const ALERT: u8 = 0x15;

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
    let wrong = |what: String| Failure::Usage(format!("--ca {}: {what}", file.display()));
    let pem = fs::read(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    match CertificateDer::pem_slice_iter(&pem).next() {
        Some(Ok(_)) => Ok(Certificate::from_pem(pem)),
        _ => Err(wrong("holds no certificate in PEM (-----BEGIN CERTIFICATE-----)".to_owned())),
    }
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

/// An I/O error does not name what it wraps as its source.
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

/// The error and what it comes from, in order.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |&cause| cause.source())
}

/// Whether the server that was asked in plain text wants TLS. Asks it once more, to see how it refuses.
pub(super) async fn is_expected_at(url: &ServerUrl) -> bool {
    let (bytes, bound) = ANSWER;
    let mut answer = Vec::with_capacity(bytes);
    // What came within the bound is looked at, however the waiting ends.
    let _ = timeout(bound, ask(url, &mut answer)).await;
    is_tls(&answer)
}

/// The address with `https://`.
pub(super) fn encrypted(url: &ServerUrl) -> String {
    url.0.replacen("http://", "https://", 1)
}

async fn ask(url: &ServerUrl, answer: &mut Vec<u8>) -> io::Result<()> {
    let authority = url.0.trim_start_matches("http://").trim_end_matches('/');
    let address = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(PREFACE).await?;
    while answer.len() < ANSWER.0 && !is_tls(answer) && stream.read_buf(answer).await? > 0 {}
    Ok(())
}

/// A TLS server answers plain text with an alert, or with words: ours in GOAWAY, others over HTTP/1.1.
fn is_tls(answer: &[u8]) -> bool {
    let says = |word: &[u8]| answer.windows(word.len()).any(|it| it == word);
    answer.first() == Some(&ALERT) || says(b"TLS") || says(b"HTTPS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_plain_text_is_told_from_other_answers() {
        for yes in [
            &b"\x15\x03\x01\x00\x02\x02\x46"[..],
            b"HTTP/1.1 400 Bad Request\r\n\r\nThe plain HTTP request was sent to HTTPS port",
            b"\0\0\0\x04\0\0\0\0\0\0\0\x2b\x07\0\0\0\0\0\0\0\0\0\0\0\0\x0cThis port speaks TLS",
        ] {
            assert!(is_tls(yes), "{yes:?}");
        }
        for no in [&b""[..], b"HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n", b"\0\0\x06\x04\0\0\0\0\0"] {
            assert!(!is_tls(no), "{no:?}");
        }
    }
}
