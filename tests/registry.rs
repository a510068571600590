//! The registry from files to snapshots: what it refuses, derives, checks, reloads and says of its tools.

/// The inline module makes `tests/registry/` the place of its files.
mod registry {
    mod arguments;
    mod guidance;
    mod manifest_schema;
    mod pages;
    mod properties;
    mod quality;
    mod refused;
    mod reload;
    mod schemas;
    mod services;
    mod support;
}
