//! Configurations of real devices: the lines that the grammars do not have, and the same configuration
//! printed again.
//!
//! The files are none of the project: `SWITCHTENDER_CONFIGURATIONS` names their directory, with a
//! folder for each platform.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use switchtender_mocks::{GrammarSwitchOptions, OfflineGrammarSwitch};

const FOLDERS: [(&str, &str); 2] = [("cisco_nxos", "nxos"), ("arista_eos", "eos")];

/// Lines with the number of files or places that have them.
type LineCounts = BTreeMap<String, usize>;

#[test]
fn configurations_of_devices_are_loaded_and_printed_again() {
    let Some(root) = std::env::var_os("SWITCHTENDER_CONFIGURATIONS") else {
        println!("skipped: SWITCHTENDER_CONFIGURATIONS names no directory");
        return;
    };
    for (platform, folder) in FOLDERS {
        let paths = files(&Path::new(&root).join(folder));
        let (mut refused, mut hidden) = (LineCounts::new(), LineCounts::new());
        let mut lines = 0;
        for path in &paths {
            let text = std::fs::read(path).expect("a file");
            let text = String::from_utf8_lossy(&text);
            let switch = load(platform, &text);
            let unknown = switch.unknown_lines();
            for line in &unknown {
                *refused.entry(shortened(line)).or_default() += 1;
            }
            let printed = switch.running_config();
            let of_switch: BTreeSet<&str> = printed.lines().map(str::trim).collect();
            for line in text.lines().filter(|line| is_configuration(line)) {
                lines += 1;
                if !of_switch.contains(line.trim()) {
                    *hidden.entry(shortened(line)).or_default() += 1;
                }
            }
            // Some files are of other platforms.
            if unknown.len() * 4 < text.lines().count() {
                let again = load(platform, &printed).running_config();
                assert_eq!(again, printed, "{}: printed differently", path.display());
            }
        }
        let total: usize = refused.values().sum();
        println!(
            "{platform}: {} files, {lines} lines, {total} refused",
            paths.len()
        );
        print_counts(refused);
        println!("{platform}: accepted and printed in another form, or not");
        print_counts(hidden);
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the directory of a platform");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

fn load(platform: &str, text: &str) -> OfflineGrammarSwitch {
    let mut options = GrammarSwitchOptions::new(platform, "switch");
    options.config = Some(text.to_owned());
    OfflineGrammarSwitch::new(&options).expect("a platform with a grammar")
}

fn is_configuration(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('!') && line != "end"
}

/// The first words of a line, without numbers.
fn shortened(line: &str) -> String {
    let words = line.split_whitespace().take(5).map(|word| {
        if word.starts_with(|letter: char| letter.is_ascii_digit()) {
            "N"
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn print_counts(counts: LineCounts) {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (line, count) in counts {
        println!("{count:5} {line}");
    }
}
