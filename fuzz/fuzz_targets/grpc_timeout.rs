//! See `toolwire_fuzz::grpc_timeout`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| toolwire_fuzz::grpc_timeout::run(input));
