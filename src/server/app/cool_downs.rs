//! Watches cool-downs, so that the tools of a source report them, and metrics too.

use std::{collections::BTreeMap, convert::Infallible, mem, sync::Arc, time::Duration};

use tokio::time::{MissedTickBehavior, interval};

use toolwire_engine::registry::Registry;
use toolwire_sources::upstream::source_status::SourceLimits;
use toolwire_telemetry::metric;

/// How often it looks: a cool-down lasts for hours.
const INTERVAL: Duration = Duration::from_secs(1);

/// Tells the registry and the metrics.
#[derive(Debug)]
pub(super) struct Watch {
    registry: Arc<Registry>,
    limits: Arc<dyn SourceLimits>,
    /// The sources that were left alone at the last look.
    before: BTreeMap<String, String>,
    is_blind: bool,
}

impl Watch {
    pub(super) fn new(registry: &Arc<Registry>, limits: &Arc<dyn SourceLimits>) -> Self {
        let (registry, limits) = (Arc::clone(registry), Arc::clone(limits));
        Self { registry, limits, before: BTreeMap::new(), is_blind: false }
    }

    /// Looks for as long as it is polled.
    pub(super) async fn run(mut self) -> Infallible {
        let mut interval = interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.look().await;
        }
    }

    /// Looks once. What cannot be read stays as it was, and is said once.
    async fn look(&mut self) {
        let found = self.limits.cool_downs().await;
        let was_blind = mem::replace(&mut self.is_blind, found.is_err());
        match found {
            Ok(refused) => self.tell(refused),
            Err(error) if !was_blind => tracing::warn!(%error, "cool-downs cannot be read"),
            Err(_) => {}
        }
    }

    fn tell(&mut self, refused: BTreeMap<String, String>) {
        for source in self.before.keys().filter(|source| !refused.contains_key(*source)) {
            tracing::info!(source, "the cool-down is over");
            metric::cool_down_in_force(source, false);
        }
        for (source, reason) in refused.iter().filter(|(source, _)| !self.before.contains_key(*source)) {
            tracing::warn!(source, reason, "the source is left alone");
            metric::cool_down_in_force(source, true);
        }
        self.before.clone_from(&refused);
        self.registry.set_refused(refused);
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, sync::Mutex};

    use futures_util::future::{BoxFuture, ready};
    use prost_reflect::DescriptorPool;
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use toolwire_base::files::Tree;
    use toolwire_db::StoreError;
    use toolwire_engine::registry::{Change, Manifests, RegistryInput, Status};
    use toolwire_sources::upstream::source_status::{SourceBudget, SourceStatus};
    use toolwire_tool::context::UserId;

    /// Refuses the sources in its list; `None` cannot be read.
    #[derive(Debug, Default)]
    struct FakeCoolDowns(Mutex<Option<BTreeMap<String, String>>>);

    impl SourceLimits for FakeCoolDowns {
        fn status<'a>(&'a self, _: &'a UserId, _: &'a str) -> BoxFuture<'a, SourceStatus> {
            Box::pin(ready(SourceStatus::default()))
        }

        fn budgets(&self) -> Vec<SourceBudget> {
            Vec::new()
        }

        fn cool_downs(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, StoreError>> {
            let told = self.0.lock().unwrap().clone();
            Box::pin(ready(told.ok_or_else(|| StoreError::Nowhere("disk full".to_owned()))))
        }
    }

    /// A tool that needs no code.
    fn declare(data: &TempDir, name: &str, source: &str, sections: &[&str]) {
        let manifest = json!({
            "name": name,
            "description": "Notes a figure. Use this when there is one. Do not use it for words.",
            "type": "non_function_tool",
            "category": "read",
            "consequence_level": "low",
            "requires_confirmation": false,
            "parameters": {"figure": {"type": "number", "description": "The figure", "required": true}},
            "returns": {"logged": "boolean"},
            "source": {"name": source, "sections": sections},
        });
        let tools = data.path().join("tools");
        fs::create_dir_all(&tools).unwrap();
        fs::write(tools.join(format!("{name}.json")), manifest.to_string()).unwrap();
    }

    /// A registry of what the tree declares.
    fn registry(data: &TempDir) -> Arc<Registry> {
        let manifests = Manifests::new(Tree::Disk(data.path().to_owned()));
        let offered = RegistryInput {
            manifests,
            executors: Vec::new(),
            descriptors: DescriptorPool::new(),
            choices: Vec::new(),
            approve_unless: BTreeMap::new(),
            floors: BTreeMap::new(),
            disabled: Vec::new(),
            domains: BTreeMap::new(),
            intent_parameters: BTreeSet::new(),
        };
        Arc::new(Registry::open(offered).unwrap())
    }

    #[tokio::test]
    async fn a_refused_part_degrades_the_tools_that_cannot_do_without_it_and_no_other() {
        let data = TempDir::new().unwrap();
        declare(&data, "toys_report", "toys", &["attic"]);
        declare(&data, "toys_forecast", "toys", &["cellar"]);
        declare(&data, "toys_list", "toys", &[]);
        let registry = registry(&data);
        let told = Arc::new(FakeCoolDowns::default());
        let mut watch = Watch::new(&registry, &(Arc::clone(&told) as Arc<dyn SourceLimits>));
        let refused = ("toys/attic".to_owned(), "The attic refuses us".to_owned());
        *told.0.lock().unwrap() = Some([refused].into());
        watch.look().await;
        let status = |name| registry.snapshot().get(name).unwrap().definition.status.clone();
        assert_eq!(status("toys_report"), Status::Degraded("The attic refuses us".to_owned()));
        assert_eq!((status("toys_forecast"), status("toys_list")), (Status::Ready, Status::Ready));
    }

    #[tokio::test]
    async fn every_tool_of_a_refused_source_is_degraded_until_it_is_over() {
        let data = TempDir::new().unwrap();
        declare(&data, "toys_report", "toys", &[]);
        declare(&data, "toys_forecast", "toys", &["attic"]);
        declare(&data, "weather_report", "weather", &[]);
        let registry = registry(&data);
        let told = Arc::new(FakeCoolDowns::default());
        let mut watch = Watch::new(&registry, &(Arc::clone(&told) as Arc<dyn SourceLimits>));
        let tell = |refused: Option<&[(&str, &str)]>| {
            let owned = |(name, reason): &(&str, &str)| ((*name).to_owned(), (*reason).to_owned());
            *told.0.lock().unwrap() = refused.map(|refused| refused.iter().map(owned).collect());
        };
        let before = registry.snapshot();

        tell(Some(&[("toys", "It refuses us")]));
        watch.look().await;
        let refused = registry.snapshot();
        let degraded = Status::Degraded("It refuses us".to_owned());
        assert_eq!(refused.get("toys_report").unwrap().definition.status, degraded);
        assert_eq!(refused.get("toys_forecast").unwrap().definition.status, degraded);
        assert_eq!(refused.get("weather_report").unwrap().definition.status, Status::Ready);
        assert!(refused.changes_since(&before).iter().all(|it| matches!(it, Change::Degraded(_))));

        tell(None);
        watch.look().await;
        assert!(
            refused.changes_since(&registry.snapshot()).is_empty(),
            "what cannot be read stays as it was"
        );

        tell(Some(&[]));
        watch.look().await;
        let over = registry.snapshot().changes_since(&refused);
        assert!(!over.is_empty() && over.iter().all(|it| matches!(it, Change::Changed(_))), "{over:?}");
        assert_eq!(registry.snapshot().get("toys_report").unwrap().definition.status, Status::Ready);
    }
}
