//! Checks across devices: certnames, addresses, jump hosts, credentials.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use switchtender_devices::diagnostic::{Diagnostic, suggest};
use switchtender_devices::document::Findings;
use switchtender_devices::driver::{Parameter, Registry};
use switchtender_devices::map::IndexMap;
use switchtender_devices::session::LineTransport;

use super::device::DeviceEntry;
use super::secret_source::SecretSource;
use super::secrets::NO_VAULT_HELP;
use super::setting::SettingOrigin;
use super::table_settings::Jump;
use super::{device_order, range};

/// Address, port and jump host.
type DeviceEndpoint<'a> = (&'a str, Option<u16>, Option<&'a str>);

/// Maximum number of further positions of a duplicate address.
const MAX_POSITIONS: usize = 5;

/// Reports findings that need all devices.
pub(crate) fn check(findings: &Findings, devices: &IndexMap<String, DeviceEntry>) {
    let mut certnames: BTreeMap<&str, &DeviceEntry> = BTreeMap::new();
    let mut addresses: IndexMap<DeviceEndpoint<'_>, Vec<&DeviceEntry>> = IndexMap::default();
    for device in devices.values() {
        if let Some(first) = certnames.insert(device.certname(), device) {
            findings.push(
                device
                    .position
                    .error(
                        "duplicate-certname",
                        format!(
                            "devices `{}` and `{}` have the same certname, `{}`",
                            first.name,
                            device.name,
                            device.certname()
                        ),
                    )
                    .at(
                        &first.position.source,
                        first.position.span.clone(),
                        "the other device",
                    )
                    .help("set another `certname` for one of them"),
            );
        }
        let settings = &device.settings;
        if let Some(address) = &settings.address {
            let port = settings.port.as_ref().map(|port| port.value);
            let at = (address.value.as_str(), port, settings.jump_host());
            addresses.entry(at).or_default().push(device);
        }
        jump(findings, devices, device);
        if settings.password.is_none()
            && settings.token.is_none()
            && settings.private_key.is_none()
            && settings.agent.is_none()
        {
            findings.push(
                device
                    .position
                    .warning(
                        "no-credentials",
                        format!("device `{}` has no credentials", device.name),
                    )
                    .help("set `password`, `private_key` or `agent = true`"),
            );
        }
    }
    // A range that is left was not expanded, which is an error.
    addresses.retain(|(address, ..), _| range::expand(address).is_none());
    for ((address, ..), devices) in addresses {
        duplicate_address(findings, address, &devices);
    }
    device_order::check(findings, devices);
}

/// Reports a device whose platform cannot have command lines in HTTP requests.
pub(crate) fn check_transport(
    findings: &Findings,
    device: &DeviceEntry,
    registry: Option<&Registry>,
) {
    let (Some(transport), Some(platform)) = (&device.settings.transport, &device.settings.platform)
    else {
        return;
    };
    let found = registry.and_then(|registry| registry.platform(&platform.value));
    let lacks_requests = found.is_some_and(|one| !one.protocol().has_line_requests());
    if transport.value == LineTransport::Http && lacks_requests {
        let message = format!(
            "cannot send the lines of `{}` in requests: its platform has no [http]",
            platform.value
        );
        let found = transport.origin.error("no-requests", message);
        findings.push(found.help("remove `transport`, or declare [http] in its platform.toml"));
    }
}

/// Reports parameters that the platform of a device does not have, that have no value, or a wrong one.
pub(crate) fn check_parameters(
    findings: &Findings,
    device: &DeviceEntry,
    registry: Option<&Registry>,
) {
    let Some(platform) = &device.settings.platform else {
        return;
    };
    let settings = &device.settings.parameters;
    // Built-in platforms require no parameters, and are loaded on first use.
    let registry = registry.filter(|one| one.has_own_definitions() || !settings.is_empty());
    let found = registry.and_then(|registry| registry.platform(&platform.value));
    let Some(found) = found else { return };
    let supplied = settings.iter();
    let supplied = supplied.map(|(name, setting)| (name.clone(), setting.value.clone()));
    for (name, reason) in Parameter::problems(&found.parameters, &supplied.collect()) {
        let message = format!("the parameter `{name}` of `{}` {reason}", platform.value);
        let origin = settings.get(&name).map(|setting| &setting.origin);
        let finding = origin
            .unwrap_or(&platform.origin)
            .error("parameter", message);
        let known = found.parameters.iter().map(|parameter| &parameter.name);
        let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
        findings.push(if known.is_empty() {
            finding.help("remove it: the platform has no parameters")
        } else {
            let known = known.join(", ");
            finding.help(format!("write `parameters = {{ … }}`; parameters: {known}"))
        });
    }
}

