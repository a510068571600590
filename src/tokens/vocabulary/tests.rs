//! Counts as `bpe-openai` has them, and each token of the vocabulary.

use super::*;

/// Words, gaps and signs at random, in an order that is always the same.
fn texts() -> impl Iterator<Item = String> {
    let parts = concat!(
        "the| of|Tool|wire|HTTP|'s|'LL|ß|é|日本|語|🙂|\u{301}|0|2026| |  |\n|\r\n|\t|\u{3000}|.|, |://|{\"|_|",
        "aaaaaaaaaaaaaaaa|XyZ|\u{7f}|Ǆ|ⅷ|-",
    );
    let parts: Vec<_> = parts.split('|').collect();
    let mut state = 1_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    (0..2_000).map(move |_| (0..next(60)).map(|_| parts[next(parts.len())]).collect())
}

#[test]
fn tokens_are_those_of_bpe_openai() {
    let vocabulary = Vocabulary::get();
    let digest =
        texts().flat_map(|text| vocabulary.lengths(&text)).fold((0, 0_u64), |(number, sum), length| {
            (number + 1, sum.wrapping_mul(31).wrapping_add(length as u64))
        });
    assert_eq!(digest, (69_688, 14_298_334_376_549_213_347), "as bpe-openai 0.3.2 counts them");
}

#[test]
fn a_text_is_within_as_many_tokens_as_are_counted() {
    let vocabulary = Vocabulary::get();
    for text in texts() {
        let lengths = vocabulary.lengths(&text);
        assert_eq!(vocabulary.count(&text), lengths.len());
        assert_eq!(lengths.iter().sum::<usize>(), text.len());
        assert!(vocabulary.within(&text, lengths.len()));
        assert!(lengths.is_empty() || !vocabulary.within(&text, lengths.len() - 1), "{text}");
    }
}

#[test]
fn each_token_is_itself_and_begins_with_its_prefix() {
    let vocabulary = Vocabulary::get();
    for token in 0..u32::try_from(vocabulary.rank.len()).unwrap() {
        let bytes = vocabulary.token(token);
        assert_eq!(vocabulary.longest(bytes), Some(token));
        assert_eq!(Merge::of(vocabulary, bytes, usize::MAX).tokens, [token]);
        let prefix = vocabulary.token(vocabulary.prefix[token as usize]);
        assert!(bytes.starts_with(prefix) && (prefix.len() < bytes.len() || bytes.len() == 1));
    }
    let singles = vocabulary.singles.map(|token| vocabulary.token(token));
    assert!((0..=u8::MAX).zip(singles).all(|(byte, single)| single == [byte]));
}
