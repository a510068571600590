//! See `toolwire_fuzz::manifests`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::manifests::run(input));
