//! Opens the domains one after the other. Not here: what is made of them.

use std::mem;

use super::conflicts;
use crate::{
    domain::{Domain, OpenError, Opened, Opening},
    faces::grpc,
};

/// Opens domains: all of them as one, their gRPC services with their names, and why those that cannot be opened cannot.
pub(super) fn open(
    domains: &[&Domain],
    opening: &Opening<'_>,
) -> (Opened, Vec<(&'static str, grpc::Service)>, Vec<OpenError>) {
    let (mut all, mut grpc, mut failed) = (Opened::default(), Vec::new(), Vec::new());
    let mut owners = Vec::new();
    for domain in domains {
        match (domain.open)(opening) {
            Ok(mut opened) => {
                failed.extend(conflicts::services(&owners, domain.name, &opened.services));
                owners.push((domain.name, opened.services.clone()));
                grpc.extend(mem::take(&mut opened.grpc).into_iter().map(|service| (domain.name, service)));
                all = all.and(opened);
            }
            Err(error) => failed.push(error),
        }
    }
    (all, grpc, failed)
}
