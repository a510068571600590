//! See `toolwire_fuzz::paths`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::paths::run(input));
