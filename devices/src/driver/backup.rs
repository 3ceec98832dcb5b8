//! The configuration of a device as text that changes only with the configuration.

use super::Driver;
use super::backup_rules::Backup;
use crate::read::{CONFIG, ReadRequest, Reads};

impl Driver {
    /// The reads of a backup: those of all types and facts, and the configuration.
    pub fn backup_reads(&self) -> Vec<ReadRequest> {
        let platform = self.platform();
        let types = platform.type_drivers();
        let models: Vec<_> = types.map(|definition| &definition.model).collect();
        let configuration = platform.reads.get(CONFIG);
        let configuration = configuration.map(|rule| rule.request.clone());
        let requests = configuration.into_iter().chain(platform.fact_reads());
        super::once(requests.chain(self.reads(&models)))
    }

    /// The backup of a device with these answers. `mask` replaces secrets.
    pub fn backup(&self, answers: &Reads, mask: impl Fn(&str) -> String) -> Backup {
        self.platform().backup.backup(answers, mask)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::driver::{Facts, Registry};

    fn backup(platform: &str, read: &str, answer: &str) -> Backup {
        let registry = Registry::shipped();
        let platform = registry.platform(platform).unwrap();
        let driver = Driver::new(platform, &Facts::default());
        let mut reads = driver.backup_reads().into_iter();
        assert!(reads.any(|one| one.name == read));
        let answers = Reads::from_iter([(read.to_owned(), answer.to_owned())]);
        driver.backup(&answers, str::to_owned)
    }

    #[test]
    fn backup_of_lines_has_no_volatile_lines() {
        let body = "version 15.2\n!\nhostname sw1\nbanner motd ^C\n\n text ^C\nend\n";
        let printed = |bytes: u32, time: &str| {
            format!(
                "Building configuration...\r\n\r\nCurrent configuration : {bytes} bytes\r\n\
                 ! Last configuration change at {time} UTC Mon Nov 23 2026 by ops\r\n\
                 ! NVRAM config last updated at {time} UTC Mon Nov 23 2026\r\n{body}\
                 ntp clock-period {bytes}\n\n"
            )
        };
        let first = backup("cisco_ios", "config", &printed(1200, "10:00:00"));
        assert_eq!(first.configuration.as_deref(), Some(body));
        assert_eq!(first.answers, None);
        let second = backup("cisco_ios", "config", &printed(9, "23:59:59"));
        assert_eq!(first, second);
    }

    /// Outputs of the same switch at two times, as in the command references of Catalyst switches.
    #[test]
    fn backup_of_other_answers_changes_only_with_the_configuration() {
        let version = |uptime: &str, restarted: &str| {
            format!(
                "Cisco IOS Software, C3750E Software (C3750E-UNIVERSALK9-M), Version 15.2(4)E7, RELEASE SOFTWARE (fc2)\n\
                 sw1 uptime is {uptime}\nSystem returned to ROM by {restarted}\n\
                 System restarted at {restarted}\nSystem image file is \"flash:c3750e.bin\"\n"
            )
        };
        let status = |uplink: &str| {
            format!(
                "Port      Name               Status       Vlan       Duplex  Speed Type\n\
                 Gi1/0/1   uplink             {uplink} 10/100/1000BaseTX\n\
                 Gi1/0/2                      disabled     20           full    100 10/100/1000BaseTX\n"
            )
        };
        let switchport = |mode: &str| {
            format!(
                "Name: Gi1/0/1\nSwitchport: Enabled\nAdministrative Mode: dynamic auto\n\
                 Operational Mode: {mode}\nAccess Mode VLAN: 10 (users)\n"
            )
        };
        let lists = |matches: &str| {
            format!("Extended IP access list web\n    10 permit tcp any any eq www{matches}\n")
        };
        for (read, first, second, stored) in [
            (
                "version",
                version("2 weeks, 3 days", "power-on"),
                version("1 minute", "reload at 10:00:00 UTC Mon Nov 23 2026"),
                "sw1 uptime is\"",
            ),
            (
                "interfaces_status",
                status("connected    10         a-full a-1000"),
                status("notconnect   10           auto   auto"),
                "  disabled     20           full    100 ",
            ),
            (
                "switchport",
                switchport("static access"),
                switchport("down"),
                "Access Mode VLAN: 10 (users)",
            ),
            (
                "ip_access_lists",
                lists(" (12 matches)"),
                lists(""),
                "    10 permit tcp any any eq www\"",
            ),
        ] {
            let (first, second) = (
                backup("cisco_ios", read, &first),
                backup("cisco_ios", read, &second),
            );
            assert_eq!(first, second, "{read}");
            let text = first.answers.unwrap();
            assert!(text.contains(stored), "{read}: {text}");
        }
    }

    #[test]
    fn backup_of_json_has_no_volatile_fields() {
        let read = "GET /mgmt/tm/ltm/pool";
        let answer = |generation: u32| {
            format!(
                r#"{{"kind":"c","items":[{{"name":"web","generation":{generation},"minimumActive":1}}]}}"#
            )
        };
        let first = backup("f5_bigip", read, &answer(7));
        assert_eq!(first, backup("f5_bigip", read, &answer(8)));
        assert_eq!(first.configuration, None);
        let json: Json = serde_json::from_str(&first.answers.unwrap()).unwrap();
        let expected = r#"{"kind":"c","items":[{"name":"web","minimumActive":1}]}"#;
        assert_eq!(json[read], serde_json::from_str::<Json>(expected).unwrap());
    }

    /// Answers of iproute2 6.1 about a link that goes down, and of HAProxy 2.6 about a server whose
    /// check fails.
    #[test]
    fn backup_of_hosts_changes_only_with_the_configuration() {
        let link = |flags: &str, qdisc: &str, state: &str| {
            format!(
                r#"[{{"ifindex":4,"ifname":"eth0","flags":["BROADCAST","MULTICAST","UP"{flags}],"mtu":1400,"qdisc":"{qdisc}","operstate":"{state}","link_type":"ether","address":"02:fc:00:00:00:01"}}]"#
            )
        };
        let route = |flags: &str| {
            format!(
                r#"[[{{"dst":"10.0.0.0/8","gateway":"192.0.2.1","dev":"eth0","flags":[{flags}]}}],[]]"#
            )
        };
        let server = |measured: [&str; 7]| {
            let [state, seconds, check @ ..] = measured;
            format!(
                "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight \
                 srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state \
                 srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord\n\
                 2 web 1 s1 127.0.0.1 {state} 0 10 1 {seconds} {} 0 0 - 80 -\n\n",
                check.join(" ")
            )
        };
        let info = |pid: u32, uptime: &str, connections: u32| {
            format!(
                "Name: HAProxy\nVersion: 2.6.12-1+deb12u3\nNbthread: 2\nPid: {pid}\nUptime: {uptime}\n\
                 Maxconn: 9986\nCurrConns: {connections}\nMaxConnRate: {connections}\nnode: vm\n\
                 Unstoppable Jobs: {connections}\nPoolUsed_bytes: {pid}\nStart_time_sec: {pid}\n"
            )
        };
        for (platform, read, first, second, stored) in [
            (
                "linux",
                "links",
                link(r#","LOWER_UP""#, "pfifo_fast", "UP"),
                link(r#","NO-CARRIER""#, "noop", "DOWN"),
                r#""MULTICAST",
        "UP""#,
            ),
            (
                "linux",
                "routes",
                route(""),
                route(r#""dead","linkdown""#),
                r#""gateway": "192.0.2.1""#,
            ),
            (
                "haproxy",
                "servers",
                server(["2", "1", "1", "0", "2", "0", "0"]),
                server(["0", "86400", "8", "2", "0", "6", "0"]),
                r#""2 web 1 s1 127.0.0.1 - 0 10 1 - - - - - - 0 0 - 80 -""#,
            ),
            (
                "haproxy",
                "info",
                info(30529, "0d 0h00m01s", 0),
                info(77, "9d 1h00m01s", 12),
                r#""node: vm""#,
            ),
        ] {
            let (first, second) = (
                backup(platform, read, &first),
                backup(platform, read, &second),
            );
            assert_eq!(first, second, "{platform} {read}");
            let text = first.answers.unwrap();
            assert!(text.contains(stored), "{platform} {read}: {text}");
        }
    }

    #[test]
    fn saved_answer_has_the_lines_of_the_device() {
        for (saved, expected) in [
            (json!("a\nb"), "a\nb"),
            (json!({"lines": ["a", " b"]}), "a\n b\n"),
            (json!({"lines": []}), ""),
            (json!({"lines": ["a"], "x": 1}), r#"{"lines":["a"],"x":1}"#),
            (json!(["a"]), r#"["a"]"#),
        ] {
            assert_eq!(Backup::answer(saved), expected);
        }
    }
}
