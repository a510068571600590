//! The services that tools need beyond the standard context: one value a type, the same for every call.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// A map from a type to its one value. Cheap to clone.
#[derive(Clone, Default)]
pub struct Services(Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Services {
    /// The same services and one more; an earlier value of the type is replaced.
    pub fn with<S: Any + Send + Sync>(self, service: Arc<S>) -> Self {
        let mut map = Arc::unwrap_or_clone(self.0);
        map.insert(TypeId::of::<S>(), service);
        Self(Arc::new(map))
    }

    /// These and others; one of the others replaces an earlier value of its type.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        let mut map = Arc::unwrap_or_clone(self.0);
        map.extend(Arc::unwrap_or_clone(others.0));
        Self(Arc::new(map))
    }

    /// The service of a type.
    ///
    /// # Panics
    /// If the composition root registered none: a bug that the first call of the tool shows.
    pub fn get<S: Any + Send + Sync>(&self) -> Arc<S> {
        self.find().unwrap_or_else(|| panic!("no service {} is registered", type_name::<S>()))
    }

    /// The service of a type, if there is one.
    pub fn find<S: Any + Send + Sync>(&self) -> Option<Arc<S>> {
        self.0.get(&TypeId::of::<S>()).cloned()?.downcast().ok()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Services({})", self.0.len())
    }
}
