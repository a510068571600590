//! Finds the file that declares a symbol: a service, a method, a message, a field, a oneof, an enum, a value of one, or
//! an extension, by its full name.

use prost_reflect::{DescriptorPool, FileDescriptor};

/// The file that declares a symbol, if one does.
pub(super) fn file(pool: &DescriptorPool, symbol: &str) -> Option<FileDescriptor> {
    let symbol = symbol.strip_prefix('.').unwrap_or(symbol);
    declared(pool, symbol).or_else(|| member(pool, symbol))
}

/// The file of what is found by its full name alone.
fn declared(pool: &DescriptorPool, symbol: &str) -> Option<FileDescriptor> {
    let service = || pool.get_service_by_name(symbol).map(|it| it.parent_file());
    let message = || pool.get_message_by_name(symbol).map(|it| it.parent_file());
    let enumeration = || pool.get_enum_by_name(symbol).map(|it| it.parent_file());
    let extension = || pool.get_extension_by_name(symbol).map(|it| it.parent_file());
    service().or_else(message).or_else(enumeration).or_else(extension)
}

/// The file of what is part of something else.
fn member(pool: &DescriptorPool, symbol: &str) -> Option<FileDescriptor> {
    let (parent, name) = symbol.rsplit_once('.')?;
    if let Some(service) = pool.get_service_by_name(parent) {
        return service.methods().any(|it| it.name() == name).then(|| service.parent_file());
    }
    if let Some(message) = pool.get_message_by_name(parent) {
        let has = message.get_field_by_name(name).is_some() || message.oneofs().any(|it| it.name() == name);
        if has {
            return Some(message.parent_file());
        }
    }
    if let Some(enumeration) = pool.get_enum_by_name(parent) {
        return enumeration.get_value_by_name(name).map(|_| enumeration.parent_file());
    }
    // A value is named beside its enum, as in C++.
    let mut enums = pool
        .all_enums()
        .filter(|it| it.full_name().rsplit_once('.').map_or("", |(scope, _)| scope) == parent);
    enums.find(|it| it.get_value_by_name(name).is_some()).map(|it| it.parent_file())
}
