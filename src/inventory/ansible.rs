//! Ansible's inventory in JSON, as `ansible-inventory --list` and inventory scripts print it.
//!
//! Hosts become devices. Variables of groups are merged as in Ansible: those of deeper groups replace
//! those of their parents, groups of one depth are merged by name, and the host's own are last.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use serde_json::{Map, Value as Json, json};
use switchtender_devices::diagnostic::suggest;

/// The key that all inventories of Ansible have.
pub(super) const META: &str = "_meta";

/// A setting, and the variables that have its value; the first that is set counts.
pub(super) const VARIABLES: [(&str, &[&str]); 7] = [
    ("platform", &["ansible_network_os"]),
    ("address", &["ansible_host", "ansible_ssh_host"]),
    ("port", &["ansible_port", "ansible_ssh_port"]),
    ("user", &["ansible_user", "ansible_ssh_user"]),
    (
        "password",
        &[
            "ansible_password",
            "ansible_ssh_password",
            "ansible_ssh_pass",
        ],
    ),
    (
        "enable_password",
        &["ansible_become_password", "ansible_become_pass"],
    ),
    (
        "private_key",
        &["ansible_private_key_file", "ansible_ssh_private_key_file"],
    ),
];

/// Variables with this beginning are settings of the device: `switchtender_site`.
pub(super) const PREFIX: &str = "switchtender_";

/// Why the hosts are no devices.
#[derive(Debug, thiserror::Error)]
pub(super) enum AnsibleError {
    #[error("`{0}` is not an object")]
    NotObject(String),
    #[error("`{0}` is not a list of names")]
    NotNames(String),
    #[error("the groups {0} contain each other")]
    Cycle(String),
    #[error("it has no group `{name}`")]
    UnknownGroup { name: String, hint: String },
    #[error("`{variable}` of host {host} is a template")]
    Template { host: String, variable: String },
    #[error("`{variable}` of host {host} is encrypted")]
    Encrypted { host: String, variable: String },
}

impl AnsibleError {
    pub(super) fn help(&self) -> String {
        match self {
            AnsibleError::UnknownGroup { hint, .. } => hint.clone(),
            AnsibleError::Template { .. } => {
                "templates are not rendered: print the value itself".to_owned()
            }
            AnsibleError::Encrypted { .. } => {
                "decrypt it: `ansible-inventory --list --vault-password-file FILE`".to_owned()
            }
            _ => "print the format of `ansible-inventory --list`".to_owned(),
        }
    }
}

/// The hosts as tables of an inventory.
pub(super) struct AnsibleHosts {
    pub(super) tables: Map<String, Json>,
    /// Variables that are no values, by host.
    pub(super) problems: Vec<(String, AnsibleError)>,
}

/// The hosts of these groups, or all hosts.
pub(super) fn tables(
    root: &Map<String, Json>,
    groups: &[String],
) -> Result<AnsibleHosts, AnsibleError> {
    let ansible = AnsibleGroups::read(root)?;
    let selected = ansible.hosts_of_all(groups)?;
    let no_variables = Map::new();
    let host_variables = match root.get(META).and_then(|meta| meta.get("hostvars")) {
        Some(variables) => object(variables, "_meta.hostvars")?,
        None => &no_variables,
    };
    let mut hosts: Vec<&str> = host_variables.keys().map(String::as_str).collect();
    let mut seen: HashSet<&str> = hosts.iter().copied().collect();
    for group in ansible.groups.values() {
        hosts.extend(group.hosts.iter().filter(|host| seen.insert(host)));
    }
    let by_host = ansible.groups_by_host();
    let mut devices = Map::new();
    let mut problems = Vec::new();
    for host in hosts {
        if selected
            .as_ref()
            .is_some_and(|selected| !selected.contains(host))
        {
            continue;
        }
        let of_host = by_host.get(host).map(Vec::as_slice).unwrap_or_default();
        let of_all = ansible.groups.get(ALL);
        let mut variables = of_all.map_or_else(Map::new, |all| all.variables.clone());
        for name in of_host {
            variables.extend(ansible.groups[name].variables.clone());
        }
        if let Some(own) = host_variables.get(host) {
            variables.extend(object(own, host)?.clone());
        }
        let labels = of_host.iter().filter(|name| **name != UNGROUPED);
        let labels = labels.map(|name| ((*name).to_owned(), json!("true")));
        let (device, found) = settings(host, &variables, labels.collect())?;
        problems.extend(found.into_iter().map(|error| (host.to_owned(), error)));
        devices.insert(host.to_owned(), Json::Object(device));
    }
    // A host without `ansible_host` has its name as the address, unless the inventory has another one.
    let tables = json!({"defaults": {"address": "{name}"}, "device": devices});
    let tables = object(&tables, "device")?.clone();
    Ok(AnsibleHosts { tables, problems })
}

/// The groups that Ansible itself makes. Each host is in `all`, also if it does not list it.
const ALL: &str = "all";
const UNGROUPED: &str = "ungrouped";

