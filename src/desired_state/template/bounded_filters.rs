//! Filters whose result can be as large as the product of their arguments: the size is checked before.
//!
//! `map` applies them to each item, and then the sum counts.

use std::sync::Arc;

use minijinja::value::Rest;
use minijinja::{Environment, State, Value, filters};

use super::budget::Budget;

/// The largest size of a result, by the arguments of the filter.
type Estimate = fn(&[Value]) -> usize;

/// Replaces the filters of an environment.
pub(super) fn install(environment: &mut Environment<'static>, budget: &Arc<Budget>) {
    let bounded: [(&str, Value, Estimate); 6] = [
        ("replace", Value::from_function(filters::replace), replaced),
        ("join", Value::from_function(filters::join), joined),
        ("format", Value::from_function(filters::format), formatted),
        ("indent", Value::from_function(filters::indent), indented),
        ("batch", Value::from_function(filters::batch), numbers),
        ("slice", Value::from_function(filters::slice), numbers),
    ];
    for (name, filter, estimate) in bounded {
        let budget = Arc::clone(budget);
        environment.add_filter(name, move |state: &State<'_, '_>, args: Rest<Value>| {
            budget.charge_bytes(estimate(&args))?;
            filter.call(state, &args)
        });
    }
}

fn replaced(args: &[Value]) -> usize {
    let texts: Vec<String> = args.iter().take(3).map(Value::to_string).collect();
    let [text, from, to] = texts.as_slice() else {
        return 0;
    };
    let count = text.matches(from.as_str()).count();
    count.saturating_mul(to.len()).saturating_add(text.len())
}

fn joined(args: &[Value]) -> usize {
    let between = args.get(1).map_or(0, |text| text.to_string().len());
    let items = args.first().and_then(|items| items.try_iter().ok());
    let sizes = items.into_iter().flatten();
    sizes.fold(0, |sum, item| {
        sum.saturating_add(item.to_string().len())
            .saturating_add(between)
    })
}

/// Each conversion has at most the largest argument, and at most the width that is in the format or in
/// an argument.
fn formatted(args: &[Value]) -> usize {
    let format = args.first().map(Value::to_string).unwrap_or_default();
    let widths = format.split(|c: char| !c.is_ascii_digit());
    let widths = widths.filter(|digits| !digits.is_empty());
    let widths = widths.fold(0, |sum: usize, digits| {
        sum.saturating_add(digits.parse().unwrap_or(usize::MAX))
    });
    let others = args.get(1..).unwrap_or_default();
    let largest = others.iter().map(|value| value.to_string().len()).max();
    let stars = if format.contains('*') {
        numbers(args)
    } else {
        0
    };
    let conversions = format.matches('%').count();
    conversions
        .saturating_mul(largest.unwrap_or(0))
        .saturating_add(widths)
        .saturating_add(stars)
        .saturating_add(format.len())
}

fn indented(args: &[Value]) -> usize {
    let text = args.first().map(Value::to_string).unwrap_or_default();
    let lines = text.matches('\n').count() + 1;
    lines
        .saturating_mul(numbers(args))
        .saturating_add(text.len())
}

/// The sum of the numbers after the value, those of keyword arguments included.
fn numbers(args: &[Value]) -> usize {
    let others = args.get(1..).unwrap_or_default().iter();
    others.fold(0, |sum: usize, value| {
        let number = match value.as_usize() {
            Some(number) => number,
            None if value.is_kwargs() => {
                let names = value.try_iter().into_iter().flatten();
                let values = names.filter_map(|name| value.get_item(&name).ok()?.as_usize());
                values.fold(0, usize::saturating_add)
            }
            None => 0,
        };
        sum.saturating_add(number)
    })
}
