//! REST answers of a load balancer.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use switchtender_fuzz::Reader;

static READER: LazyLock<Reader> = LazyLock::new(|| Reader::new("f5_bigip"));

fuzz_target!(|bytes: &[u8]| READER.read(bytes));
