//! Workloads of a mesh as users: `[[auth.spiffe]]`, each by the SPIFFE id that its client certificate names.
//!
//! Not here: how a certificate is verified, and what its user may do.

use super::AuthUser;
use crate::{fields::Fields, reader::Reader, value::Value};
use toolwire_identity::SpiffePattern;
use toolwire_tool::context::UserId;

/// The user that some workloads are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadUser {
    /// The ids of the workloads. Required. No id matches those of two entries.
    pub id: SpiffePattern,
    /// The user. Required. No user of `[[auth.users]]`; several entries may name the same.
    pub user: UserId,
    /// The groups of the workloads, for rules. Default none.
    pub groups: Vec<String>,
}

impl WorkloadUser {
    pub(super) fn read_all(reader: &mut Reader, users: &[AuthUser]) -> Vec<Self> {
        let mut workloads: Vec<Self> = Vec::new();
        for mut entry in reader.list("auth.spiffe") {
            let workload = Self::read(&mut entry);
            if let Some(workload) = &workload {
                // The user of a certificate must not depend on the order of the entries.
                if let Some(other) = workloads.iter().find(|it| it.id.overlaps(&workload.id)) {
                    entry.problem(format!(
                        "id matches ids of an earlier entry too, {}; keep them apart",
                        other.id
                    ));
                }
                if users.iter().any(|it| it.user_id == workload.user) {
                    let what = "is a user of [[auth.users]] too; give the workload a name of its own";
                    entry.problem(format!("{} {what}", workload.user));
                }
            }
            if reader.end(entry) {
                workloads.extend(workload);
            }
        }
        for workload in &workloads {
            reader.show_entry("[[auth.spiffe]]", &workload.shown());
        }
        workloads
    }

    fn read(entry: &mut Fields) -> Option<Self> {
        let (id, user) = (entry.required::<String>("id"), entry.required::<UserId>("user"));
        let groups = entry.optional::<Vec<String>>("groups").unwrap_or_default();
        let id = id.and_then(|id| id.parse().map_err(|what| entry.problem(format!("id: {what}"))).ok());
        if user.as_ref().is_some_and(|user| user.as_str().contains(':')) {
            entry.problem("user must hold no colon, as the ids of users of [[auth.issuers]] do");
        }
        if !groups.iter().all(|group| is_group(group)) {
            entry.problem("groups must be visible ASCII without / and :, as groups of [[auth.issuers]] hold");
        }
        Some(Self { id: id?, user: user?, groups })
    }

    fn shown(&self) -> Vec<(&'static str, String)> {
        vec![
            ("id", self.id.to_string().to_toml()),
            ("user", self.user.to_toml()),
            ("groups", self.groups.to_toml()),
        ]
    }
}

fn is_group(group: &str) -> bool {
    !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_graphic() && !b"/:".contains(&byte))
}
