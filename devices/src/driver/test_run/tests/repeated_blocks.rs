//! A configuration that has each block in two parts is read as the same instances.

use std::path::Path;
use std::sync::Arc;

use super::SelfTest;
use crate::definitions;
use crate::driver::platform::Platform;
use crate::driver::read_rule::ParseRule;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, Registry};
use crate::read::Reads;

/// The text with each block printed twice: its first lines, and then the others. The parts of inner
/// blocks have the header of the inner block only.
fn in_halves(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut repeated: Vec<Option<&str>> = vec![None; lines.len()];
    for (at, header) in lines.iter().enumerate() {
        let below = lines[at + 1..].iter();
        let is_inside = |line: &&&str| depth(line) > depth(header);
        let count = below.take_while(is_inside).count();
        let inside = at + 1..at + 1 + count;
        let Some(first) = lines.get(at + 1).map(|line| depth(line)) else {
            continue;
        };
        let own: Vec<usize> = inside.filter(|line| depth(lines[*line]) == first).collect();
        if own.len() > 1 {
            repeated[own[own.len() / 2]].get_or_insert(header);
        }
    }
    let pairs = lines.iter().zip(repeated);
    let lines = pairs.flat_map(|(line, header)| header.into_iter().chain([*line]));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Whether the answers have a text, whose lines are no blocks.
fn has_text(platform: &Platform, name: &str, text: &str) -> bool {
    let Some(ParseRule::Indent(rules)) = platform.reads.get(name).map(|rule| &rule.parse) else {
        return true;
    };
    let mut lines = text.lines();
    lines.any(|line| {
        let mut texts = rules.opaque.iter();
        texts.any(|text| text.start.is_match(line.trim()))
    })
}

/// What the parts of blocks read otherwise; `None` if the test has no block of several lines.
fn difference(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
) -> Option<Result<(), String>> {
    let driver = Driver::new(platform, &test.facts);
    driver.supports(&definition.model).ok()?;
    let mut halves = test.supplied.clone();
    for (name, text) in halves.iter_mut() {
        if !has_text(platform, name, text) {
            *text = in_halves(text);
        }
    }
    if halves == test.supplied {
        return None;
    }
    let read = |reads: &Reads| {
        let state = platform.parse(reads).map_err(|error| error.to_string())?;
        let found = driver.instances(&definition.model, &state);
        found.map_err(|error| error.to_string())
    };
    let (complete, halved) = (read(&test.supplied), read(&halves));
    Some(if complete == halved {
        Ok(())
    } else {
        Err(format!("{complete:#?}\n{halved:#?}"))
    })
}

#[test]
fn blocks_in_parts_are_read_as_one_block() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/definitions");
    let registry = Registry::load(&definitions::from_directory(&examples).unwrap()).unwrap();
    let mut tried = 0;
    let mut different = Vec::new();
    for platform in registry.platforms() {
        for definition in platform.type_drivers() {
            for test in definition.tests.iter() {
                match difference(platform, definition, test) {
                    None => continue,
                    Some(Ok(())) => {}
                    Some(Err(found)) => different.push(format!(
                        "{}/{}: {}: {found}",
                        platform.name, definition.model.name, test.name
                    )),
                }
                tried += 1;
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(tried > 100, "{tried} tests with blocks");
}
