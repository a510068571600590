//! Nothing but the features in its `Cargo.toml`.