/// The table of a device, and the variables that are no values.
fn settings(
    host: &str,
    variables: &Map<String, Json>,
    mut labels: Map<String, Json>,
) -> Result<(Map<String, Json>, Vec<AnsibleError>), AnsibleError> {
    let mut settings = Map::new();
    let mut problems = Vec::new();
    let mut add = |key: &str, variable: &str, value: &Json| {
        let (host, variable) = (host.to_owned(), variable.to_owned());
        match value {
            Json::String(text) if text.contains("{{") => {
                problems.push(AnsibleError::Template { host, variable });
            }
            Json::Object(fields) if fields.contains_key("__ansible_vault") => {
                problems.push(AnsibleError::Encrypted { host, variable });
            }
            _ => {
                settings.insert(key.to_owned(), value.clone());
            }
        }
    };
    for (key, names) in VARIABLES {
        let set = names
            .iter()
            .find_map(|name| Some((*name, variables.get(*name)?)));
        let Some((name, value)) = set else { continue };
        let value = match (key, value) {
            ("port", Json::String(text)) => {
                text.parse().map_or(value.clone(), |port: i64| json!(port))
            }
            _ => value.clone(),
        };
        add(key, name, &value);
    }
    for (name, value) in variables {
        match name.strip_prefix(PREFIX) {
            Some("labels") => labels.extend(object(value, name)?.clone()),
            Some(key) => add(key, name, value),
            None => {}
        }
    }
    if !labels.is_empty() {
        settings.insert("labels".to_owned(), Json::Object(labels));
    }
    Ok((settings, problems))
}

struct AnsibleGroup<'a> {
    hosts: Vec<&'a str>,
    children: Vec<&'a str>,
    variables: Map<String, Json>,
}

/// The groups by name.
struct AnsibleGroups<'a> {
    groups: BTreeMap<&'a str, AnsibleGroup<'a>>,
    /// Distance from the outermost group.
    depths: HashMap<&'a str, usize>,
}

impl<'a> AnsibleGroups<'a> {
    fn read(root: &'a Map<String, Json>) -> Result<Self, AnsibleError> {
        let mut groups = BTreeMap::new();
        for (name, value) in root.iter().filter(|(name, _)| *name != META) {
            let group = match value {
                // The short form of a group.
                Json::Array(_) => AnsibleGroup {
                    hosts: names(Some(value), name)?,
                    children: Vec::new(),
                    variables: Map::new(),
                },
                _ => {
                    let fields = object(value, name)?;
                    AnsibleGroup {
                        hosts: names(fields.get("hosts"), name)?,
                        children: names(fields.get("children"), name)?,
                        variables: match fields.get("vars") {
                            Some(variables) => object(variables, name)?.clone(),
                            None => Map::new(),
                        },
                    }
                }
            };
            groups.insert(name.as_str(), group);
        }
        let mut depths: HashMap<&str, usize> = groups.keys().map(|name| (*name, 0)).collect();
        // Without a cycle, no group is deeper than the number of groups.
        for _ in 0..=groups.len() {
            let mut deeper = Vec::new();
            for (name, group) in &groups {
                for child in &group.children {
                    let depth = depths[name] + 1;
                    if depths.get(child).is_some_and(|known| *known < depth) {
                        depths.insert(child, depth);
                        deeper.push(*child);
                    }
                }
            }
            if deeper.is_empty() {
                return Ok(Self { groups, depths });
            }
        }
        let mut deep: Vec<&str> = groups.keys().copied().collect();
        deep.retain(|name| depths[name] >= groups.len());
        Err(AnsibleError::Cycle(deep.join(", ")))
    }

    /// The hosts of a group and of its children.
    fn hosts_of(&self, name: &str) -> HashSet<&'a str> {
        let mut hosts = HashSet::default();
        let mut open = vec![name];
        let mut seen = HashSet::default();
        while let Some(name) = open.pop() {
            if let Some(group) = self.groups.get(name)
                && seen.insert(name)
            {
                hosts.extend(&group.hosts);
                open.extend(&group.children);
            }
        }
        hosts
    }

    /// The hosts of these groups; `None`: no group is named.
    fn hosts_of_all(&self, names: &[String]) -> Result<Option<HashSet<&'a str>>, AnsibleError> {
        let mut hosts = HashSet::default();
        for name in names {
            if !self.groups.contains_key(name.as_str()) {
                let groups: Vec<&str> = self.groups.keys().copied().collect();
                let all = format!("groups: {}", groups.join(", "));
                return Err(AnsibleError::UnknownGroup {
                    name: name.clone(),
                    hint: suggest(name, groups, all),
                });
            }
            hosts.extend(self.hosts_of(name));
        }
        Ok((!names.is_empty()).then_some(hosts))
    }

    /// The groups of each host except `all`, those whose variables count less first.
    fn groups_by_host(&self) -> HashMap<&'a str, Vec<&'a str>> {
        let mut ordered: Vec<&str> = self.groups.keys().copied().collect();
        ordered.retain(|name| *name != ALL);
        ordered.sort_by_key(|name| (self.depths[name], *name));
        let mut by_host: HashMap<&str, Vec<&str>> = HashMap::default();
        for name in ordered {
            for host in self.hosts_of(name) {
                by_host.entry(host).or_default().push(name);
            }
        }
        by_host
    }
}

fn object<'a>(value: &'a Json, name: &str) -> Result<&'a Map<String, Json>, AnsibleError> {
    let object = value.as_object();
    object.ok_or_else(|| AnsibleError::NotObject(name.to_owned()))
}

fn names<'a>(list: Option<&'a Json>, group: &str) -> Result<Vec<&'a str>, AnsibleError> {
    let Some(list) = list else {
        return Ok(Vec::new());
    };
    let names = list.as_array().into_iter().flatten();
    let found: Vec<&str> = names.filter_map(Json::as_str).collect();
    if list
        .as_array()
        .is_some_and(|list| list.len() == found.len())
    {
        Ok(found)
    } else {
        Err(AnsibleError::NotNames(group.to_owned()))
    }
}
