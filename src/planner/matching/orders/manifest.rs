//! The orders to one tool, read from its manifest.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{Orders, forms::core, is_away, is_infinitive};
use crate::{
    english::english,
    matching::{
        inverted_index::fields,
        message::polite,
        words::{Word, words},
    },
};
use toolwire_engine::registry::RegisteredTool;

impl Orders {
    /// Reads the orders to a tool from its manifest. `is_thing` tells whether a word stands for a name, as `stock`.
    pub(crate) fn new(tool: &Arc<RegisteredTool>, is_thing: impl Fn(&str) -> bool) -> Self {
        let mut orders = Self::default();
        let definition = &tool.definition;
        for text in definition.utterances.iter().chain(&tool.routing.keywords) {
            orders.add_head(text, &is_thing);
            let words = words(text);
            orders.leads_away |= (0..words.len()).any(|at| is_away(&words[at..]));
        }
        // A keyword belongs to one tool, so its stop words are accepted in orders as well.
        let of_phrases = tool.routing.keywords.iter().chain([&definition.title]).map(|text| (text, true));
        // What an example notes is no word of an order: `with the note: after the results`.
        let cues = tool.routing.extracts.values().flat_map(|extract| &extract.after);
        let cues: Vec<_> = cues.filter_map(|cue| cue.split(" …").next()).collect();
        let note = |text: &str| cues.iter().filter_map(|cue| text.find(cue)).min().unwrap_or(text.len());
        for (text, is_phrase) in definition.utterances.iter().map(|text| (text, false)).chain(of_phrases) {
            let words = without_names(text);
            let note = if is_phrase { text.len() } else { note(text) };
            let said = words.iter().filter(|word| word.begin < note);
            let says = said.filter(|word| is_phrase || !word.is_stop());
            let says = says.filter(|word| !english().negations.has(&word.lower));
            orders.terms.extend(says.map(|word| word.term.clone()));
            orders.phrases.insert(core(words.iter()));
        }
        orders.phrases.remove(&Vec::new());
        orders
    }

    /// Records which heads several tools have.
    pub(crate) fn share(tools: &mut [(&mut Self, usize)]) {
        let mut counts: HashMap<Vec<String>, HashSet<usize>> = HashMap::new();
        for (orders, at) in tools.iter() {
            for head in &orders.heads {
                counts.entry(head.clone()).or_default().insert(*at);
            }
        }
        for (orders, _) in tools {
            orders.shared = orders.heads.iter().filter(|head| counts[*head].len() > 1).cloned().collect();
        }
    }

    fn add_head(&mut self, text: &str, is_thing: impl Fn(&str) -> bool) {
        let words = words(text);
        let mut head = Vec::new();
        let ends = |word: &&Word| is_name(text, word) || english().directions.has(&word.lower);
        for word in words.iter().skip(polite(&words)).take_while(|word| !ends(word)) {
            head.push(word.lower.clone());
            if !word.is_stop() {
                break;
            }
        }
        if head.is_empty() || head.iter().any(|word| english().negations.has(word)) {
            return;
        }
        let behind = &words[polite(&words) + head.len()..];
        if is_infinitive(behind) {
            self.leading.insert(head.clone());
        }
        let mut behind = behind.iter().skip_while(|word| !ends(word) && english().function.has(&word.lower));
        if behind.next().is_none_or(|word| ends(&word) || is_thing(&word.lower)) {
            self.direct.insert(head.clone());
        }
        self.heads.push(head);
    }
}

/// The words of an example without the names in it.
fn without_names(text: &str) -> Vec<Word> {
    words(text).into_iter().filter(|word| !is_name(text, word)).collect()
}

/// Whether a word of an example is written as a name.
fn is_name(text: &str, word: &Word) -> bool {
    fields::is_name((word.begin, &text[word.begin..word.end]))
}
