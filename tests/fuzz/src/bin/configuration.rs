//! Configurations of a switch.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use switchtender_fuzz::Reader;

static READER: LazyLock<Reader> = LazyLock::new(|| Reader::new("cisco_ios"));

fuzz_target!(|bytes: &[u8]| READER.read(bytes));
