//! See `toolwire_fuzz::queries`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::queries::run(input));
