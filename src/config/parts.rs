//! The values of sections whose types the platform does not know, by type.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt::Debug,
    sync::Arc,
};

/// The value of a section.
pub trait Part: Any + Debug + Send + Sync {}

impl<T: Any + Debug + Send + Sync> Part for T {}

#[derive(Clone, Debug, Default)]
pub(super) struct Parts(BTreeMap<TypeId, Arc<dyn Part>>);

impl Parts {
    /// Adds a value. It replaces an earlier one of the same type.
    pub(super) fn insert(&mut self, part: Arc<dyn Part>) {
        let any: &dyn Any = &*part;
        self.0.insert(any.type_id(), part);
    }

    pub(super) fn get<T: Part>(&self) -> Option<Arc<T>> {
        let part: Arc<dyn Any + Send + Sync> = self.0.get(&TypeId::of::<T>()).cloned()?;
        part.downcast().ok()
    }
}
