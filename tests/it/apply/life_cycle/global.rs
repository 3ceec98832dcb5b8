//! Global lines: CEF, routing, logging, SNMP, NTP and names.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow, follow_on};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_global_lines() {
    let steps = vec![
        Step {
            resources: vec![
                resource("Ios_ip", "default", json!({"routing": true})),
                resource(
                    "Ios_cef",
                    "default",
                    json!({"distributed": false, "optimize_resolution": false,
                           "load_sharing": ["include-ports", "source"]}),
                ),
                resource(
                    "Ios_additional_syslog_settings",
                    "default",
                    json!({"trap": 3, "origin_id": ["string", "Main"]}),
                ),
                resource(
                    "Ios_snmp_global",
                    "default",
                    json!({"trap_source": "vlan1", "system_shutdown": true, "contact": "NOC", "manager": true,
                           "manager_session_timeout": 20, "ifmib_ifindex_persist": true}),
                ),
                resource(
                    "Ios_ntp_access_group",
                    "10",
                    json!({"access_group_type": "peer", "ipv6_access_group": false}),
                ),
                resource(
                    "Ios_ntp_access_group",
                    "SIX",
                    json!({"access_group_type": "query-only", "ipv6_access_group": true}),
                ),
            ],
            lines: &[
                "ip routing",
                "no ip cef distributed",
                "no ip cef optimize neighbor resolution",
                "ip cef load-sharing algorithm include-ports source",
                "logging trap errors",
                "logging origin-id string Main",
                "snmp-server trap-source Vlan1",
                "snmp-server contact NOC",
                "snmp-server system-shutdown",
                "snmp-server manager",
                "snmp-server manager session-timeout 20",
                "snmp ifmib ifindex persist",
                "ntp access-group peer 10",
                "ntp access-group ipv6 query-only SIX",
            ],
        },
        Step {
            resources: vec![
                resource("Ios_ip", "default", json!({"routing": false})),
                resource(
                    "Ios_cef",
                    "default",
                    json!({"distributed": true, "optimize_resolution": true, "load_sharing": "original"}),
                ),
                resource(
                    "Ios_additional_syslog_settings",
                    "default",
                    json!({"trap": 6, "origin_id": "hostname"}),
                ),
                resource(
                    "Ios_snmp_global",
                    "default",
                    json!({"trap_source": "unset", "system_shutdown": false, "contact": "NOC 2", "manager": false,
                           "manager_session_timeout": "unset", "ifmib_ifindex_persist": false}),
                ),
                resource(
                    "Ios_ntp_access_group",
                    "10",
                    json!({"access_group_type": "serve"}),
                ),
            ],
            lines: &[
                "ip cef load-sharing algorithm original",
                "logging origin-id hostname",
                "snmp-server contact NOC 2",
                "ntp access-group serve 10",
                "ntp access-group ipv6 query-only SIX",
            ],
        },
        Step {
            resources: vec![
                resource("Ios_cef", "default", json!({"load_sharing": "unset"})),
                resource(
                    "Ios_additional_syslog_settings",
                    "default",
                    json!({"trap": "unset", "origin_id": "unset"}),
                ),
                resource("Ios_snmp_global", "default", json!({"contact": "unset"})),
                resource(
                    "Ios_ntp_access_group",
                    "10",
                    json!({"access_group_type": "serve", "ensure": "absent"}),
                ),
                resource(
                    "Ios_ntp_access_group",
                    "SIX",
                    json!({"access_group_type": "query-only", "ensure": "absent"}),
                ),
            ],
            lines: &[],
        },
    ];
    let words = ["ip routing", "ip cef", "logging", "snmp", "ntp"];
    follow("interface Vlan1\n", &words, steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_names() {
    let one = |of: &str, title: &str| resource(of, title, json!({"ensure": "present"}));
    let absent = |of: &str, title: &str| resource(of, title, json!({"ensure": "absent"}));
    let steps = vec![
        Step {
            resources: vec![
                one("Domain_name", "lab.example"),
                one("Search_domain", "a.example"),
                one("Search_domain", "b.example"),
                one("Name_server", "192.0.2.53"),
                one("Name_server", "2001:db8::53"),
            ],
            lines: &[
                "ip name-server 192.0.2.53 2001:DB8::53",
                "ip domain list a.example",
                "ip domain list b.example",
                "ip domain name lab.example",
            ],
        },
        Step {
            resources: vec![
                one("Domain_name", "new.example"),
                absent("Search_domain", "a.example"),
                absent("Name_server", "192.0.2.53"),
            ],
            lines: &[
                "ip name-server 2001:DB8::53",
                "ip domain list b.example",
                "ip domain name new.example",
            ],
        },
        Step {
            resources: vec![
                absent("Domain_name", "new.example"),
                absent("Search_domain", "b.example"),
                absent("Name_server", "2001:DB8::53"),
            ],
            lines: &[],
        },
    ];
    follow("interface Vlan1\n", &["ip domain", "ip name-server"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_services_and_the_web_server() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_service",
                    "default",
                    json!({"timestamps_log": "datetime msec localtime", "timestamps_debug": "uptime",
                           "password_encryption": true, "sequence_numbers": true, "tcp_keepalives_in": true}),
                ),
                resource(
                    "Ios_http_server",
                    "default",
                    json!({"http": false, "https": true, "authentication": "local"}),
                ),
                resource(
                    "Ios_ssh",
                    "default",
                    json!({"version": 2, "time_out": 60, "authentication_retries": 2,
                           "source_interface": "vl10"}),
                ),
            ],
            lines: &[
                "service timestamps debug uptime",
                "service timestamps log datetime msec localtime",
                "service password-encryption",
                "service sequence-numbers",
                "service tcp-keepalives-in",
                "no ip http server",
                "ip http authentication local",
                "ip http secure-server",
                "ip ssh version 2",
                "ip ssh time-out 60",
                "ip ssh authentication-retries 2",
                "ip ssh source-interface Vlan10",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_service",
                    "default",
                    json!({"timestamps_log": "datetime msec", "timestamps_debug": "unset",
                           "password_encryption": false, "sequence_numbers": false, "tcp_keepalives_in": false}),
                ),
                resource(
                    "Ios_http_server",
                    "default",
                    json!({"http": true, "https": false, "authentication": "unset"}),
                ),
                resource(
                    "Ios_ssh",
                    "default",
                    json!({"version": 2, "time_out": "unset", "authentication_retries": "unset",
                           "source_interface": "unset"}),
                ),
            ],
            lines: &[
                "service timestamps log datetime msec",
                "ip http server",
                "no ip http secure-server",
                "ip ssh version 2",
            ],
        },
    ];
    let config = "interface Vlan10\nip http server\nno ip http secure-server\n";
    follow(config, &["service", "ip http", "ip ssh"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_ethernet_interfaces() {
    let port = |attributes| vec![resource("Ios_ethernet_interface", "gi0/0/1", attributes)];
    let steps = vec![
        Step {
            resources: port(json!({"negotiation": true, "mop_enabled": false, "mop_sysid": false})),
            lines: &[
                "interface GigabitEthernet0/0/1",
                " negotiation auto",
                " no mop enabled",
                " no mop sysid",
            ],
        },
        Step {
            resources: port(json!({"negotiation": false, "mop_enabled": true, "mop_sysid": true})),
            lines: &[
                "interface GigabitEthernet0/0/1",
                " no negotiation auto",
                " mop sysid",
            ],
        },
    ];
    let words = ["interface GigabitEthernet0/0/1"];
    follow_on(
        Some("ISR4331/K9"),
        "interface GigabitEthernet0/0/1\n no negotiation auto\n mop sysid\n",
        &words,
        steps,
    )
    .await;
}
