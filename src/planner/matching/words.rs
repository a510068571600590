//! The words of questions: what they are found by, which of them say nothing, and numbers that are written out.

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};

use toolwire_store::workspace::terms;

/// Words that stand in questions of every kind.
const STOP_WORDS: &str = "a able call called about across actually afternoon again ain aint all almost along already alright also although always \
    am an and any anybody anyone anything anyway appreciate are arent around as ask asked asks at away basically \
    be because been being believe besides bit bits bring brother brought btw bunch but by came can cant check \
    come comes completely cool could couldnt couple curious current currently d dad daughter did didn didnt \
    display do does doesn doesnt doing don done dont down each either else entirely etc evening ever every \
    everything exactly fairly fetch few figure fine folks for forgot friend from get getting gimme give given \
    glad go going gone gonna good got gotta grab guess guys had haha happy hardly has hasnt have haven havent \
    having hello help here heres hers hey hi hmm honestly how however hows husband i id if ill im in into is isn \
    isnt it its itself ive just kind kinda kindly knew know known lately least left lemme let lets like likely \
    list literally ll lol look looking lot lots m make makes many may maybe me mean means merely might mine mom \
    more most much mum must my myself nah nearly need next no nope not nowadays of off oh ok okay on one ones \
    only onto or our ours out over particular partner per perhaps person please plenty pls plz presently pretty \
    probably pull put quick quickly quite rather re really recently right rn s said same saw say says see seen \
    sense seriously shall she should shouldnt show shown simply sister so some somebody someone something son \
    soon sorry sorta speak still stuff such summarise summarize suppose sure t take tell than thank thanks that \
    thats the their theirs them then there theres these they thing things this those though through thx till to \
    today together told tonight too totally toward towards tried truly try trying ty u uh um unable under \
    understand up upon ur us use used user using ve very via view viewing wanna want wanted wants was wasnt way \
    ways we well went were werent what whatever whats when whenever where wheres wherever whether which \
    whichever while who whole whom whos whose why wife will wish with within without won wonder wondering wont \
    would wouldnt yeah yep yes yet you your yours";

/// Numbers that are written out.
const NUMBERS: [(&str, u32); 22] = [
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("eighteen", 18),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
    ("hundred", 100),
    ("dozen", 12),
];

static STOPS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());

static STOP_FILLERS: LazyLock<HashSet<String>> =
    LazyLock::new(|| FILLERS.split_whitespace().map(stem).collect());

/// Forms of verbs that do not begin as the verb does.
const IRREGULAR: &str = "beaten=beat began=begin begun=begin bought=buy broke=break broken=break brought=bring chose=choose \
    chosen=choose drew=draw drawn=draw fallen=fall fell=fall felt=feel found=find gave=give given=give grew=grow \
    grown=grow held=hold kept=keep lost=lose losing=lose made=make making=make paid=pay risen=rise rose=rise \
    rising=rise sent=send shrank=shrink shrunk=shrink sold=sell spent=spend spoke=speak spoken=speak taken=take \
    taught=teach thought=think took=take won=win withdrawal=withdraw withdrawals=withdraw withdrawn=withdraw \
    withdrew=withdraw written=write wrote=write understood=understand";

static VERBS: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| IRREGULAR.split_whitespace().filter_map(|form| form.split_once('=')).collect());

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    /// Where it begins, in bytes.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    pub(crate) lower: String,
    /// What it is found by.
    pub(crate) term: String,
}

impl Word {
    /// Whether it stands in questions of every kind.
    pub(crate) fn is_stop(&self) -> bool {
        is_stop(&self.lower)
    }

    /// The number that it is, in digits or written out.
    pub(crate) fn number(&self) -> Option<u32> {
        let written = || NUMBERS.iter().find(|(word, _)| *word == self.lower).map(|(_, number)| *number);
        self.lower.parse().ok().or_else(written)
    }
}

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let word = |(begin, word): (usize, &str)| Word {
        begin,
        end: begin + word.len(),
        lower: word.to_lowercase(),
        term: stem(word),
    };
    terms::words(text).map(word).filter(|word| !word.term.is_empty()).collect()
}

/// What a word is found by: the stem of its verb, `ise` written as `ize`.
pub(crate) fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    if let Some(verb) = VERBS.get(lower.as_str()) {
        return terms::term(verb);
    }
    let is_british = |ending: &&&str| lower.len() > ending.len() + 3 && lower.ends_with(**ending);
    match BRITISH.iter().find(is_british) {
        Some(ending) => {
            let begin = &lower[..lower.len() - ending.len()];
            terms::term(&format!("{begin}{}", ending.replacen('s', "z", 1)))
        }
        None => terms::term(&lower),
    }
}

/// Endings that are written with a `z` too.
const BRITISH: [&str; 7] = ["ise", "ised", "ises", "iser", "ising", "isation", "isations"];

/// Whether a word, in small letters, says nothing of what a question is about.
pub(crate) fn is_stop(lower: &str) -> bool {
    STOPS.contains(lower)
}

/// Words that change nothing of what is asked.
const FILLERS: &str = "still currently right really actually just now please also even ever again already exactly \
    recently lately there then so all of the a an any some s is are re am m was were be been do did does has have had \
    ve d pls plz me please ok hey hi well currently anyway maybe perhaps basically honestly";

/// Whether a term changes nothing of what is asked.
pub(crate) fn is_filler(term: &str) -> bool {
    STOP_FILLERS.contains(term)
}

/// The terms of a phrase, stop words included.
pub(crate) fn phrase(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.term).collect()
}
