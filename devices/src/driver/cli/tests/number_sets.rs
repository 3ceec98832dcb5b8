//! Sets of numbers with one line: what both states have is never off.

use std::collections::BTreeSet;

use std::sync::Arc;

use super::{PLATFORM, desired, files_of, render_all, state};
use crate::change::Change;
use crate::driver::{Driver, Facts, Registry};
use crate::operation::{Action, Operation};
use crate::secret::Text;
use crate::value::Value;

const MODEL: &str = r#"
    [attr.name]
    role = "namevar"
    values = [{ name = "text", pattern = '\S+' }]
    [attr.vlans]
    "#;

const PORT: &str = r#"
    [instance]
    from = "config"
    block = "port {name}"
    [attr.vlans]
    line = "allowed vlan {vlans}"
    more = "allowed vlan add {vlans}"
    less = "allowed vlan remove {vlans}"
    codec = "vlans"
    absent = "all"
    "#;

const LIMIT: usize = 60;

fn numbers(text: &str) -> BTreeSet<u32> {
    match text {
        "all" => return (1..=4094).collect(),
        "none" => return BTreeSet::new(),
        _ => {}
    }
    let parts = text
        .split(',')
        .map(|part| part.split_once('-').unwrap_or((part, part)));
    let ranges = parts.map(|(low, high)| low.parse().unwrap()..=high.parse().unwrap());
    ranges.flatten().collect()
}

/// What a device does with a line.
fn apply(set: &mut BTreeSet<u32>, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["no", "allowed", "vlan"] => *set = numbers("all"),
        ["allowed", "vlan", "add", list] => set.extend(numbers(list)),
        ["allowed", "vlan", "remove", list] => {
            for number in numbers(list) {
                set.remove(&number);
            }
        }
        ["allowed", "vlan", list] => *set = numbers(list),
        _ => panic!("{line}"),
    }
}

fn lines(operations: &[Operation]) -> Vec<String> {
    let lines = operations
        .iter()
        .filter_map(|operation| match &operation.action {
            Action::Line(line) => line.text.as_ref().map(Text::reveal),
            _ => None,
        });
    lines.collect()
}

#[test]
fn numbers_of_both_states_are_in_the_set_after_every_line() {
    let odd: Vec<String> = (1..60)
        .map(|number| (number * 2 + 1000).to_string())
        .collect();
    let odd = odd.join(",");
    let sets = [
        "all".to_owned(),
        "none".to_owned(),
        "10".to_owned(),
        "10,20,30-40".to_owned(),
        "30-50".to_owned(),
        "2-4094".to_owned(),
        format!("10,{odd}"),
        format!("{odd},2000"),
        odd,
    ];
    let platform = PLATFORM.replacen(
        "platform = \"box\"",
        &format!("platform = \"box\"\nline_limit = {LIMIT}"),
        1,
    );
    let registry = Registry::from_files(&[], &files_of(&platform, MODEL, PORT))
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let model = registry.model("thing").unwrap();
    for (before, after) in sets
        .iter()
        .flat_map(|one| sets.iter().map(move |two| (one, two)))
    {
        // A long list stands in several lines.
        let config: Vec<String> = match before.as_str() {
            "all" => Vec::new(),
            list => list
                .split_inclusive(',')
                .enumerate()
                .map(|(index, part)| {
                    let add = if index == 0 { "" } else { "add " };
                    format!(" allowed vlan {add}{}", part.trim_end_matches(','))
                })
                .collect(),
        };
        let mut state = state(&driver, &format!("box x\nport 1\n{}", config.join("\n")));
        let supplied = [("name", "1".into()), ("vlans", Value::from(after.as_str()))];
        let desired_state = Arc::new(desired(&registry, &supplied));
        let current = driver.instance(&desired_state, &state).unwrap();
        let change = Change::new(Arc::clone(&desired_state), current, vec!["vlans".into()]);
        let operations = driver.render(&change, &state).unwrap();
        let common: BTreeSet<u32> = numbers(before)
            .intersection(&numbers(after))
            .copied()
            .collect();
        let mut set = numbers(before);
        for line in lines(&operations) {
            assert!(line.len() <= LIMIT, "{line}");
            apply(&mut set, &line);
            assert!(set.is_superset(&common), "{before} to {after}: `{line}`");
        }
        assert_eq!(set, numbers(after), "{before} to {after}");
        driver.predict(model, &mut state, &operations);
        let predicted = driver.instance(&desired_state, &state).unwrap().unwrap();
        let predicted = predicted.attributes["vlans"].as_str().map(numbers);
        assert_eq!(predicted, Some(numbers(after)), "{before} to {after}");
    }
}
