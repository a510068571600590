//! The list of all tools.

pub mod diagnostics;
pub mod tool;

use std::sync::Arc;

use diagnostics::{
    fail::DebugFail, nested::DebugNested, panic::DebugPanic, sleep::DebugSleep, stream::DebugStream,
    write::DebugWrite,
};
use tool::{Executor, erase};

/// The tools for checking the service itself.
pub fn diagnostics() -> Vec<Arc<dyn Executor>> {
    vec![
        erase(DebugFail),
        erase(DebugNested),
        erase(DebugPanic),
        erase(DebugSleep),
        erase(DebugStream),
        erase(DebugWrite::default()),
    ]
}
