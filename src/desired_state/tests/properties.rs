//! Properties of expansion, over generated files.

use switchtender_devices::driver::Registry;

use super::merged;

/// A small generator of numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }
}

/// The state without positions.
fn state_of(files: &[(&str, String)], registry: &Registry) -> String {
    let state = merged(files, registry);
    let errors: Vec<&str> = state
        .errors
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert_eq!(errors, Vec::<&str>::new(), "{files:?}");
    let rendered = state.render(None, registry);
    let lines = rendered
        .lines()
        .map(|line| line.split("  # ").next().unwrap_or(line));
    let mut lines: Vec<&str> = lines.collect();
    // Blocks of titles in the order of the files.
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// The state with sorted types, titles and attributes.
fn sorted(text: &str) -> String {
    let mut paths: Vec<String> = Vec::new();
    let (mut kind, mut title) = ("", "");
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        match depth {
            0 => kind = line,
            2 => {
                title = line.trim_end_matches(" {}").trim_end_matches(':');
                paths.push(format!("{kind} {title}"));
            }
            _ => paths.push(format!("{kind} {title} {}", line.trim())),
        }
    }
    paths.sort();
    paths.join("\n")
}

fn attributes(numbers: &mut Numbers) -> Vec<(&'static str, &'static str)> {
    let mut all = Vec::new();
    for (name, values) in [
        ("description", ["a", "b"]),
        ("mtu", ["1500", "9000"]),
        ("enable", ["true", "false"]),
    ] {
        if numbers.below(2) == 0 {
            all.push((name, numbers.one_of(&values)));
        }
    }
    all
}

fn flow(attributes: &[(&str, &str)]) -> String {
    let all = attributes
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
}

/// A range is its titles, written one by one.
#[test]
fn a_range_equals_its_single_titles() {
    let registry = Registry::shipped();
    for seed in 0..60 {
        let mut numbers = Numbers(seed);
        let (first, count) = (1 + numbers.below(90), 1 + numbers.below(12));
        let body = flow(&attributes(&mut numbers));
        let exception = first + numbers.below(count);
        let own = flow(&attributes(&mut numbers));
        let with_range = format!(
            "interface:\n  \"Gi1/0/[{first}-{}]\": {body}\n",
            first + count
        );
        let mut single = "interface:\n".to_owned();
        for number in first..=first + count {
            single += &format!("  Gi1/0/{number}: {body}\n");
        }
        let device = format!("interface: {{Gi1/0/{exception}: {own}}}\n");
        let state = |text: &str| {
            let files = [("common", text.to_owned()), ("device", device.clone())];
            state_of(&files, &registry)
        };
        assert_eq!(state(&with_range), state(&single), "seed {seed}");
    }
}

/// The order of types and titles in a file makes no difference.
#[test]
fn the_order_in_a_file_makes_no_difference() {
    let registry = Registry::shipped();
    for seed in 0..60 {
        let mut numbers = Numbers(seed);
        let mut lines = vec![format!(
            "  \"Gi1/0/[1-9]\": {}",
            flow(&attributes(&mut numbers))
        )];
        for number in 1..=4 {
            let body = match numbers.below(5) {
                0 => "~".to_owned(),
                1 => "{switchport: ~}".to_owned(),
                2 => "{use: desk, switchport: {mode: trunk}}".to_owned(),
                _ => flow(&attributes(&mut numbers)),
            };
            lines.push(format!("  Gi1/0/{number}: {body}"));
        }
        let profiles = "profiles: {interface: {desk: {switchport: {mode: access}}}}";
        let mut blocks = [
            profiles.to_owned(),
            format!("interface:\n{}", lines.join("\n")),
            "ntp_server: {192.0.2.1: {}}".to_owned(),
        ];
        let common =
            format!("interface: {{\"Gi1/0/[1-4]\": {{use: desk, stp: {{}}}}}}\n{profiles}\n");
        let state = |blocks: &[String]| {
            let files = [("common", common.clone()), ("device", blocks.join("\n"))];
            sorted(&state_of(&files, &registry))
        };
        let expected = state(&blocks);
        lines.rotate_left(1 + numbers.below(4));
        blocks[1] = format!("interface:\n{}", lines.join("\n"));
        blocks.rotate_left(numbers.below(3));
        assert_eq!(state(&blocks), expected, "seed {seed}");
    }
}

/// A profile is its attributes at each title, under the title's own ones and without those that have a `~`.
#[test]
fn a_profile_equals_its_attributes_at_the_title() {
    let registry = Registry::shipped();
    for seed in 0..100 {
        let mut numbers = Numbers(seed);
        let profile = attributes(&mut numbers);
        let mut with_profile = format!(
            "profiles: {{network_interface: {{p: {}}}}}\nnetwork_interface:\n",
            flow(&profile)
        );
        let mut written = "network_interface:\n".to_owned();
        for title in ["Gi1", "Gi2", "Gi3"] {
            let mut own = attributes(&mut numbers);
            for (_, value) in &mut own {
                if numbers.below(3) == 0 {
                    *value = "~";
                }
            }
            let mut all: Vec<(&str, &str)> = profile.clone();
            for (name, value) in &own {
                all.retain(|(other, _)| other != name);
                if *value != "~" {
                    all.push((name, value));
                }
            }
            own.push(("use", "p"));
            with_profile += &format!("  {title}: {}\n", flow(&own));
            written += &format!("  {title}: {}\n", flow(&all));
        }
        let state = |text: String| sorted(&state_of(&[("common", text)], &registry));
        assert_eq!(state(with_profile), state(written), "seed {seed}");
    }
}
