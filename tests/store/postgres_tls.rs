//! A database that is reached over TLS, and one that is not who it should be. Without PostgreSQL nothing is tested.

use std::{fs, path::Path};

use toolwire::{
    db::{Address, StoreError},
    state::Store,
};

use super::cluster::Cluster;
use crate::support::authority::Authority;

/// The address of the database by a name, which only an authority of a file may vouch for.
fn address(port: u16, host: &str, authority: &Path) -> Address {
    let authority = authority.display();
    let url = format!(
        "postgres://toolwire:s3cret@{host}:{port}/postgres?sslmode=verify-full&sslrootcert={authority}"
    );
    Address::new(&url, "toolwire").unwrap()
}

#[tokio::test]
async fn a_database_is_used_over_tls_if_its_certificate_is_of_the_authority_and_of_its_name() {
    let Some(mut cluster) = Cluster::start(40) else { return };
    let (port, authority, other) = (cluster.port(), Authority::new(), Authority::new());
    let refusal = async |host: &str, by: &Authority| {
        let error = Store::in_postgres(address(port, host, &by.file("ca.pem"))).open().await.unwrap_err();
        assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
        let said = error.to_string();
        assert!(!said.contains("s3cret"), "{said}");
        said
    };
    let said = refusal("localhost", &authority).await;
    assert!(said.contains("TLS"), "{said}");

    authority.sign("localhost");
    cluster.stop();
    for name in ["cert.pem", "key.pem"] {
        cluster.put(name, &fs::read(authority.file(name)).unwrap());
    }
    cluster.set("ssl = on\nssl_cert_file = 'cert.pem'\nssl_key_file = 'key.pem'\n");
    cluster.start_again();
    let store = Store::in_postgres(address(port, "localhost", &authority.file("ca.pem")));
    store.open().await.unwrap();
    store.probe().await.unwrap();
    let said = refusal("localhost", &other).await;
    assert!(said.contains("certificate"), "{said}");
    let said = refusal("127.0.0.1", &authority).await;
    assert!(said.contains("certificate") && said.contains("127.0.0.1"), "{said}");
}
