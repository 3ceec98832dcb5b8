//! Webhooks: signed messages about runs that failed, changed a device or found drift.
//!
//! Each webhook has a cursor in the store, which is the last run that it was notified about. A message is
//! repeated until it is delivered, also after a restart; the order is that of the ends of the runs.

mod delivery;
mod sender;
mod signature;
mod webhooks;

#[cfg(test)]
pub(crate) use delivery::Webhook;
pub(crate) use webhooks::Webhooks;
