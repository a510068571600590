//! The authorities that a client trusts, and the certificate by which it proves itself.

use std::path::Path;

use super::servers::{Authority, Conduct, NAME, Proxy, pem_file};
use crate::{
    Authorities, ClientCertificate, ClientCertificateError, PemError, Trust, causes_of,
    is_of_unknown_authority,
};

async fn ask(
    authority: &Authority,
    demands: bool,
    trust: Trust,
    own: Option<ClientCertificate>,
) -> Result<(), String> {
    let proxy = Proxy::start(Conduct::Tunnel(authority.serve(demands).await)).await;
    let egress = proxy.egress().with_authorities(authority.authorities());
    let builder = egress.builder_presenting(trust, own.as_ref());
    let sent = builder.build().unwrap().get(format!("https://{NAME}/")).send().await;
    sent.map(drop).map_err(|error| format!("{}; {}", causes_of(&error), is_of_unknown_authority(&error)))
}

#[tokio::test]
async fn a_server_is_trusted_by_the_authorities_of_all_or_by_its_own_alone() {
    let (authority, other) = (Authority::new(), Authority::new());
    assert_eq!(ask(&authority, false, Trust::System, None).await, Ok(()));
    assert_eq!(ask(&authority, false, Trust::Only(authority.authorities()), None).await, Ok(()));
    let refused = ask(&authority, false, Trust::Only(other.authorities()), None).await.unwrap_err();
    assert!(refused.contains("invalid peer certificate") && refused.ends_with("; true"), "{refused}");
}

#[tokio::test]
async fn a_server_that_demands_a_certificate_gets_it() {
    let (authority, other) = (Authority::new(), Authority::new());
    let own = authority.client_certificate();
    assert!(!format!("{own:?}").contains("KEY"));
    assert_eq!(ask(&authority, true, Trust::System, Some(own)).await, Ok(()));
    for wrong in [None, Some(other.client_certificate())] {
        let refused = ask(&authority, true, Trust::System, wrong).await.unwrap_err();
        assert!(refused.ends_with("; false"), "{refused}");
    }
}

#[test]
fn a_file_without_certificates_is_refused() {
    for nothing in ["", "no PEM", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
        assert_eq!(Authorities::read(pem_file(nothing).path()), Err(PemError::NoCertificate), "{nothing}");
    }
    let good = Authority::new().authorities();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let good = str::from_utf8(good.as_pem()).unwrap();
    let error = Authorities::read(pem_file(&format!("{good}{broken}")).path()).unwrap_err();
    assert!(matches!(error, PemError::Unusable { number: 2, .. }), "{error}");
    let marked = pem_file(&format!("\u{feff}{good}"));
    assert!(Authorities::read(marked.path()).is_ok());
    assert!(matches!(Authorities::read(Path::new("away.pem")), Err(PemError::Unreadable(_))));
}

#[test]
fn a_certificate_and_a_key_belong_together() {
    let authority = Authority::new();
    let ((certificate, key), (_, other)) = (authority.sign("one"), authority.sign("other"));
    let of = |certificate: &str, key: &str| {
        ClientCertificate::read(pem_file(certificate).path(), pem_file(key).path()).map(drop)
    };
    assert_eq!(of(&certificate, &key), Ok(()));
    assert_eq!(of(&certificate, &other), Err(ClientCertificateError::OtherKey));
    assert_eq!(of(&certificate, &certificate), Err(ClientCertificateError::NoKey));
    assert_eq!(of(&key, &key), Err(ClientCertificateError::Certificate(PemError::NoCertificate)));
}