/// Reports secrets in Vault, if the inventory does not say where Vault is.
pub(crate) fn check_vault(
    findings: &Findings,
    devices: &IndexMap<String, DeviceEntry>,
    has_vault: bool,
) {
    let sources = devices
        .values()
        .flat_map(|device| device.settings.all_secrets());
    let mut of_vault = sources.filter(|one| matches!(one.value, SecretSource::Vault { .. }));
    if !has_vault && let Some(first) = of_vault.next() {
        let found = first
            .origin
            .error("missing-key", "the table [vault] is missing");
        findings.push(found.help(NO_VAULT_HELP));
    }
}

/// Reports keys of `label_order` that occur twice, or that no device has.
pub(crate) fn check_label_order(
    findings: &Findings,
    order: &[(String, Range<usize>)],
    devices: &IndexMap<String, DeviceEntry>,
) {
    let labels = devices.values().flat_map(|device| &device.settings.labels);
    let keys: BTreeSet<&str> = labels.map(|(key, _)| key.as_str()).collect();
    for (index, (key, span)) in order.iter().enumerate() {
        if order[..index].iter().any(|(earlier, _)| earlier == key) {
            findings.error_with_help(
                "duplicate-label",
                span.clone(),
                format!("label `{key}` occurs twice in `label_order`"),
                "remove one of them: later keys replace earlier ones",
            );
        } else if !keys.contains(key.as_str()) {
            let otherwise = "remove it, or add the label to a device";
            let help = suggest(key, keys.iter().copied(), otherwise);
            let message = format!("no device has the label `{key}`");
            let found = Diagnostic::warning("unknown-label", message);
            findings.push(found.at(&findings.source, span.clone(), "").help(help));
        }
    }
}

/// Reports the devices with one address.
fn duplicate_address(findings: &Findings, address: &str, devices: &[&DeviceEntry]) {
    let origins = devices
        .iter()
        .filter_map(|device| device.settings.address.as_ref());
    let mut origins: Vec<&SettingOrigin> = origins.map(|address| &address.origin).collect();
    // The devices of a range have one.
    origins.dedup();
    let (Some(first), true) = (origins.first(), devices.len() > 1) else {
        return;
    };
    let names = range::of_names(devices.iter().map(|device| device.name.as_str())).join(", ");
    let message = format!(
        "{} devices have the same address, {address}: {names}",
        devices.len()
    );
    let found = first.warning("duplicate-address", message);
    let others = origins[1..].iter().take(MAX_POSITIONS);
    let found = others.fold(found, |found, other| {
        found.at(&other.source, other.span.clone(), "the same address")
    });
    findings.push(found.help("correct the addresses, or set `port` or `jump`"));
}

/// Checks that the jump hosts exist and do not form a cycle.
fn jump(findings: &Findings, devices: &IndexMap<String, DeviceEntry>, device: &DeviceEntry) {
    let mut path = vec![device.name.as_str()];
    let mut settings = &device.settings;
    while let Some(jump) = &settings.jump {
        match &jump.value {
            Jump::No => return,
            Jump::Host(host) => settings = host,
            Jump::Device(name) => {
                let Some((name, next)) = devices.get_key_value(name) else {
                    // Reported once, at the device with the setting.
                    if path.len() == 1 {
                        let describe = "name a device, or describe the host: jump = { address = \
                                        \"…\", user = \"…\" }";
                        let help = suggest(name, devices.keys().map(String::as_str), describe);
                        findings.push(
                            jump.origin
                                .error("unknown-jump", format!("unknown device `{name}`"))
                                .help(help),
                        );
                    }
                    return;
                };
                if path.contains(&name.as_str()) {
                    if path[0] == name {
                        path.push(name);
                        findings.push(
                            jump.origin
                                .error(
                                    "jump-cycle",
                                    format!(
                                        "the jump hosts of `{name}` form a cycle: {}",
                                        path.join(" → ")
                                    ),
                                )
                                .help(format!("set `jump = false` in [device.{name}]")),
                        );
                    }
                    return;
                }
                path.push(name);
                settings = &next.settings;
            }
        }
    }
}
