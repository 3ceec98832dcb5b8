//! Values of an EOS configuration, read by the words of its lines as the user manual describes them.

use super::Fact;

/// The blocks around a line, outermost first.
type Blocks = Vec<(usize, String)>;

pub(super) fn read(config: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut blocks: Blocks = Vec::new();
    for line in config.lines() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('!') {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        blocks.retain(|(other, _)| *other < depth);
        let headers: Vec<Vec<&str>> = blocks.iter().map(|(_, text)| words(text)).collect();
        let headers: Vec<&[&str]> = headers.iter().map(Vec::as_slice).collect();
        let found = facts_of(&headers, &words(text));
        for (type_name, names, attribute, value) in found {
            let line = text.to_owned();
            facts.push(Fact {
                type_name,
                names,
                attribute,
                value,
                line,
            });
        }
        blocks.push((depth, text.to_owned()));
    }
    overwritten(facts)
}

type FoundValue = (&'static str, String, &'static str, String);

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// A later line replaces the value of an earlier one, except in lists.
fn overwritten(facts: Vec<Fact>) -> Vec<Fact> {
    const LISTS: [&str; 5] = ["match", "set", "shared_ip", "route_targets", "redistribute"];
    let is_same = |one: &Fact, other: &Fact| {
        (one.type_name, &one.names, one.attribute)
            == (other.type_name, &other.names, other.attribute)
    };
    let mut current: Vec<Fact> = Vec::new();
    for fact in facts {
        if !LISTS.contains(&fact.attribute) {
            current.retain(|other| !is_same(&fact, other));
        }
        current.push(fact);
    }
    current
}

fn facts_of(headers: &[&[&str]], line: &[&str]) -> Vec<FoundValue> {
    match headers {
        [] => top_level(line),
        [["ip", "prefix-list", list]] => prefix_list(list, line),
        [["route-map", map, _, number]] => route_map(map, number, line),
        [["interface", name]] => interface(&long_name(name), line),
        [["router", "bgp", _]] => bgp("default", line),
        [["router", "bgp", _], ["vrf", vrf]] => bgp_vrf(vrf, line),
        [
            ["router", "bgp", _],
            [kind @ ("vlan" | "vlan-aware-bundle"), name],
        ] => bgp_vlan(kind, name, line),
        [["router", "bgp", _], ["address-family", family]] => neighbor_af(family, line),
        [["router", "ospf", number]] => ospf(number, line),
        _ => Vec::new(),
    }
}

fn top_level(line: &[&str]) -> Vec<FoundValue> {
    match line {
        ["ip", "prefix-list", list, rest @ ..] => prefix_list(list, rest),
        ["ip", "route", prefix, hop, rest @ ..] if prefix.contains('/') => {
            static_route("default", prefix, hop, rest)
        }
        ["ip", "route", "vrf", vrf, prefix, hop, rest @ ..] if prefix.contains('/') => {
            static_route(vrf, prefix, hop, rest)
        }
        ["router", "bgp", number] => value("eos_bgp_config", number, "bgp_as", number),
        _ => Vec::new(),
    }
}

fn value(
    type_name: &'static str,
    names: &str,
    attribute: &'static str,
    value: &str,
) -> Vec<FoundValue> {
    vec![(type_name, names.to_owned(), attribute, value.to_owned())]
}

fn prefix_list(list: &str, line: &[&str]) -> Vec<FoundValue> {
    let ["seq", number, action, prefix, limits @ ..] = line else {
        return Vec::new();
    };
    let names = format!("{list} {number}");
    let Some((address, length)) = prefix.split_once('/') else {
        return Vec::new();
    };
    let of_type = "eos_prefixlist";
    let mut found = value(of_type, &names, "action", action);
    found.extend(value(of_type, &names, "prefix", address));
    found.extend(value(of_type, &names, "masklen", length));
    for pair in limits.chunks(2) {
        match pair {
            ["le", limit] => found.extend(value(of_type, &names, "le", limit)),
            ["ge", limit] => found.extend(value(of_type, &names, "ge", limit)),
            ["eq", limit] => found.extend(value(of_type, &names, "eq", limit)),
            _ => {}
        }
    }
    found
}

fn route_map(map: &str, number: &str, line: &[&str]) -> Vec<FoundValue> {
    let names = format!("{map} {number}");
    match line {
        ["match", rest @ ..] => value("eos_routemap", &names, "match", &rest.join(" ")),
        ["set", rest @ ..] => value("eos_routemap", &names, "set", &rest.join(" ")),
        ["description", rest @ ..] => value("eos_routemap", &names, "description", &rest.join(" ")),
        ["continue", next] => value("eos_routemap", &names, "continue", next),
        _ => Vec::new(),
    }
}

fn static_route(vrf: &str, prefix: &str, hop: &str, rest: &[&str]) -> Vec<FoundValue> {
    let names = format!("{prefix} {hop} {vrf}");
    match rest {
        [] => value("eos_staticroute", &names, "distance", "1"),
        ["name", name] => value("eos_staticroute", &names, "route_name", name),
        [distance, ..] if distance.parse::<u8>().is_ok() => {
            value("eos_staticroute", &names, "distance", distance)
        }
        _ => Vec::new(),
    }
}

/// `Et1` is printed where a line names an interface.
fn long_name(name: &str) -> String {
    let end = name.find(|one: char| one.is_ascii_digit());
    let (kind, number) = name.split_at(end.unwrap_or(name.len()));
    let long = match kind.to_lowercase().as_str() {
        "et" | "ethernet" => "Ethernet",
        "lo" | "loopback" => "Loopback",
        "vl" | "vlan" => "Vlan",
        _ => kind,
    };
    format!("{long}{number}")
}

