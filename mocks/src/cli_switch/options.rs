//! Options of a mock switch.

use crate::control::SharedWriter;
use crate::fault::Fault;
use crate::ssh_server::LoginMethods;

/// Options of a mock switch. The defaults are a C9300-48P called `sw1` with user `admin`, password `admin`, enable
/// password `enable`.
#[derive(Debug, Clone)]
pub struct SwitchOptions {
    /// Name in the log.
    pub name: String,
    /// Host name, unless the configuration sets it.
    pub hostname: String,
    /// Serial numbers of the members of a stack, the master first; empty: one that follows from `name`.
    pub serials: Vec<String>,
    /// User name for login.
    pub user: String,
    /// Password for login, for both password methods.
    pub password: String,
    /// Public keys of the user, one OpenSSH line each.
    pub authorized_keys: Vec<String>,
    /// Offered login methods.
    pub login: LoginMethods,
    /// Password for `enable`. Without one `enable` fails.
    pub enable_password: Option<String>,
    /// Sessions start in the privileged mode.
    pub start_privileged: bool,
    /// Product number, one of [`models`](super::models). Without one it is that of the platform that
    /// printed `config`, or the default.
    pub model: Option<String>,
    /// Initial running configuration; `None` for the factory default.
    pub config: Option<String>,
    /// VLANs in addition to `config`: number and name.
    pub vlans: Vec<(u16, String)>,
    /// Text printed after login.
    pub motd: Option<String>,
    /// Faults to inject.
    pub faults: Vec<Fault>,
    /// A writer for exchanges, in addition to memory.
    pub log: Option<SharedWriter>,
    /// Maximum number of exchanges in memory; the oldest are removed.
    pub exchanges_in_memory: usize,
}

impl Default for SwitchOptions {
    fn default() -> Self {
        SwitchOptions {
            name: "sw1".to_owned(),
            hostname: "sw1".to_owned(),
            serials: Vec::new(),
            user: "admin".to_owned(),
            password: "admin".to_owned(),
            authorized_keys: Vec::new(),
            login: LoginMethods::All,
            enable_password: Some("enable".to_owned()),
            start_privileged: false,
            model: None,
            config: None,
            vlans: Vec::new(),
            motd: None,
            faults: Vec::new(),
            log: None,
            exchanges_in_memory: 100_000,
        }
    }
}
