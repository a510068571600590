//! Quotas of calls: `[[quota]]`, by user or group. Each user has a count of their own. They are set in the file only.
//!
//! Not here: the limits of sources, and those of requests at once.

use std::{collections::BTreeMap, fmt, time::Duration};

use super::{Who, auth::EntryNames, differences::differences, fields::Fields, reader::Reader, value::Value};
use toolwire_base::{digest::Digest, duration};
use toolwire_tool::context::User;

/// The most calls of a quota: each call looks through those of its window.
const MOST_CALLS: u32 = 10_000;
/// The longest window, for which calls are remembered.
const LONGEST: Duration = Duration::from_hours(31 * 24);

/// How much each of some users may call: `[[quota]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The users that it is for. Default all.
    pub who: Vec<Who>,
    /// At most `calls` in any time as long as `window`. Both or neither.
    pub calls: Option<(u32, Duration)>,
    /// Maximum number of calls at once: `concurrent`. Default no limit.
    pub concurrent: Option<u32>,
}

impl Quota {
    pub(super) fn read_all(reader: &mut Reader, issuers: &EntryNames) -> Vec<Self> {
        let mut quotas = Vec::<Self>::new();
        for mut entry in reader.list("quota") {
            let quota = Self::read(&mut entry, issuers);
            if quota.as_ref().is_some_and(|quota| quotas.iter().any(|other| other.key() == quota.key())) {
                entry.problem("an earlier quota is for the same users and the same window; make them one");
            }
            if reader.end(entry)
                && let Some(quota) = quota
            {
                reader.show_entry("[[quota]]", &quota.to_pairs());
                quotas.push(quota);
            }
        }
        quotas
    }

    fn read(entry: &mut Fields, issuers: &EntryNames) -> Option<Self> {
        let who = entry.optional::<Vec<String>>("who").unwrap_or_default();
        let (calls, window) = (entry.optional::<u32>("calls"), entry.optional::<Duration>("window"));
        let concurrent = entry.optional::<u32>("concurrent");
        let who: Result<Vec<_>, _> =
            who.iter().map(|text| Who::parse_among(text, |name| issuers.has(name))).collect();
        let who = who.map_err(|what| entry.problem(what)).ok();
        for (name, value) in [("calls", calls), ("concurrent", concurrent)] {
            if value == Some(0) {
                entry.problem(format!(
                    "{name} must be more than zero: to let nobody call, write [[auth.rules]] with effect = \"deny\""
                ));
            }
        }
        if calls.is_some_and(|calls| calls > MOST_CALLS) {
            entry.problem(format!("calls must be at most {MOST_CALLS}; take a shorter window"));
        }
        if window.is_some_and(|window| window.is_zero() || window > LONGEST) {
            entry.problem(format!(
                "window must be longer than zero and at most {}",
                duration::format(LONGEST)
            ));
        }
        match (entry.has("calls"), entry.has("window"), entry.has("concurrent")) {
            (true, false, _) => {
                entry.problem("window is missing: the period over which calls are counted, such as \"1m\"");
            }
            (false, true, _) => entry.problem("calls is missing: the maximum number of calls in any window"),
            (false, false, false) => entry.problem("it limits nothing; add calls and window, or concurrent"),
            _ => {}
        }
        Some(Self { who: who?, calls: calls.zip(window), concurrent })
    }

    /// Whether it is a quota of this user.
    pub fn is_of(&self, user: &User) -> bool {
        self.who.is_empty() || self.who.iter().any(|who| who.means(user))
    }

    /// Tells its counts from those of other quotas, whatever their order, and in all processes of a state.
    pub fn key(&self) -> String {
        let who = self.who.iter().map(ToString::to_string);
        let window = self.calls.map(|(_, window)| duration::format(window)).unwrap_or_default();
        let parts: Vec<_> = who.chain([window]).collect();
        Digest::of_parts(parts.iter().map(String::as_str)).to_string()[..16].to_owned()
    }

    /// What some are that those of `before` were not, and the reverse, in words.
    pub fn changes(now: &[Self], before: &[Self]) -> Vec<String> {
        let by_name = |quotas: &[Self]| -> BTreeMap<_, _> {
            quotas.iter().map(|it| (it.to_string(), it.clone())).collect()
        };
        differences("quota", &by_name(now), &by_name(before))
    }

    fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let who: Vec<_> = self.who.iter().map(ToString::to_string).collect();
        let mut pairs = vec![("who", who.to_toml())];
        if let Some((calls, window)) = self.calls {
            pairs.extend([("calls", calls.to_toml()), ("window", window.to_toml())]);
        }
        pairs.extend(self.concurrent.map(|it| ("concurrent", it.to_toml())));
        pairs
    }
}

/// The users that it is for, and over what time: no two are alike in both.
impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who: Vec<_> = self.who.iter().map(ToString::to_string).collect();
        f.write_str(if who.is_empty() { "everybody" } else { "" })?;
        f.write_str(&who.join(", "))?;
        self.calls.map_or(Ok(()), |(_, window)| write!(f, " in {}", duration::format(window)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Loaded, testing::load_text};

    const ISSUER: &str =
        "[[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['a']\n";

    fn of(text: &str) -> Result<Loaded, String> {
        load_text(text, &[], Flags::default(), &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_quota_is_of_the_users_that_it_names_or_of_all() {
        let text = format!(
            "{ISSUER}[[quota]]\nwho = ['user:riley', 'group:corp/ops']\ncalls = 10\nwindow = '1m'\n\
             [[quota]]\nconcurrent = 2\n"
        );
        let loaded = of(&text).unwrap();
        let [some, all] = &*loaded.config.quotas else { panic!("two quotas") };
        let user = |id: &str| User::new(id.parse().unwrap());
        assert!(some.is_of(&user("riley")) && !some.is_of(&user("demo")) && all.is_of(&user("demo")));
        assert_eq!((some.calls, some.concurrent), (Some((10, Duration::from_mins(1))), None));
        assert_eq!((all.calls, all.concurrent), (None, Some(2)));
        assert_ne!(some.key(), all.key());
        let printed = crate::print(&loaded);
        assert!(
            printed.contains("[[quota]]\nwho = [\"user:riley\",\"group:corp/ops\"]\ncalls = 10\n"),
            "{printed}"
        );
    }

    #[test]
    fn what_differs_is_told_by_whom_it_is_for() {
        let of = |text: &str| of(text).unwrap().config.quotas;
        let before = of("[[quota]]\nconcurrent = 2\n[[quota]]\nwho = ['user:a']\ncalls = 1\nwindow = '1m'\n");
        let after =
            of("[[quota]]\nwho = ['user:a']\ncalls = 2\nwindow = '1m'\n[[quota]]\nwho = ['user:b']\n\
                        concurrent = 1\n");
        let expected = ["quota removed: everybody", "quota changed: user:a in 1m", "quota added: user:b"];
        assert_eq!(Quota::changes(&after, &before), expected);
        assert_eq!(Quota::changes(&after, &after), [""; 0]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, words) in [
            ("calls = 0\nwindow = '1m'", "calls must be more than zero: to let nobody call"),
            ("concurrent = 0", "concurrent must be more than zero: to let nobody call"),
            ("calls = 10001\nwindow = '1m'", "calls must be at most 10000"),
            ("calls = 1", "window is missing"),
            ("window = '1m'", "calls is missing"),
            ("who = ['user:riley']", "it limits nothing"),
            ("calls = 1\nwindow = '0s'", "window must be longer than zero"),
            ("calls = 1\nwindow = '745h'", "window must be longer than zero and at most"),
            ("calls = 1\nwindow = 'a day'", "window"),
            ("calls = -1\nwindow = '1m'", "expected a whole number"),
            ("calls = 1.5\nwindow = '1m'", "expected a whole number"),
            ("who = ['riley']\nconcurrent = 1", "who must be user:"),
            ("who = ['group:corp/ops']\nconcurrent = 1", "[[auth.issuers]]"),
            ("call = 1\nconcurrent = 1", "call"),
            ("concurrent = 1\n[[quota]]\nconcurrent = 2", "an earlier quota is for the same users"),
        ] {
            let error = of(&format!("[[quota]]\n{text}\n")).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
