//! The rules. Each takes what was read and returns what breaks it.

pub(crate) mod circles;
pub(crate) mod commands;
pub(crate) mod engines;
pub(crate) mod files;
pub(crate) mod lengths;
pub(crate) mod links;
pub(crate) mod origins;
pub(crate) mod outside;
pub(crate) mod plain;
pub(crate) mod schemas;
pub(crate) mod walls;
pub(crate) mod words;
