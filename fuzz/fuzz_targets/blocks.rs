//! See `toolwire_fuzz::blocks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::blocks::run(input));
