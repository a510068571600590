//! Currencies as they stand beside digits: `$5`, `₹ 5`, `Rs. 5`, `5 USD`, `5 crore rupees`.

/// A currency: the letters of its code, or a sign that is of none here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ground) struct Currency(u32);

/// By code: the signs and words for it. A sign of another currency is its own.
const NAMES: &[(&str, &[&str])] = &[
    ("USD", &["$", "us$", "us", "dollar", "dollars"]),
    ("INR", &["₹", "rs", "re", "rupee", "rupees"]),
    ("EUR", &["€", "euro", "euros"]),
    ("GBP", &["£", "pound", "pounds", "sterling"]),
    ("JPY", &["¥", "yen"]),
    ("CHF", &["franc", "francs"]),
    ("CNY", &["yuan", "renminbi"]),
    ("AUD", &[]),
    ("CAD", &[]),
    ("HKD", &[]),
    ("SGD", &[]),
    ("AED", &["dirham", "dirhams"]),
];

/// The longest name, in letters.
const LONGEST: usize = 8;

impl Currency {
    /// The currency of a code of three letters, as a field holds it.
    pub(super) fn of_code(code: &str) -> Option<Self> {
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        is_code.then(|| Self(code.bytes().fold(0, |all, byte| all << 8 | u32::from(byte))))
    }

    /// The currency of a sign, a word or a code in any letters.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let is = |it: &&str| it.eq_ignore_ascii_case(name);
        let known = NAMES.iter().find(|(code, names)| is(code) || names.iter().any(&is));
        known.and_then(|(code, _)| Self::of_code(code)).or_else(|| {
            let mut chars = name.chars();
            let sign = chars.next().filter(|c| is_sign(*c) && chars.next().is_none())?;
            Some(Self(u32::from(sign)))
        })
    }

    /// The currency right before digits, and where it begins.
    pub(super) fn before(text: &str) -> Option<(Self, usize)> {
        let text = text.strip_suffix(['-', '+', '−']).unwrap_or(text);
        let text = text.strip_suffix([' ', '\u{a0}']).unwrap_or(text);
        let sign = text.chars().next_back().filter(|c| is_sign(*c));
        if let Some(sign) = sign {
            let before = &text[..text.len() - sign.len_utf8()];
            // `A$5` are other dollars.
            let letters = trailing_letters(before);
            let is_plain = letters.is_empty() || letters.eq_ignore_ascii_case("us");
            let currency =
                if is_plain { Self::of_name(sign.encode_utf8(&mut [0; 4]))? } else { Self::other(letters) };
            return Some((currency, before.len() - letters.len()));
        }
        let text = text.strip_suffix('.').unwrap_or(text);
        let letters = trailing_letters(text);
        // `us` is a word too.
        let is_name = !matches!(letters, "" | "us" | "re");
        Some((Self::of_name(letters).filter(|_| is_name)?, text.len() - letters.len()))
    }

    /// Dollars, or what has this sign, of a country.
    fn other(letters: &str) -> Self {
        Self(
            letters.bytes().fold(u32::from('$'), |all, byte| all << 8 | u32::from(byte.to_ascii_uppercase())),
        )
    }

    /// The currency behind digits and what multiplies them, and how much it takes.
    pub(super) fn behind(text: &str) -> Option<(Self, usize)> {
        let rest = text.strip_prefix([' ', '-', '\u{a0}']).unwrap_or(text);
        let gap = text.len() - rest.len();
        if let Some(sign) = rest.chars().next().filter(|c| is_sign(*c)) {
            // `5 $6` are two amounts.
            let goes_on = rest[sign.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
            let currency = Self::of_name(sign.encode_utf8(&mut [0; 4])).filter(|_| !goes_on)?;
            return Some((currency, gap + sign.len_utf8()));
        }
        let end = rest.bytes().take(LONGEST + 1).take_while(u8::is_ascii_alphabetic).count();
        let word = &rest[..end];
        let is_word = !rest[end..].starts_with(char::is_alphanumeric);
        // A code in small letters or a short word may be anything else.
        let is_name = word.len() > 3 || word.bytes().all(|byte| byte.is_ascii_uppercase());
        let currency = Self::of_name(word).filter(|_| is_word && is_name && word.len() > 2)?;
        Some((currency, gap + end))
    }
}

/// Every currency that a text names, beside digits or not.
pub(super) fn named(text: &str) -> impl Iterator<Item = Currency> {
    let signs =
        text.chars().filter(|c| is_sign(*c)).filter_map(|c| Currency::of_name(c.encode_utf8(&mut [0; 4])));
    let words =
        text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| (3..=LONGEST).contains(&word.len()));
    signs.chain(words.filter_map(Currency::of_name))
}

/// Whether a character is the sign of a currency.
fn is_sign(c: char) -> bool {
    matches!(c, '$' | '£' | '¤' | '¥' | '\u{20a0}'..='\u{20cf}')
}

/// The last letters of a text, at most as many as a name has.
fn trailing_letters(text: &str) -> &str {
    let count = text.bytes().rev().take(LONGEST + 1).take_while(u8::is_ascii_alphabetic).count();
    if count > LONGEST { "" } else { &text[text.len() - count..] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_found_on_either_side_of_digits() {
        let usd = Currency::of_code("USD");
        let before = |text| Currency::before(text).map(|(currency, _)| currency);
        let behind = |text| Currency::behind(text).map(|(currency, _)| currency);
        for text in ["$", "It is US$", "-$", "USD ", "usd", "$ "] {
            assert_eq!(before(text), usd, "{text}");
        }
        for text in [" USD", " dollars.", "-dollar", "$"] {
            assert_eq!(behind(text), usd, "{text}");
        }
        let inr = Currency::of_code("INR");
        assert_eq!([before("Rs. "), before("₹"), behind(" rupees")], [inr; 3]);
        assert_eq!(Currency::before("It is US$ ").map(|(_, start)| start), Some(6));
        for none in ["tell us ", "AAPL ", "", "about "] {
            assert_eq!(before(none), None, "{none}");
        }
        for none in [" ITC", " usd", " $5", " shares", ""] {
            assert_eq!(behind(none), None, "{none}");
        }
        assert!(before("A$").is_some_and(|it| Some(it) != usd));
        assert_eq!(named("prices in US dollars, ₹ and CHF").count(), 3);
    }
}
