//! Catalogs: loaded, checked and rendered in every way.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use switchtender_devices::driver::Registry;
use switchtender_test_support::safe_output::findings;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::shipped);

fuzz_target!(|bytes: &[u8]| drop(findings(bytes.to_vec(), &REGISTRY)));
