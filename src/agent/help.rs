//! The reply to a greeting or a call for help if no model answers: what can be asked. Not here: every other reply
//! (`toolwire-planner`, `answer`).

use std::fmt::Write;

use super::answer::embedded::quote::quote;
use toolwire_planner::Offer;

/// Messages that ask for nothing but help, without their punctuation.
const ASKED: [&str; 19] = [
    "commands",
    "good afternoon",
    "good evening",
    "good morning",
    "hello",
    "hello there",
    "help",
    "help me",
    "hey",
    "hi",
    "hi there",
    "what are you",
    "what can i ask",
    "what can i ask you",
    "what can you do",
    "what can you do for me",
    "what can you help me with",
    "what do you do",
    "who are you",
];

/// Whether a message asks for help and for nothing else.
pub(super) fn is_asked_for(message: &str) -> bool {
    let words: Vec<_> =
        message.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    ASKED.contains(&words.join(" ").to_lowercase().as_str())
}

/// What can be asked of these tools: the title of each, with a question that it answers.
pub(super) fn words(offer: &Offer) -> String {
    if offer.tools().is_empty() {
        return "No tools are currently available.".to_owned();
    }
    let mut words = "You can ask about:\n".to_owned();
    for tool in offer.tools() {
        let definition = &tool.definition;
        let title = if definition.title.is_empty() { definition.name.as_str() } else { &definition.title };
        let _ = write!(words, "\n- {}", quote(title));
        if let Some(question) = definition.utterances.first() {
            let _ = write!(words, ": \"{}\"", quote(question));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_asks_for_nothing_else_asks_for_help() {
        for asked in ["help", "Hello!", "  what can you do? ", "Hi there."] {
            assert!(is_asked_for(asked), "{asked}");
        }
        for other in ["", "help me sell Apple", "hello, how is Apple?", "what can you do about INTC"] {
            assert!(!is_asked_for(other), "{other}");
        }
    }
}
