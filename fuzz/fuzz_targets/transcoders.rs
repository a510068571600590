//! See `toolwire_fuzz::transcoders`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::transcoders::run(input));
