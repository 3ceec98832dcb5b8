//! Whether a resource of a catalog is for a device or for a host.
//!
//! A pure function of catalog and models. [`HostResourcePolicy`] decides whether misplaced resources are skipped
//! or refused. By default they are skipped, reported, and listed once per run. A type without a model is an error of
//! its resource, unless the settings or a synchronized module name it as a type of hosts. Source: `docs/reference/transaction.md`, section 2 (step 5) and section 7 (*Device or host*).

use std::collections::HashMap;
use std::sync::Arc;

use switchtender_devices::model::{RunsOn, TypeModel};

use crate::catalog::{Catalog, ResourceKind, types};

/// What a run does about host resources in the catalog of a device, and about device resources in
/// the catalog of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum HostResourcePolicy {
    /// Skip them with a warning
    #[default]
    Warn,
    /// Refuse the catalog with an error
    Refuse,
    /// Skip them without a message, as Puppet does
    Silent,
}

/// The side on which a resource is applied.
#[derive(Clone, Debug)]
pub enum Destination {
    /// A class, a defined type or a stage. It contains other resources and is not applied.
    Container,
    /// Applied to a device; holds the model of the resource type.
    Device(Arc<TypeModel>),
    /// Both sides. Puppet's own types (`notify`, `schedule`) have no model.
    Both(Option<Arc<TypeModel>>),
    /// Applied to a host only, such as a file or a package.
    Host,
    /// A type that neither Puppet nor a model defines. It is never treated as a host type.
    Unknown,
}

impl Destination {
    /// Skipped when the catalog is applied to a device.
    pub(crate) fn is_host_only(&self) -> bool {
        matches!(self, Destination::Host)
    }

    /// Skipped when the catalog is applied to a host.
    pub(crate) fn is_device_only(&self) -> bool {
        matches!(self, Destination::Device(_))
    }

    /// The model of the resource, if it has one.
    pub(crate) fn model(&self) -> Option<&Arc<TypeModel>> {
        match self {
            Destination::Device(model) | Destination::Both(Some(model)) => Some(model),
            _ => None,
        }
    }
}

/// The destination of each resource, in the order of the catalog. `model` finds a type by its
/// lower-case name.
pub fn route(
    catalog: &Catalog,
    model: impl Fn(&str) -> Option<Arc<TypeModel>>,
) -> Vec<Destination> {
    // A catalog has few types and many resources of each.
    let mut destinations: HashMap<(&str, bool), Destination> = HashMap::new();
    catalog
        .resources
        .iter()
        .map(|resource| {
            let typed = is_typed(resource.kind, catalog.format);
            destinations
                .entry((resource.reference.type_name(), typed.is_some()))
                .or_insert_with(|| {
                    let name = resource.reference.model_name();
                    match typed {
                        None => Destination::Container,
                        Some(unknown) => destination(&name, &model).unwrap_or(unknown),
                    }
                })
                .clone()
        })
        .collect()
}

/// The destination of a resource of an unknown type; `None` for a container. From format 2 on the
/// kind decides. Without a kind, and in older formats, unknown names are defined types.
fn is_typed(kind: ResourceKind, format: u64) -> Option<Destination> {
    match kind {
        ResourceKind::Compilable => Some(Destination::Unknown),
        ResourceKind::Missing => Some(Destination::Container),
        _ if format >= 2 => None,
        ResourceKind::Class => None,
        _ => Some(Destination::Container),
    }
}

/// The destination of the resources of a type; `None` if nothing defines it.
pub(crate) fn destination(
    name: &str,
    model: impl Fn(&str) -> Option<Arc<TypeModel>>,
) -> Option<Destination> {
    if types::is_container(name) {
        return Some(Destination::Container);
    }
    if let Some(model) = model(name) {
        return Some(match model.runs_on {
            RunsOn::Device => Destination::Device(model),
            RunsOn::Both => Destination::Both(Some(model)),
            RunsOn::Host => Destination::Host,
        });
    }
    let own = types::built_in(name)?;
    Some(match own.model.runs_on {
        RunsOn::Host if !own.behavior.is_purging() => Destination::Host,
        _ => Destination::Both(None),
    })
}

#[cfg(test)]
mod tests {
    use switchtender_devices::diagnostic::Source;
    use switchtender_devices::model;

    use super::*;
    use crate::catalog::{Loading, load};

    fn words(format: u64, resources: &[(&str, &str)]) -> Vec<&'static str> {
        let resources: Vec<String> = resources
            .iter()
            .map(|(name, kind)| {
                let kind = match *kind {
                    "" => String::new(),
                    kind => format!(r#", "kind": "{kind}""#),
                };
                format!(r#"{{"type": "{name}", "title": "t{name}"{kind}}}"#)
            })
            .collect();
        let text = format!(
            r#"{{"name": "n", "catalog_format": {format}, "resources": [{}]}}"#,
            resources.join(",")
        );
        let catalog = load(&Source::new("c", text), &Loading::default()).unwrap();
        let models = |name: &str| {
            let runs_on = match name {
                "network_vlan" => "device",
                "site_probe" => "both",
                "site_cron" => "host",
                _ => return None,
            };
            let text = format!(
                "schema = 1\ntype = \"{name}\"\ndoc = \"x\"\nruns_on = \"{runs_on}\"\n\
                 [attr.name]\nrole = \"namevar\"\n"
            );
            Some(Arc::new(
                model::load::load(&Source::new("m", text)).unwrap(),
            ))
        };
        route(&catalog, models)
            .iter()
            .map(|destination| match destination {
                Destination::Container => "container",
                Destination::Device(_) => "device",
                Destination::Both(Some(_)) => "both",
                Destination::Both(None) => "both, built in",
                Destination::Host => "host",
                Destination::Unknown => "unknown",
            })
            .collect()
    }

    #[test]
    fn route_uses_models_then_puppets_own_types() {
        let cases = [
            ("Network_vlan", "device"),
            ("Site_probe", "both"),
            ("Site_cron", "host"),
            ("File", "host"),
            ("Notify", "both, built in"),
            ("Schedule", "both, built in"),
            ("Resources", "both, built in"),
            ("Stage", "container"),
            ("Ios_anything", "unknown"),
        ];
        for (name, expected) in cases {
            assert_eq!(words(2, &[(name, "compilable_type")]), [expected], "{name}");
        }
    }

    #[test]
    fn route_uses_the_kind_from_format_2_and_the_name_before() {
        let kinds = [
            ("Class", "class"),
            ("Site::Unit", "defined_type"),
            ("Node", "unknown"),
            ("File", ""),
            ("Network_vlan", "defined_type"),
        ];
        let expected = ["container", "container", "container", "host", "container"];
        assert_eq!(
            words(2, &kinds),
            expected,
            "without a kind, the name decides"
        );
        let old = [("Site::Unit", ""), ("File", ""), ("Network_vlan", "")];
        assert_eq!(words(1, &old), ["container", "host", "device"]);
    }
}
