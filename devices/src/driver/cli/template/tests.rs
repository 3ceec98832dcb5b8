//! Line templates, read and written.

use super::*;

/// Numbers only for `key` and `port`, words for all else.
struct Words;

impl Vocabulary for Words {
    fn read(&self, attribute: &str, text: &str) -> Option<Value> {
        match attribute {
            "key" => text.parse::<i64>().ok().map(Value::Integer),
            "ports" => text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric())
                .then(|| text.into()),
            _ => Some(text.into()),
        }
    }

    fn write(&self, _: &str, value: &Value) -> Option<String> {
        value.scalar_text()
    }

    fn is_secret(&self, attribute: &str) -> bool {
        attribute == "password"
    }
}

fn read(template: &str, line: &str) -> Option<String> {
    let bindings = LineTemplate::parse(template).unwrap().read(line, &Words)?;
    let bindings: Vec<String> = bindings
        .iter()
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    Some(bindings.join(" "))
}

#[test]
fn lines_are_read_by_words() {
    let ntp = "ntp server [vrf {vrf}] {name} <[key {key}] [{prefer?prefer}] [source {source}]>";
    let acl = "{entry} (permit|deny) ({any?any}|host {host}|{address} [{mask}]) [eq {ports:words}] (dany|dhost {dhost}) [{type}] [{log?log}]";
    let cases = [
        (
            ntp,
            "ntp server 10.0.0.1 prefer key 7",
            Some("name=\"10.0.0.1\" prefer=true key=7"),
        ),
        (
            ntp,
            "NTP Server vrf M 10.0.0.1 source Vlan1",
            Some("vrf=\"M\" name=\"10.0.0.1\" source=\"Vlan1\" prefer=false"),
        ),
        (
            "x {name} [{prefer!prefer}] [{burst!burst}]",
            "x a burst",
            Some("name=\"a\" burst=true"),
        ),
        (ntp, "ntp server 10.0.0.1 key x", None),
        (ntp, "ntp server", None),
        (
            "description {text:rest}",
            "description  a  b ",
            Some("text=\"a  b\""),
        ),
        ("mtu {mtu}", "mtu 1500 x", None),
        (
            "(ip {prefix:ipv4}|ipv6 {prefix:ipv6}) {hop}",
            "ipv6 2001:db8::/32 eth1",
            Some("prefix=\"2001:db8::/32\" hop=\"eth1\""),
        ),
        ("ip {prefix:ipv4}", "ip 2001:db8::/32", None),
        (
            "x {name} <[key {key}] [{prefer?prefer}]> [{*}]",
            "x a version 2 prefer odd key 7 end",
            Some("name=\"a\" prefer=true key=7 *=\"version 2 odd end\""),
        ),
        (
            "x {name} <[key {key}] [{prefer?prefer}]> [{*}]",
            "x a key 7",
            Some("name=\"a\" key=7 prefer=false"),
        ),
        (
            "set port {name} tag={tag}",
            "set port p1 TAG=10",
            Some("name=\"p1\" tag=\"10\""),
        ),
        ("set port {name} tag={tag}", "set port p1 tags=10", None),
        ("set port {name} tag={tag}", "set port p1 tag=", None),
        (
            "set server {backend}/{server} weight {key}",
            "set server web/s1/a weight 5",
            Some("backend=\"web\" server=\"s1/a\" key=5"),
        ),
        (
            "speed forced {speed}full",
            "speed forced 1000full",
            Some("speed=\"1000\""),
        ),
        ("speed forced {speed}full", "speed forced 1000half", None),
        (
            "logging host {name} [{*}]",
            "logging host a discriminator x",
            Some("name=\"a\" *=\"discriminator x\""),
        ),
        (
            "channel-group {name|number} mode {mode}",
            "channel-group 41 mode active",
            Some("name|number=\"41\" mode=\"active\""),
        ),
        (
            "aaa {name} [{groups:each group}] [{local?local}]",
            "aaa x group a Group local local",
            Some("name=\"x\" groups=[\"a\", \"local\"] local=true"),
        ),
        (
            "aaa {name} [{groups:each group}] [{local?local}]",
            "aaa x local group a",
            None,
        ),
        (
            acl,
            "10 permit any eq www 80 dany log",
            Some("entry=\"10\" any=true ports=[\"www\", \"80\"] log=true"),
        ),
        (
            acl,
            "10 deny 1.1.1.1 0.0.0.255 dhost 2.2.2.2 echo",
            Some(
                "entry=\"10\" address=\"1.1.1.1\" mask=\"0.0.0.255\" dhost=\"2.2.2.2\" type=\"echo\" log=false",
            ),
        ),
        (
            acl,
            "10 permit host 1.1.1.1 dany",
            Some("entry=\"10\" host=\"1.1.1.1\" log=false"),
        ),
    ];
    for (template, line, expected) in cases {
        assert_eq!(read(template, line).as_deref(), expected, "{line}");
    }
}

