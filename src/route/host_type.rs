//! The types that Puppet's own agent package brings, all of them for hosts.
//!
//! Types of a site's or a Forge module are not listed: a type that neither this list nor a model
//! knows is an error, never silently a host's.

/// Whether a type (lower-case name) is one of Puppet's host types.
pub fn is_host_type(name: &str) -> bool {
    HOST_TYPES.binary_search(&name).is_ok()
}

/// Built into Puppet, or in the modules that its agent package ships. Sorted.
const HOST_TYPES: &[&str] = &[
    "augeas",
    "cron",
    "exec",
    "file",
    "filebucket",
    "group",
    "host",
    "k5login",
    "macauthorization",
    "mailalias",
    "maillist",
    "mcx",
    "mount",
    "nagios_command",
    "nagios_contact",
    "nagios_contactgroup",
    "nagios_host",
    "nagios_hostdependency",
    "nagios_hostescalation",
    "nagios_hostextinfo",
    "nagios_hostgroup",
    "nagios_service",
    "nagios_servicedependency",
    "nagios_serviceescalation",
    "nagios_serviceextinfo",
    "nagios_servicegroup",
    "nagios_timeperiod",
    "package",
    "resources",
    "scheduled_task",
    "selboolean",
    "selmodule",
    "service",
    "ssh_authorized_key",
    "sshkey",
    "tidy",
    "user",
    "yumrepo",
    "zfs",
    "zone",
    "zpool",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(HOST_TYPES.is_sorted());
        assert!(is_host_type("augeas") && is_host_type("zpool") && is_host_type("package"));
        assert!(!is_host_type("network_vlan"));
    }
}
