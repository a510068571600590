//! See `toolwire_fuzz::sanitiser`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::sanitiser::run(input));
