//! Random points of a test that can be drawn again.

#![allow(clippy::print_stdout, reason = "the seed is to be seen")]

use std::env;

use fastrand::Rng;

/// The variable that names a seed.
const SEED: &str = "TEST_SEED";

/// Draws from the seed that `TEST_SEED` names, or from a new one, which is printed: libtest shows it with the
/// failure.
pub fn draws() -> Rng {
    let seed = env::var(SEED).map_or_else(|_| fastrand::u64(..), |text| text.parse().expect("a seed"));
    println!("{SEED}={seed} draws the same points again");
    Rng::with_seed(seed)
}
