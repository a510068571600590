//! Pins: the state that one call sees, fixed at first use and inherited by its nested calls.
//!
//! A reload in the middle of a composite must not give it two halves of two states.

use std::{
    any::{Any, TypeId},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// One pinned value a type. Cheap to clone; clones share state.
#[derive(Clone, Default)]
pub struct Pins(Arc<Mutex<Vec<Pinned>>>);

type Pinned = (TypeId, Arc<dyn Any + Send + Sync>);

impl Pins {
    /// The pinned value of a type, pinning the given one if there is none yet.
    pub fn get_or_pin<P: Any + Send + Sync>(&self, current: impl FnOnce() -> Arc<P>) -> Arc<P> {
        let mut pins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pinned = pins.iter().find(|(id, _)| *id == TypeId::of::<P>());
        if let Some(value) = pinned.and_then(|(_, value)| Arc::clone(value).downcast().ok()) {
            return value;
        }
        let value = current();
        pins.push((TypeId::of::<P>(), value.clone()));
        value
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pins")
    }
}
