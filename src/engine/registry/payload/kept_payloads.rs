//! Payloads of messages that the process made before, for registries that are opened over the same descriptors.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use prost_reflect::MessageDescriptor;

use super::{Key, Payload};

/// Maximum number of payloads, more than the tools of all our domains have. All go when one more is made.
const MOST: usize = 512;

static KEPT: LazyLock<Mutex<HashMap<Key, Arc<Payload>>>> = LazyLock::new(Mutex::default);

/// The payload of a declaration, if it was made of this message: of one in the same pool.
pub(super) fn get(key: &Key, message: &MessageDescriptor) -> Option<Arc<Payload>> {
    let kept = lock();
    kept.get(key).filter(|payload| payload.message.as_ref() == Some(message)).cloned()
}

/// Keeps a payload without problems, unless it has no message.
pub(super) fn keep(key: &Key, payload: &Arc<Payload>) {
    if payload.message.is_some() {
        let mut kept = lock();
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key.clone(), Arc::clone(payload));
    }
}

fn lock() -> MutexGuard<'static, HashMap<Key, Arc<Payload>>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}
