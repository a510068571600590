//! What domains add to the service beyond tools: the parts that their faces use, and the work that a drain ends.

use std::{
    any::{Any, type_name},
    sync::Arc,
};

use super::App;

impl App {
    /// Waits until this process does no work in the background.
    pub async fn wait_drained(&self) {
        for drain in &self.attached.drains {
            drain.wait_empty().await;
        }
    }

    /// The part of a type.
    ///
    /// # Panics
    /// If no domain has attached one.
    pub fn part<P: Any + Send + Sync>(&self) -> Arc<P> {
        self.attached.parts.find().unwrap_or_else(|| panic!("no domain has attached {}", type_name::<P>()))
    }

    /// Replaces the part of a type.
    pub fn set_part<P: Any + Send + Sync>(&mut self, part: P) {
        self.attached.parts = self.attached.parts.clone().with(Arc::new(part));
    }
}
