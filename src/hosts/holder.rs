//! Which program has the name of a provider whose hosts present no credentials.
//!
//! One program, with all its copies and restarts, so that another one never replaces its tools by accident: that one is
//! refused, or takes the name over by stating it. Of hosts with credentials these decide, and nothing here is asked.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::slot::Greeting;
use toolwire_providers::ids::InstanceId;

/// Instances that are remembered; of more, the oldest are forgotten.
const MAX_INSTANCES: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Tenure {
    holder: Option<Holder>,
    /// The instances that came up, with their numbers. Each takes the name, or the tools, over once: two programs would
    /// otherwise take turns for ever.
    instances: VecDeque<(InstanceId, u64)>,
    /// How many have come up.
    count: u64,
    /// How many had when the catalogue came into service that is served.
    before_served: u64,
}

#[derive(Debug)]
struct Holder {
    program: String,
    /// When its last slot was lost, if it was.
    lost: Option<Instant>,
}

/// What a greeting asks of the name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim<'a> {
    /// Its program has the name, or may have it as its catalogue may be served.
    Granted,
    /// It states the name that another program has.
    TakesOver,
    /// It took the name over before, and another program has it now: it waits until that one has no slots.
    Waits,
    /// Another program has the name, which was lost this long ago.
    Held { holder: &'a str, lost: Option<Duration> },
}

impl Tenure {
    pub(crate) fn claim(&self, greeting: &Greeting, now: Instant) -> Claim<'_> {
        match &self.holder {
            Some(holder) if holder.program != greeting.program => {
                if greeting.provider.is_empty() {
                    let lost = holder.lost.map(|lost| now.saturating_duration_since(lost));
                    return Claim::Held { holder: &holder.program, lost };
                }
                if self.number(&greeting.instance).is_some() { Claim::Waits } else { Claim::TakesOver }
            }
            _ => Claim::Granted,
        }
    }

    /// The instance came up.
    pub(crate) fn note(&mut self, instance: &InstanceId) {
        if self.number(instance).is_none() {
            if self.instances.len() >= MAX_INSTANCES {
                self.instances.pop_front();
            }
            self.instances.push_back((instance.clone(), self.count));
            self.count += 1;
        }
    }

    /// Another catalogue is served from here on.
    pub(crate) fn serve(&mut self) {
        self.before_served = self.count;
    }

    /// Whether the instance came up after the catalogue that is served.
    pub(crate) fn is_newer(&self, instance: &InstanceId) -> bool {
        self.number(instance).is_none_or(|number| number >= self.before_served)
    }

    fn number(&self, instance: &InstanceId) -> Option<u64> {
        self.instances.iter().find(|(it, _)| it == instance).map(|(_, number)| *number)
    }

    /// The program has the name from here on. Returns whether another one, or none, had it.
    pub(crate) fn hold(&mut self, program: &str) -> bool {
        let is_new = self.holder.as_ref().is_none_or(|holder| holder.program != program);
        self.holder = Some(Holder { program: program.to_owned(), lost: None });
        is_new
    }

    /// The last slot is gone: its program has left, and the name is free, or was lost, and comes back.
    pub(crate) fn end_slots(&mut self, has_left: bool, now: Instant) {
        if has_left {
            self.holder = None;
        } else if let Some(holder) = &mut self.holder {
            holder.lost = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use toolwire_base::clock;
    use toolwire_providers::ids::CatalogueId;

    use super::*;

    /// A greeting of a process of a program, which states this name.
    fn greeting(program: &str, instance: &str, provider: &str) -> Greeting {
        Greeting {
            provider: provider.to_owned(),
            instance: InstanceId::from(instance),
            sdk: String::new(),
            catalogue: CatalogueId::from("c1"),
            program: program.to_owned(),
        }
    }

    fn held_by<'a>(program: &str, instances: impl IntoIterator<Item = &'a str>) -> Tenure {
        let mut tenure = Tenure::default();
        tenure.hold(program);
        for instance in instances {
            tenure.note(&instance.into());
        }
        tenure
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_is_that_of_one_program_until_it_has_left() {
        let now = clock::now();
        let mut tenure = held_by("/a", ["a1"]);
        assert_eq!(tenure.claim(&greeting("/a", "a2", ""), now), Claim::Granted, "a copy");
        let second = greeting("/b", "b1", "");
        assert_eq!(tenure.claim(&second, now), Claim::Held { holder: "/a", lost: None });
        let later = now + Duration::from_secs(7);
        tenure.end_slots(false, now);
        let lost = Some(Duration::from_secs(7));
        assert_eq!(tenure.claim(&second, later), Claim::Held { holder: "/a", lost }, "it comes back");
        assert!(!tenure.hold("/a"));
        tenure.end_slots(true, later);
        assert_eq!(tenure.claim(&second, later), Claim::Granted);
        assert!(tenure.hold("/b"));
    }

    #[tokio::test(start_paused = true)]
    async fn programs_that_do_not_say_where_they_are_are_one_and_no_other() {
        let (now, silent) = (clock::now(), held_by("", []));
        assert_eq!(silent.claim(&greeting("", "b1", ""), now), Claim::Granted);
        assert_eq!(silent.claim(&greeting("/b", "b1", ""), now), Claim::Held { holder: "", lost: None });
        let named = held_by("/a", []);
        assert_eq!(named.claim(&greeting("", "b1", ""), now), Claim::Held { holder: "/a", lost: None });
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_states_the_name_takes_it_over_once() {
        let now = clock::now();
        let mut tenure = held_by("/a", ["a1"]);
        let second = greeting("/b", "b1", "local");
        assert_eq!(tenure.claim(&second, now), Claim::TakesOver);
        tenure.note(&second.instance);
        tenure.hold("/b");
        assert_eq!(tenure.claim(&greeting("/a", "a1", "local"), now), Claim::Waits, "it had its turn");
        assert_eq!(tenure.claim(&greeting("/a", "a2", "local"), now), Claim::TakesOver, "started again");
    }

    #[test]
    fn the_instances_that_are_remembered_are_bounded() {
        let mut tenure = Tenure::default();
        for number in 0..MAX_INSTANCES + 10 {
            tenure.note(&InstanceId::from(&*format!("i{number}")));
        }
        assert_eq!(tenure.instances.len(), MAX_INSTANCES);
        assert_eq!(tenure.instances.front().map(|(instance, _)| instance.as_str()), Some("i10"));
    }
}
