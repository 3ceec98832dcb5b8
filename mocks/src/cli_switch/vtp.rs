//! VTP. The configuration shows it in the modes `transparent` and `off` only.

use super::configure::{Command, ConfigSession};
use super::device::Configuration;
use super::effect::Reply;
use super::tree::Entry;

/// The settings of VTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vtp {
    /// Empty for none.
    pub domain: String,
    /// `server`, `client`, `transparent` or `off`.
    pub mode: String,
    /// Version of the protocol.
    pub version: String,
    /// Whether pruning is on.
    pub is_pruning: bool,
    /// The password; it is in no output.
    pub password: Option<String>,
}

impl Default for Vtp {
    fn default() -> Self {
        Self {
            domain: String::new(),
            mode: "server".to_owned(),
            version: "1".to_owned(),
            is_pruning: false,
            password: None,
        }
    }
}

impl Vtp {
    /// Whether the VLANs of the device are its own, and part of its configuration.
    pub(super) fn is_local(&self) -> bool {
        matches!(self.mode.as_str(), "transparent" | "off")
    }

    /// The mode with a capital letter.
    fn mode_name(&self) -> String {
        let (first, rest) = self.mode.split_at(1);
        first.to_uppercase() + rest
    }

    /// The output of `show vtp status`.
    pub(super) fn status(&self, vlans: usize) -> String {
        let pruning = if self.is_pruning {
            "Enabled"
        } else {
            "Disabled"
        };
        format!(
            "VTP Version capable             : 1 to 3\n\
             VTP version running             : {}\n\
             VTP Domain Name                 : {}\n\
             VTP Pruning Mode                : {pruning}\n\
             VTP Traps Generation            : Disabled\n\
             Device ID                       : 0200.0000.0001\n\
             Configuration last modified by 0.0.0.0 at 1-1-24 00:00:00\n\
             Local updater ID is 0.0.0.0 (no valid interface found)\n\n\
             Feature VLAN:\n\
             --------------\n\
             VTP Operating Mode                : {}\n\
             Maximum VLANs supported locally   : 1005\n\
             Number of existing VLANs          : {vlans}\n\
             Configuration Revision            : 0\n\
             MD5 digest                        : 0x00 0x01 0x02 0x03 0x04 0x05 0x06 0x07 \n\
             \x20                                   0x08 0x09 0x0A 0x0B 0x0C 0x0D 0x0E 0x0F \n",
            self.version,
            self.domain,
            self.mode_name(),
        )
    }
}

/// `vtp domain X`. A domain can be replaced, but not removed.
pub(super) fn domain(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let name = command.word(2);
    if !command.is_set() {
        return Reply::Invalid(1);
    }
    let vtp = &mut session.device.edit().vtp;
    if vtp.domain == name {
        return Reply::Text(format!("Domain name already set to {name}."));
    }
    let before = std::mem::replace(&mut vtp.domain, name.to_owned());
    print(session, command);
    let before = if before.is_empty() { "NULL" } else { &before };
    Reply::Text(format!("Changing VTP domain name from {before} to {name}"))
}

/// `vtp mode X`; `no` restores the mode `server`.
pub(super) fn mode(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let mode = if command.is_set() {
        command.word(2)
    } else {
        "server"
    };
    let vtp = &mut session.device.edit().vtp;
    let is_same = vtp.mode == mode;
    mode.clone_into(&mut vtp.mode);
    let name = vtp.mode_name();
    print(session, command);
    Reply::Text(if is_same {
        format!("Device mode already VTP {name} for VLANS.")
    } else {
        format!("Setting device to VTP {name} mode for VLANS.")
    })
}

/// `vtp version N`; `no` restores version 1.
pub(super) fn version(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let vtp = &mut session.device.edit().vtp;
    if vtp.mode == "client" && vtp.version != "3" {
        return Reply::Text(
            "Cannot modify version in VTP client mode unless the system is in VTP version 3"
                .to_owned(),
        );
    }
    let version = if command.is_set() {
        command.word(2)
    } else {
        "1"
    };
    version.clone_into(&mut vtp.version);
    Reply::Silent
}

/// `[no] vtp pruning`
pub(super) fn pruning(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    session.device.edit().vtp.is_pruning = command.is_set();
    let state = if command.is_set() { "on" } else { "off" };
    Reply::Text(format!("Pruning switched {state}"))
}

/// `[no] vtp password X`
pub(super) fn password(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let vtp = &mut session.device.edit().vtp;
    if !command.is_set() {
        vtp.password = None;
        return Reply::Text("Clearing device VTP password.".to_owned());
    }
    let password = command.word(2);
    vtp.password = Some(password.to_owned());
    Reply::Text(format!("Setting device VTP password to {password}"))
}

/// The lines of the configuration.
fn print(session: &mut ConfigSession<'_>, command: &Command) {
    let Configuration { root, vtp, .. } = session.device.edit();
    let lines = [("vtp domain", &vtp.domain), ("vtp mode", &vtp.mode)];
    for (identity, value) in lines {
        root.remove(identity);
        if vtp.is_local() && !value.is_empty() {
            root.set(Entry::line(
                command.rule,
                identity,
                format!("{identity} {value}"),
            ));
        }
    }
}