#[test]
fn parts_count_only_where_an_attribute_has_a_value() {
    let entry = "{entry} {action} ({action=evaluate} {list}|{action=permit|deny} {protocol} any [{protocol=icmp} {icmp}] [{protocol=igmp} {igmp}] [{log?log}])";
    let lines = [
        (
            "10 evaluate back",
            "entry=\"10\" action=\"evaluate\" list=\"back\"",
        ),
        (
            "10 permit icmp any echo",
            "entry=\"10\" action=\"permit\" protocol=\"icmp\" icmp=\"echo\" log=false",
        ),
        (
            "10 deny igmp any trace log",
            "entry=\"10\" action=\"deny\" protocol=\"igmp\" igmp=\"trace\" log=true",
        ),
        (
            "10 deny icmp any log",
            "entry=\"10\" action=\"deny\" protocol=\"icmp\" log=true",
        ),
    ];
    let template = LineTemplate::parse(entry).unwrap();
    for (line, expected) in lines {
        assert_eq!(read(entry, line).as_deref(), Some(expected), "{line}");
        let bindings = template.read(line, &Words).unwrap();
        let get = |name: &str| {
            let found = bindings.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value)
        };
        let written = template.write(&get, &Words).map(|line| line.to_string());
        assert_eq!(written.as_deref(), Some(line));
    }
    for line in ["10 permit back", "10 permit tcp any echo"] {
        assert_eq!(read(entry, line), None, "{line}");
    }
}

#[test]
fn lines_are_written_with_what_has_a_value() {
    let values = |pairs: Vec<(&str, Value)>| -> Vec<(String, Value)> {
        pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    };
    let cases = [
        (
            "ntp server [vrf {vrf}] {name} <[key {key}] [{prefer?prefer}]>",
            vec![("name", "a".into()), ("prefer", true.into())],
            Some("ntp server a prefer"),
        ),
        (
            "ntp server [vrf {vrf}] {name}",
            vec![("vrf", "M".into())],
            None,
        ),
        (
            "x ({any?any}|host {host}|{address} [{mask}])",
            vec![("any", false.into()), ("host", "h".into())],
            Some("x host h"),
        ),
        (
            "eq {ports:words} [{log!log}]",
            vec![("ports", 7.into()), ("log", true.into())],
            Some("eq 7 log"),
        ),
        (
            "aaa [{groups:each group}] [{local?local}]",
            vec![("groups", Value::List(vec!["a".into(), "b".into()]))],
            Some("aaa group a group b"),
        ),
        (
            "eq {ports:words}",
            vec![("ports", Value::List(vec!["a".into(), 1.into()]))],
            Some("eq a 1"),
        ),
        (
            "channel-group {name|number}",
            vec![("name", "Port-channel41".into())],
            Some("channel-group 41"),
        ),
        (
            "key {password}",
            vec![("password", "s3cret".into())],
            Some("key ••••"),
        ),
        (
            "key {other}",
            vec![("other", Value::Sensitive(Box::new("s3cret".into())))],
            Some("key ••••"),
        ),
    ];
    for (template, pairs, expected) in cases {
        let pairs = values(pairs);
        let get = |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value)
        };
        let line = LineTemplate::parse(template).unwrap().write(&get, &Words);
        assert_eq!(
            line.map(|line| line.to_string()).as_deref(),
            expected,
            "{template}"
        );
    }
}

#[test]
fn words_with_several_values_are_split_as_they_were_written() {
    let template = LineTemplate::parse("set server {backend}/{server}").unwrap();
    let write = |backend: &str, server: &str| {
        let (backend, server) = (Value::from(backend), Value::from(server));
        let values = |name: &str| match name {
            "backend" => Some(&backend),
            _ => Some(&server),
        };
        let line = template.write(&values, &Words);
        line.map(|line| line.reveal())
    };
    assert_eq!(write("web", "s1").as_deref(), Some("set server web/s1"));
    assert_eq!(write("web", "s1/a").as_deref(), Some("set server web/s1/a"));
    assert_eq!(write("web/x", "s1"), None, "it would be another backend");
}
