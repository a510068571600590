//! The services that a tool needs, by type. Not here: the services themselves.

use std::{
    any::{Any, TypeId, type_name},
    sync::Arc,
};

/// Types of services. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Required(Arc<[Service]>);

/// A type of service, and its name for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) id: TypeId,
    pub(super) name: &'static str,
}

impl Required {
    /// No services.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same services and that of one more type.
    #[must_use]
    pub fn of<S: Any + Send + Sync>(self) -> Self {
        let service = Service { id: TypeId::of::<S>(), name: type_name::<S>() };
        Self(self.0.iter().copied().chain([service]).collect())
    }

    /// Whether a type is among them.
    pub fn needs<S: Any + Send + Sync>(&self) -> bool {
        self.has(TypeId::of::<S>())
    }

    /// The same, by the type's identifier.
    pub(super) fn has(&self, id: TypeId) -> bool {
        self.0.iter().any(|service| service.id == id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Service> {
        self.0.iter()
    }
}
