//! See `toolwire_fuzz::sources`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::sources::run(input));
