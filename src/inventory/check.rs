//! Checks across devices: certnames, addresses, jump hosts, credentials.

use std::collections::BTreeMap;

use switchtender_devices::diagnostic::suggest;
use switchtender_devices::document::Findings;
use switchtender_devices::map::IndexMap;

use super::device::DeviceEntry;
use super::table_settings::Jump;

/// Reports findings that need all devices.
pub(crate) fn check(findings: &Findings, devices: &IndexMap<String, DeviceEntry>) {
    let mut certnames: BTreeMap<&str, &DeviceEntry> = BTreeMap::new();
    let mut addresses: BTreeMap<(&str, Option<u16>, Option<&str>), &DeviceEntry> = BTreeMap::new();
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
            if let Some(first) = addresses.insert(at, device) {
                findings.push(
                    address
                        .origin
                        .warning(
                            "duplicate-address",
                            format!(
                                "devices `{}` and `{}` have the same address, {}",
                                first.name, device.name, address.value
                            ),
                        )
                        .help("correct one address, or set its `port` or `jump`"),
                );
            }
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
