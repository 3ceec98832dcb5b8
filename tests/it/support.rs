//! What several tests use.

#[path = "../support/agent_log.rs"]
pub mod agent_log;
#[path = "../support/aloud.rs"]
pub mod aloud;
#[path = "../support/damage.rs"]
pub mod damage;
#[path = "../support/device_host.rs"]
pub mod device_host;
#[path = "../support/harmless.rs"]
pub mod harmless;
#[path = "../support/proxy.rs"]
pub mod proxy;