fn interface(name: &str, line: &[&str]) -> Vec<FoundValue> {
    match line {
        ["ip", "ospf", "area", area] if area.contains('.') => {
            value("eos_ospf_interface", name, "area", area)
        }
        ["ip", "ospf", "network", kind] => value("eos_ospf_interface", name, "network_type", kind),
        ["ip", "ospf", "cost", cost] => value("eos_ospf_interface", name, "cost", cost),
        ["ip", "ospf", "hello-interval", seconds] => {
            value("eos_ospf_interface", name, "hello_interval", seconds)
        }
        ["ip", "ospf", "dead-interval", seconds] => {
            value("eos_ospf_interface", name, "dead_interval", seconds)
        }
        ["ip", "virtual-router", "address", address] => {
            value("eos_varp_interface", name, "shared_ip", address)
        }
        ["ip", "access-group", list, "in"] => value("eos_acl_interface", name, "ipv4_in", list),
        ["ip", "access-group", list, "out"] => value("eos_acl_interface", name, "ipv4_out", list),
        _ => Vec::new(),
    }
}

fn bgp(vrf: &str, line: &[&str]) -> Vec<FoundValue> {
    match line {
        ["network", prefix] if prefix.contains('/') => {
            let names = format!("{vrf} none {prefix}");
            value("eos_bgp_network", &names, "name", prefix)
        }
        ["redistribute", source] => {
            let names = format!("{vrf} none {source}");
            value("eos_bgp_redistribution", &names, "name", source)
        }
        ["redistribute", source, "route-map", map] => {
            let names = format!("{vrf} none {source}");
            value("eos_bgp_redistribution", &names, "route_map", map)
        }
        ["neighbor", "interface" | "default", ..] => Vec::new(),
        ["neighbor", name, rest @ ..] => neighbor(&format!("{vrf} {name}"), rest),
        _ => Vec::new(),
    }
}

fn neighbor(names: &str, line: &[&str]) -> Vec<FoundValue> {
    let of_type = "eos_bgp_neighbor";
    match line {
        ["peer", "group"] | ["peer-group"] => value(of_type, names, "is_group", "true"),
        ["peer", "group", group] | ["peer-group", group] => {
            value(of_type, names, "peer_group", group)
        }
        ["remote-as", number] => value(of_type, names, "remote_as", number),
        ["update-source", source] => value(of_type, names, "update_source", &long_name(source)),
        ["ebgp-multihop", hops] => value(of_type, names, "ebgp_multihop", hops),
        ["bfd"] => value(of_type, names, "bfd", "true"),
        ["shutdown"] => value(of_type, names, "enable", "false"),
        ["send-community"] => value(of_type, names, "send_community", "enable"),
        ["send-community", kinds @ ..] => value(of_type, names, "send_community", &kinds.join(" ")),
        ["next-hop-self"] => value(of_type, names, "next_hop_self", "enable"),
        ["maximum-routes", limit @ ..] => value(of_type, names, "maximum_routes", &limit.join(" ")),
        ["description", text @ ..] => value(of_type, names, "description", &text.join(" ")),
        ["route-map", map, "in"] => value(of_type, names, "route_map_in", map),
        ["route-map", map, "out"] => value(of_type, names, "route_map_out", map),
        _ => Vec::new(),
    }
}

fn bgp_vrf(vrf: &str, line: &[&str]) -> Vec<FoundValue> {
    match line {
        ["rd", number] => value("eos_bgp_vrf", vrf, "route_distinguisher", number),
        ["router-id", address] => value("eos_bgp_vrf", vrf, "router_id", address),
        ["route-target", direction, "evpn", target] => {
            let target = format!("{direction} evpn {target}");
            value("eos_bgp_vrf", vrf, "route_targets", &target)
        }
        _ => bgp(vrf, line),
    }
}

fn bgp_vlan(kind: &str, name: &str, line: &[&str]) -> Vec<FoundValue> {
    let names = format!("{kind} {name}");
    match line {
        ["rd", number] => value("eos_bgp_vlan", &names, "route_distinguisher", number),
        ["route-target", direction, target] => {
            let target = format!("{direction} {target}");
            value("eos_bgp_vlan", &names, "route_targets", &target)
        }
        ["redistribute", what] => value("eos_bgp_vlan", &names, "redistribute", what),
        _ => Vec::new(),
    }
}

fn neighbor_af(family: &str, line: &[&str]) -> Vec<FoundValue> {
    match line {
        ["neighbor", name, "activate"] => {
            let names = format!("default {family} {name}");
            value("eos_bgp_neighbor_af", &names, "activate", "true")
        }
        ["no", "neighbor", name, "activate"] => {
            let names = format!("default {family} {name}");
            value("eos_bgp_neighbor_af", &names, "activate", "false")
        }
        _ => Vec::new(),
    }
}

fn ospf(number: &str, line: &[&str]) -> Vec<FoundValue> {
    match line {
        ["router-id", address] => value("eos_ospf_instance", number, "router_id", address),
        ["max-lsa", limit] => value("eos_ospf_instance", number, "max_lsa", limit),
        ["network", prefix, "area", area] if prefix.contains('/') && area.contains('.') => {
            let names = format!("{prefix} {number}");
            value("eos_ospf_network", &names, "area", area)
        }
        _ => Vec::new(),
    }
}
