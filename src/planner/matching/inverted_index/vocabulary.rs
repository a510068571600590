//! The words of tools by number: each is stemmed once, and synonyms are one.

use foldhash::HashMap;

use crate::matching::{
    lexicon::Words,
    words::{is_filler, is_stop, stem},
};

/// A term by its number: a stem, or some of them side by side.
pub(crate) type Term = u32;

/// What has no number.
pub(super) const NONE: Term = Term::MAX;

/// What stands for a name among the words around it.
pub(super) const NAME: Term = 0;

/// A term, and whether it stands in questions of every kind.
pub(crate) type Token = (Term, bool);

/// Terms side by side, filled up with `NONE`.
pub(crate) type Group = [Term; 3];

/// Every term of the tools, and what stands for which.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    stems: HashMap<String, Term>,
    groups: HashMap<Group, Term>,
    written: HashMap<String, Token>,
    /// By the first term of a phrase: all its terms, and what stands for it. The longest first.
    synonyms: HashMap<Term, Vec<(Vec<Term>, Term)>>,
    kinds: Vec<Kind>,
    /// The term of `and`.
    and: Term,
}

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    /// A word that changes nothing of what is asked.
    Filler,
    /// Two words side by side, none of them a stop word.
    Pair,
    /// Two words as they stand.
    Loose,
    /// Three words as they stand.
    Triple,
}

impl Vocabulary {
    /// With the words of the lexicons, and the sign of names.
    pub(super) fn new(lexicon: &Words) -> Self {
        let mut new = Self::default();
        let name = new.stem("@");
        debug_assert_eq!(name, NAME, "it is the first one");
        new.and = new.stem("and");
        for (phrase, word) in &lexicon.synonyms {
            let terms: Vec<_> = phrase.iter().map(|term| new.stem(term)).collect();
            let word = new.stem(word);
            new.synonyms.entry(terms[0]).or_default().push((terms, word));
        }
        for phrases in new.synonyms.values_mut() {
            phrases.sort_by_key(|(terms, _)| std::cmp::Reverse(terms.len()));
        }
        new
    }

    /// How many terms there are.
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The number of a stem, a new one if it has none.
    pub(super) fn stem(&mut self, stem: &str) -> Term {
        if let Some(term) = self.stems.get(stem) {
            return *term;
        }
        let term = self.next(if is_filler(stem) { Kind::Filler } else { Kind::Word });
        self.stems.insert(stem.to_owned(), term);
        term
    }

    /// The number of terms without stop words side by side, a new one if they have none.
    pub(super) fn pair(&mut self, left: Term, right: Term) -> Term {
        self.group(pair(left, right), Kind::Pair)
    }

    /// The number of terms as they stand side by side, a new one if they have none.
    pub(super) fn standing(&mut self, group: Group) -> Term {
        self.group(group, if group[2] == NONE { Kind::Loose } else { Kind::Triple })
    }

    fn group(&mut self, group: Group, kind: Kind) -> Term {
        if let Some(term) = self.groups.get(&group) {
            return *term;
        }
        let term = self.next(kind);
        self.groups.insert(group, term);
        term
    }

    fn next(&mut self, kind: Kind) -> Term {
        self.kinds.push(kind);
        Term::try_from(self.kinds.len() - 1).expect("a language has fewer words")
    }

    /// Of the shares of a word, of two side by side, of two and of three as they stand, that of a term.
    pub(super) fn share(&self, term: Term, [word, pair, loose, triple]: [f32; 4]) -> f32 {
        match self.kinds[term as usize] {
            Kind::Word | Kind::Filler => word,
            Kind::Pair => pair,
            Kind::Loose => loose,
            Kind::Triple => triple,
        }
    }

    /// What a word of a tool's text is found by.
    pub(super) fn read(&mut self, word: &str) -> Token {
        if let Some(token) = self.written.get(word) {
            return *token;
        }
        let token = (self.stem(&stem(word)), is_stop(&word.to_lowercase()));
        self.written.insert(word.to_owned(), token);
        token
    }

