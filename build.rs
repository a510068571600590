//! Tells build scripts of dependents where the contract is (`DEP_TOOLWIRE_PROTO`): cargo tells direct dependents only.

fn main() {
    println!("cargo::rerun-if-env-changed=DEP_TOOLWIRE_CONTRACT_PROTO");
    if let Ok(proto) = std::env::var("DEP_TOOLWIRE_CONTRACT_PROTO") {
        println!("cargo::metadata=PROTO={proto}");
    }
}
