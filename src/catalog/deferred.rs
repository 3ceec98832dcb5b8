//! Deferred values: calls that the agent resolves (`docs/reference/transaction.md`, section 2, step 4).
//!
//! A name that begins with `$` looks up a variable, with the arguments as path. The functions are
//! pure: code of a Puppet module cannot run here.

use switchtender_devices::value::Value;

/// A call that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DeferredError {
    #[error("Unknown function '{0}'")]
    UnknownFunction(String),
    #[error("Unknown variable '{0}'")]
    UnknownVariable(String),
    #[error("function '{name}' expects {expects}, got {got}")]
    Arguments {
        name: String,
        expects: &'static str,
        got: String,
    },
}

impl DeferredError {
    /// The hint for the user.
    pub(crate) fn help(&self) -> String {
        match self {
            DeferredError::UnknownFunction(_) => {
                let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
                format!(
                    "call it on the server instead of deferring it; functions of the proxy host: {}",
                    names.join(", ")
                )
            }
            DeferredError::UnknownVariable(_) => {
                "use `$facts`: deferred calls can access no other variable".to_owned()
            }
            DeferredError::Arguments { .. } => "correct the call in the manifest".to_owned(),
        }
    }
}

/// Resolves all calls in a value, innermost first.
pub(super) fn resolve(value: Value, facts: &Value) -> Result<Value, DeferredError> {
    Ok(match value {
        Value::Deferred(deferred) => {
            let arguments = deferred
                .arguments
                .into_iter()
                .map(|argument| resolve(argument, facts))
                .collect::<Result<Vec<_>, _>>()?;
            call(&deferred.name, &arguments, facts)?
        }
        Value::List(items) => Value::List(
            items
                .into_iter()
                .map(|item| resolve(item, facts))
                .collect::<Result<_, _>>()?,
        ),
        Value::Hash(entries) => Value::Hash(
            entries
                .into_iter()
                .map(|(key, value)| Ok((resolve(key, facts)?, resolve(value, facts)?)))
                .collect::<Result<_, _>>()?,
        ),
        Value::Sensitive(inner) => Value::Sensitive(Box::new(resolve(*inner, facts)?)),
        other => other,
    })
}

fn call(name: &str, arguments: &[Value], facts: &Value) -> Result<Value, DeferredError> {
    if let Some(variable) = name.strip_prefix('$') {
        return match variable {
            "facts" => Ok(dig(facts, arguments)),
            _ => Err(DeferredError::UnknownVariable(variable.to_owned())),
        };
    }
    let Some((_, function)) = FUNCTIONS.iter().find(|(key, _)| *key == name) else {
        return Err(DeferredError::UnknownFunction(name.to_owned()));
    };
    // A value computed from a secret is a secret.
    let secret = arguments
        .iter()
        .any(|argument| matches!(argument, Value::Sensitive(_)));
    let unwrapped: Vec<Value> = arguments
        .iter()
        .map(|argument| argument.unwrap_sensitive().clone())
        .collect();
    let result = function(&unwrapped).map_err(|expects| DeferredError::Arguments {
        name: name.to_owned(),
        expects,
        got: if secret {
            "sensitive values".to_owned()
        } else {
            Value::List(unwrapped.clone()).inspect()
        },
    })?;
    Ok(if secret && name != "unwrap" {
        Value::Sensitive(Box::new(result))
    } else {
        result
    })
}

fn dig(value: &Value, path: &[Value]) -> Value {
    let mut value = value;
    for step in path {
        let next = match (value, step) {
            (Value::List(items), Value::Integer(index)) => {
                usize::try_from(*index).ok().and_then(|at| items.get(at))
            }
            (_, step) => step.as_str().and_then(|key| value.get(key)),
        };
        match next {
            Some(next) => value = next,
            None => return Value::Undef,
        }
    }
    value.clone()
}

type Function = fn(&[Value]) -> Result<Value, &'static str>;

