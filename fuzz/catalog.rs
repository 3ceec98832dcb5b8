//! A catalog from any bytes is loaded, checked and shown without a panic.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use switchtender_devices::driver::Registry;

#[path = "../tests/support/harmless.rs"]
mod harmless;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::shipped);

fuzz_target!(|bytes: &[u8]| {
    harmless::findings(bytes.to_vec(), &REGISTRY);
});
