//! See `toolwire_fuzz::arguments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::arguments::run(input));
