//! A figure beside its target.

/// Prints a figure, with a verdict if it has a target.
pub(crate) fn figure(name: &str, measured: f64, target: Option<f64>, unit: &str) {
    let rendered = format!("{measured:.2}{unit}");
    let verdict = match target {
        None => String::new(),
        Some(target) if measured <= target => format!("{:>9}  met", format!("{target}{unit}")),
        Some(target) => format!("{:>9}  MISSED", format!("{target}{unit}")),
    };
    println!("{name:56} {rendered:>9} {verdict}");
}
