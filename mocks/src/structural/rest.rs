//! A device with any REST interface over HTTPS, from a description of its structure.
//!
//! It keeps the answers as JSON, and requests change the objects in them. A request that the structure
//! does not have is refused. Start reading with `device.rs`, then `structure.rs` and `objects.rs`.

mod candidates;
mod device;
mod login;
mod objects;
mod pages;
mod service;
mod structure;
mod tasks;

pub(super) use device::RestDevice;
pub(super) use service::RestService;

use serde_json::Value;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RequestRefusal {
    status: u16,
    message: String,
}

/// The answers of the device, in the order of their shapes.
type RestContent = Vec<Value>;

const BAD_REQUEST: u16 = 400;
const UNAUTHORIZED: u16 = 401;
const NOT_FOUND: u16 = 404;
const CONFLICT: u16 = 409;
const PRECONDITION_FAILED: u16 = 412;
const UNAVAILABLE: u16 = 503;

fn refuse<T>(status: u16, message: impl Into<String>) -> Result<T, RequestRefusal> {
    Err(RequestRefusal {
        status,
        message: message.into(),
    })
}
