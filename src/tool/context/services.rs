//! The services that tools need beyond the standard context: one value a type, the same for every call.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock},
};

use super::required_services::Required;

/// A map from a type to its one value, of which a tool sees what it declares. Cheap to clone.
#[derive(Clone)]
pub struct Services {
    all: Arc<HashMap<TypeId, Service>>,
    /// `None` outside the execution of a tool, where all are visible.
    declared: Option<Required>,
}

#[derive(Clone)]
struct Service {
    /// The name of its type.
    name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

/// The map of no services: each call begins with it.
static NONE: LazyLock<Arc<HashMap<TypeId, Service>>> = LazyLock::new(Arc::default);

impl Default for Services {
    fn default() -> Self {
        Self { all: Arc::clone(&NONE), declared: None }
    }
}

impl Services {
    /// The names of the types that have a value both here and there.
    pub fn common<'a>(&'a self, others: &'a Self) -> impl Iterator<Item = &'static str> + 'a {
        self.all.iter().filter(|(id, _)| others.all.contains_key(id)).map(|(_, service)| service.name)
    }

    /// The same services and one more; an earlier value of the type is replaced.
    pub fn with<S: Any + Send + Sync>(self, service: Arc<S>) -> Self {
        let mut all = Arc::unwrap_or_clone(self.all);
        all.insert(TypeId::of::<S>(), Service { name: type_name::<S>(), value: service });
        Self { all: Arc::new(all), ..self }
    }

    /// These and others; one of the others replaces an earlier value of its type.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        let mut all = Arc::unwrap_or_clone(self.all);
        all.extend(Arc::unwrap_or_clone(others.all));
        Self { all: Arc::new(all), ..self }
    }

    /// The same services, of which only those of the declared types are handed out.
    #[must_use]
    pub fn only(&self, declared: &Required) -> Self {
        Self { all: Arc::clone(&self.all), declared: Some(declared.clone()) }
    }

    /// The names of the types that have no value here.
    pub fn missing<'a>(&'a self, required: &'a Required) -> impl Iterator<Item = &'static str> + 'a {
        let absent = required.iter().filter(|service| !self.all.contains_key(&service.id));
        absent.map(|service| service.name)
    }

    /// The service of a type. One that the tool declares is always there: start-up refuses a tool that lacks one.
    ///
    /// # Panics
    /// If the tool does not declare it, so that every call of the tool that comes here shows the mistake.
    pub fn get<S: Any + Send + Sync>(&self) -> Arc<S> {
        self.find().unwrap_or_else(|| panic!("the tool does not declare the service {}", type_name::<S>()))
    }

    /// The service of a type, if there is one and the tool declares it.
    pub fn find<S: Any + Send + Sync>(&self) -> Option<Arc<S>> {
        let id = TypeId::of::<S>();
        if self.declared.as_ref().is_some_and(|declared| !declared.has(id)) {
            return None;
        }
        Arc::clone(&self.all.get(&id)?.value).downcast().ok()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Services({})", self.all.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Box;
    #[derive(Debug, PartialEq)]
    struct Shelf;

    #[test]
    fn only_declared_services_are_handed_out() {
        let services = Services::default().with(Arc::new(Box)).with(Arc::new(Shelf));
        let narrow = services.only(&Required::none().of::<Box>());
        assert_eq!(narrow.get::<Box>(), Arc::new(Box));
        assert_eq!(narrow.find::<Shelf>(), None);
        assert!(services.find::<Shelf>().is_some(), "the others still see it");
    }

    #[test]
    fn a_declared_service_that_is_missing_is_named() {
        let services = Services::default().with(Arc::new(Box));
        let required = Required::none().of::<Box>().of::<Shelf>();
        let missing: Vec<_> = services.missing(&required).collect();
        assert_eq!(missing, [type_name::<Shelf>()]);
    }
}