    /// Whether a tool's text has a word just so.
    pub(super) fn has_written(&self, word: &str) -> bool {
        self.written.contains_key(word)
    }

    pub(super) fn find(&self, stem: &str) -> Option<Term> {
        self.stems.get(stem).copied()
    }

    /// The number of terms side by side.
    pub(super) fn find_group(&self, group: Group) -> Option<Term> {
        self.groups.get(&group).copied()
    }

    /// Words as they are written in tools, those in small letters.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &str> {
        let is_plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
        self.written.keys().map(String::as_str).filter(is_plain)
    }

    /// What a text is about: its terms without stop words, what stands for a phrase in its place; each with the place
    /// of its first word.
    pub(crate) fn content(&self, tokens: &[Token]) -> Vec<(Term, usize)> {
        let said = self.with_synonyms(tokens).into_iter();
        said.filter(|((_, is_stop), _)| !is_stop).map(|((term, _), at)| (term, at)).collect()
    }

    /// The tokens with what stands for a phrase in its place, each with the place of its first word.
    pub(super) fn with_synonyms(&self, tokens: &[Token]) -> Vec<(Token, usize)> {
        let (mut all, mut at) = (Vec::with_capacity(tokens.len()), 0);
        while at < tokens.len() {
            let (token, length) =
                self.synonym(&tokens[at..]).map_or((tokens[at], 1), |(length, word)| ((word, false), length));
            all.push((token, at));
            at += length;
        }
        all
    }

    /// Whether the tokens are a phrase that something stands for.
    pub(super) fn is_phrase(&self, tokens: &[Token]) -> bool {
        self.synonym(tokens).is_some_and(|(length, _)| length == tokens.len())
    }

    /// The phrase of synonyms that stands at the beginning: how long it is, and what stands for it.
    fn synonym(&self, tokens: &[Token]) -> Option<(usize, Term)> {
        let phrases = self.synonyms.get(&tokens.first()?.0)?;
        let stands = |(phrase, _): &&(Vec<Term>, Term)| {
            phrase.len() <= tokens.len() && phrase.iter().zip(tokens).all(|(term, token)| *term == token.0)
        };
        phrases.iter().find(stands).map(|(phrase, word)| (phrase.len(), *word))
    }

    /// A text as it stands, with what stands for a phrase in its place.
    pub(super) fn standing_terms(&self, tokens: &[Token]) -> Vec<Token> {
        self.with_one_name(self.with_synonyms(tokens).into_iter().map(|(token, _)| token))
    }

    /// Tokens, those of names as one, also where `and` joins them: `the price of Acme and Initech`.
    fn with_one_name(&self, tokens: impl Iterator<Item = Token>) -> Vec<Token> {
        let mut all: Vec<Token> = Vec::new();
        for token in tokens {
            if token.0 == NAME {
                if let [.., (NAME, _), (term, _)] = *all
                    && term == self.and
                {
                    all.pop();
                }
                if let [.., (NAME, _)] = *all {
                    continue;
                }
            }
            all.push(token);
        }
        all
    }

    /// Each two and each three terms as they stand, without those that change nothing. All names count as one term.
    pub(crate) fn groups(&self, tokens: impl Iterator<Item = Token>) -> Vec<Group> {
        let is_filler = |term: Term| self.kinds.get(term as usize) == Some(&Kind::Filler);
        let all = self.with_one_name(tokens.filter(|(term, _)| !is_filler(*term)));
        let triples = all.windows(3).map(|three| [three[0].0, three[1].0, three[2].0]);
        // Two that both say something are a pair anyway.
        let is_loose = |two: &&[Token]| two.iter().any(|(term, is_stop)| *is_stop || *term == NAME);
        let pairs = all.windows(2).filter(is_loose).map(|two| pair(two[0].0, two[1].0));
        triples.chain(pairs).collect()
    }
}

/// Two terms side by side.
pub(super) const fn pair(left: Term, right: Term) -> Group {
    [left, right, NONE]
}
