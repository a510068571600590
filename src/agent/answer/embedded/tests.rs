//! Templates on disk and in the binary.