/// The functions of deferred calls, by name.
const FUNCTIONS: [(&str, Function); 12] = [
    ("join", join),
    ("upcase", |arguments| {
        each_text(arguments, str::to_uppercase)
    }),
    ("downcase", |arguments| {
        each_text(arguments, str::to_lowercase)
    }),
    ("capitalize", |arguments| {
        each_text(arguments, |text| {
            super::resource_ref::capitalize(text).into_owned()
        })
    }),
    ("strip", |arguments| {
        each_text(arguments, |text| text.trim().to_owned())
    }),
    ("chomp", |arguments| {
        each_text(arguments, |text| {
            let text = text.strip_suffix('\n').unwrap_or(text);
            text.strip_suffix('\r').unwrap_or(text).to_owned()
        })
    }),
    ("length", length),
    ("size", length),
    ("split", split),
    ("flatten", |arguments| Ok(Value::List(flatten(arguments)))),
    ("sort", sort),
    ("unwrap", |arguments| match arguments {
        [value] => Ok(value.clone()),
        _ => Err("one value"),
    }),
];

fn join(arguments: &[Value]) -> Result<Value, &'static str> {
    let (items, separator) = match arguments {
        [Value::List(items)] => (items, ""),
        [Value::List(items), separator] => (items, separator.as_str().ok_or("a list and a text")?),
        _ => return Err("a list and a text"),
    };
    let texts: Vec<String> = flatten(items).iter().map(Value::ruby_to_s).collect();
    Ok(texts.join(separator).into())
}

fn split(arguments: &[Value]) -> Result<Value, &'static str> {
    match arguments {
        [Value::String(text), Value::String(separator)] => {
            let mut parts: Vec<&str> = text.split(separator.as_str()).collect();
            while parts.last().is_some_and(|part| part.is_empty()) {
                parts.pop();
            }
            Ok(parts.into())
        }
        _ => Err("two texts"),
    }
}

fn sort(arguments: &[Value]) -> Result<Value, &'static str> {
    let [Value::List(items)] = arguments else {
        return Err("a list of texts");
    };
    let mut texts = items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect::<Option<Vec<_>>>()
        .ok_or("a list of texts")?;
    texts.sort();
    Ok(texts.into())
}

fn length(arguments: &[Value]) -> Result<Value, &'static str> {
    let size = match arguments {
        [Value::String(text)] => text.chars().count(),
        [Value::List(items)] => items.len(),
        [Value::Hash(entries)] => entries.len(),
        _ => return Err("a string, a list or a hash"),
    };
    Ok(Value::Integer(
        i64::try_from(size).expect("memory is smaller than this"),
    ))
}

fn flatten(items: &[Value]) -> Vec<Value> {
    items
        .iter()
        .flat_map(|item| match item {
            Value::List(inner) => flatten(inner),
            other => vec![other.clone()],
        })
        .collect()
}

fn each_text(arguments: &[Value], change: impl Fn(&str) -> String) -> Result<Value, &'static str> {
    match arguments {
        [Value::String(text)] => Ok(change(text).into()),
        [Value::List(items)] => items
            .iter()
            .map(|item| item.as_str().map(&change))
            .collect::<Option<Vec<_>>>()
            .map(Into::into)
            .ok_or("a string or a list of strings"),
        _ => Err("a string or a list of strings"),
    }
}

#[cfg(test)]
mod tests {
    use switchtender_devices::value::Deferred;

    use super::*;

    fn deferred(name: &str, arguments: Vec<Value>) -> Value {
        Value::Deferred(Box::new(Deferred {
            name: name.to_owned(),
            arguments,
        }))
    }

    #[test]
    fn deferred_calls_are_resolved_inside_out() {
        let facts = Value::Hash(vec![(
            "os".into(),
            Value::Hash(vec![("family".into(), "ios".into())]),
        )]);
        let family = deferred("$facts", vec!["os".into(), "family".into()]);
        let cases = [
            (deferred("upcase", vec![family]), "IOS".into()),
            (
                deferred("join", vec![vec!["a", "b"].into(), "-".into()]),
                "a-b".into(),
            ),
            (
                deferred("$facts", vec!["none".into(), "x".into()]),
                Value::Undef,
            ),
            (
                Value::List(vec![deferred("downcase", vec!["ABC".into()])]),
                vec!["abc"].into(),
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(resolve(value, &facts).unwrap(), expected);
        }
    }

    #[test]
    fn deferred_result_of_a_secret_is_sensitive_and_errors_hide_it() {
        let secret = Value::Sensitive(Box::new("s3cret".into()));
        let result = resolve(deferred("upcase", vec![secret.clone()]), &Value::Undef).unwrap();
        assert_eq!(result, Value::Sensitive(Box::new("S3CRET".into())));
        let error = resolve(deferred("sort", vec![secret]), &Value::Undef).unwrap_err();
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}
