//! See `toolwire_fuzz::tables`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::tables::run(input));
