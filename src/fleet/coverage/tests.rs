//! The coverage of foreign configurations, which are not part of this project. The test searches next to the checkout, or
//! in the directory `SWITCHTENDER_CONFIGURATIONS`, and prints a note when it skips.

use std::path::{Path, PathBuf};
use std::{env, fs};

use switchtender_devices::definitions;
use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::read::{CONFIG, Reads};
use test_support::stderr_note;

use super::SurveyedDevice;
use crate::coverage::LineClass;
use crate::coverage::constructs;
use crate::coverage::counts::ClassCounts;

/// Folders of configurations with their platforms.
const FOLDERS: [(&str, &str); 5] = [
    ("ios", "cisco_ios"),
    ("eos", "arista_eos"),
    ("nxos", "cisco_nxos"),
    ("xr", "ios_xr"),
    ("junos", "junos"),
];

/// Number of constructs that the test prints.
const CONSTRUCTS: usize = 20;

fn directory() -> Option<PathBuf> {
    let named = env::var_os("SWITCHTENDER_CONFIGURATIONS").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = named.unwrap_or(root.join("../shared/fixtures/configurations"));
    directory.is_dir().then_some(directory)
}

#[test]
fn coverage_of_foreign_configurations_has_figures() {
    let Some(directory) = directory() else {
        stderr_note::print("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    let own = definitions::from_directory(&examples).unwrap();
    let registry = Registry::load(&own).unwrap();
    for (folder, platform) in FOLDERS {
        let driver = Driver::new(registry.platform(platform).unwrap(), &Facts::default());
        let Ok(files) = fs::read_dir(directory.join(folder)) else {
            continue;
        };
        let (mut all, mut by_device) = (Vec::new(), Vec::new());
        for file in files {
            let text = fs::read(file.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&text).into_owned();
            let reads = Reads::from_iter([(CONFIG.to_owned(), text)]);
            let surveyed = SurveyedDevice::of(driver.clone(), Facts::default(), &reads);
            let lines = surveyed.unwrap().classified(None);
            by_device.push(constructs::of_device(&lines));
            all.push(ClassCounts::of(&lines));
        }
        let counts: ClassCounts = all.iter().sum();
        assert_eq!(counts.count(LineClass::Managed), 0);
        assert!(counts.written() > 0, "{folder}");
        let classes: Vec<String> = LineClass::ALL
            .iter()
            .map(|class| format!("{class} {}", counts.count(*class)))
            .collect();
        stderr_note::print(&format!(
            "{platform}: {} configurations, {} lines: {} % of {} have a type ({})",
            all.len(),
            counts.total(),
            counts.percent(counts.covered()),
            counts.written(),
            classes.join(", "),
        ));
        for one in constructs::of_all(by_device.iter()).iter().take(CONSTRUCTS) {
            let (lines, devices) = (one.lines, one.devices);
            stderr_note::print(&format!("  {lines} lines, {devices} devices: {}", one.name));
        }
    }
}
