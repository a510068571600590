//! The header `grpc-timeout` against its grammar, written once more in another way.

use std::time::Duration;

use toolwire::transport::grpc_timeout::parse;

/// Reads a value.
pub fn run(input: &[u8]) {
    assert_eq!(parse(input).ok(), by_grammar(input));
}

/// One to eight digits, and a unit.
fn by_grammar(input: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(input).ok()?;
    let unit = text.chars().last().filter(char::is_ascii)?;
    let digits = &text[..text.len() - 1];
    let is_amount = (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let amount: u64 = digits.parse().ok().filter(|_| is_amount)?;
    let nanos_each: u64 = match unit {
        'H' => 3_600_000_000_000,
        'M' => 60_000_000_000,
        'S' => 1_000_000_000,
        'm' => 1_000_000,
        'u' => 1_000,
        'n' => 1,
        _ => return None,
    };
    let nanos = u128::from(amount) * u128::from(nanos_each);
    let seconds = u64::try_from(nanos / 1_000_000_000).expect("8 digits of hours");
    Some(Duration::new(seconds, u32::try_from(nanos % 1_000_000_000).expect("less than a second")))
}
