//! The values of sections that only domains know: one value a type.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt::Debug,
    sync::Arc,
};

/// A value that a section became.
pub trait Part: Any + Debug + Send + Sync {}

impl<T: Any + Debug + Send + Sync> Part for T {}

#[derive(Clone, Debug, Default)]
pub(super) struct Parts(BTreeMap<TypeId, Arc<dyn Part>>);

impl Parts {
    /// Adds one. A later one of the same type takes the place of an earlier.
    pub(super) fn insert(&mut self, part: Arc<dyn Part>) {
        let any: &dyn Any = &*part;
        self.0.insert(any.type_id(), part);
    }

    pub(super) fn get<T: Part>(&self) -> Option<Arc<T>> {
        let part: Arc<dyn Any + Send + Sync> = self.0.get(&TypeId::of::<T>()).cloned()?;
        part.downcast().ok()
    }
}
