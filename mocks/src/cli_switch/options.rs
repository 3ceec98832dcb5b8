//! What a mock switch is to be like.

use crate::control::SharedWriter;
use crate::fault::Fault;

/// Options of a mock switch. The defaults are a C9300-48P called `sw1` with user `admin`, password `admin`, enable
/// password `enable`.
#[derive(Debug, Clone)]
pub struct SwitchOptions {
    /// Name in the log.
    pub name: String,
    /// Host name, when the configuration does not give one.
    pub hostname: String,
    /// User that may log in.
    pub user: String,
    /// Its password, for both password methods.
    pub password: String,
    /// Public keys that may log in as the user, one OpenSSH line each.
    pub authorized_keys: Vec<String>,
    /// Which login methods are offered.
    pub login: LoginMethods,
    /// Password for `enable`; `None` means that none is set and `enable` fails.
    pub enable_password: Option<String>,
    /// Sessions begin at `#`.
    pub start_privileged: bool,
    /// Product number, one of [`models`](super::models).
    pub model: String,
    /// Running configuration as text; `None` for the factory's.
    pub config: Option<String>,
    /// VLANs beside those in `config`: number and name.
    pub vlans: Vec<(u16, String)>,
    /// Text printed after login.
    pub motd: Option<String>,
    /// Faults to show.
    pub faults: Vec<Fault>,
    /// Where exchanges are written besides memory.
    pub log: Option<SharedWriter>,
}

/// Login methods that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoginMethods {
    /// Password, keyboard-interactive and public key.
    #[default]
    All,
    /// Only `password`.
    Password,
    /// Only `keyboard-interactive`, as with an authentication server.
    KeyboardInteractive,
    /// Only `publickey`.
    PublicKey,
}

impl Default for SwitchOptions {
    fn default() -> Self {
        SwitchOptions {
            name: "sw1".to_owned(),
            hostname: "sw1".to_owned(),
            user: "admin".to_owned(),
            password: "admin".to_owned(),
            authorized_keys: Vec::new(),
            login: LoginMethods::All,
            enable_password: Some("enable".to_owned()),
            start_privileged: false,
            model: "C9300-48P".to_owned(),
            config: None,
            vlans: Vec::new(),
            motd: None,
            faults: Vec::new(),
            log: None,
        }
    }
}
