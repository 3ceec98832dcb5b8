//! The colors of the pages have the contrast that WCAG 2.2 (AA) demands.

use std::collections::HashMap;

const STYLE: &str = include_str!("../assets/style.css");

/// The colors of text, and what is behind it.
const TEXTS: [(&str, &[&str]); 9] = [
    ("text", &["page", "box", "blue-box"]),
    ("weak", &["page", "box", "blue-box"]),
    ("accent", &["page", "box", "blue-box"]),
    ("page", &["accent"]),
    ("red", &["page", "box", "blue-box", "red-box"]),
    ("green", &["page", "box", "blue-box", "green-box"]),
    ("amber", &["page", "box", "blue-box", "amber-box"]),
    ("blue", &["page", "box", "blue-box"]),
    ("violet", &["page", "box", "blue-box", "violet-box"]),
];

/// The colors by name, of the light and the dark pages.
fn colors() -> [HashMap<&'static str, &'static str>; 2] {
    let (light, rest) = STYLE
        .split_once("@media (prefers-color-scheme: dark)")
        .unwrap();
    let (dark, _) = rest.split_once("* {").unwrap();
    let parse = |text: &'static str| {
        let declarations = text.split("--").skip(1);
        declarations
            .filter_map(|declaration| declaration.split_once(": "))
            .map(|(name, value)| (name, &value[..7]))
            .collect::<HashMap<_, _>>()
    };
    let light = parse(light);
    let dark = light.clone().into_iter().chain(parse(dark)).collect();
    [light, dark]
}

/// The relative luminance of `#rrggbb`.
fn luminance(color: &str) -> f64 {
    let channel = |at: usize| {
        let value = u8::from_str_radix(&color[at..at + 2], 16).unwrap();
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn colors_have_enough_contrast() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 0.01);
    let mut low = Vec::new();
    for (mode, colors) in ["light", "dark"].into_iter().zip(colors()) {
        let mut check = |color: &str, behind: &str, least: f64| {
            let found = contrast(colors[color], colors[behind]);
            if found < least {
                low.push(format!("{mode}: {color} on {behind}: {found:.2}"));
            }
        };
        for (color, all) in TEXTS {
            all.iter().for_each(|behind| check(color, behind, 4.5));
        }
        // Bars of the chart, and borders of fields.
        let fills = colors.keys().filter(|name| name.ends_with("-fill"));
        for color in fills.copied().chain(["edge"]) {
            check(color, "page", 3.0);
        }
    }
    assert_eq!(low, Vec::<String>::new());
}
