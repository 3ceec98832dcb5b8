//! When secrets that the device shows in another form, or not at all, are in sync.

use super::{desired, driver_of, state};
use crate::driver::SecretHistory;
use crate::value::Value;

const MODEL: &str = r#"
    ensurable = true
    default_word = "unset"
    [attr.name]
    role = "namevar"
    values = [{ name = "text", pattern = '\S+' }]
    [attr.level]
    values = [{ name = "number", integer = [0, 15] }]
    [attr.secret]
    sensitive = true
    values = [{ name = "text", pattern = '\S{1,25}' }, "unset"]
    "#;

/// A type with a secret in the line of the instance.
fn line(form: &str) -> String {
    format!(
        "[instance]\nfrom = \"config\"\nline = \"user {{name}} [level {{level}}] [secret {{secret:rest}}]\"\n\
         [attr.secret]\nwrite_only = {form}\n"
    )
}

/// Whether a secret is in sync: set before, with what the device shows of it.
#[test]
fn write_only_values_are_in_sync_if_set_last_and_not_lost() {
    struct Last(Option<bool>);
    impl SecretHistory for Last {
        fn matches_last_set(&self, _: &str, _: &str, _: &Value) -> Option<bool> {
            self.0
        }
    }
    // The device shows that there is no secret.
    const OPTIONAL: &str = "\"hashed\"\nabsent = \"unset\"";
    let cases = [
        ("\"hashed\"", "user bob secret 9 x", Some(true), false),
        ("\"hashed\"", "user bob secret 9 x", Some(false), true),
        ("\"hashed\"", "user bob secret 9 x", None, true),
        ("\"hashed\"", "user bob", Some(true), true),
        (OPTIONAL, "user bob secret 9 x", Some(true), false),
        (OPTIONAL, "user bob", Some(true), true),
        ("true", "user bob", Some(true), false),
        ("true", "user bob", None, true),
    ];
    for (form, config, last, expected) in cases {
        let (registry, driver) = driver_of(MODEL, &line(form));
        let state = state(&driver, config);
        let desired = desired(
            &registry,
            &[("name", "bob".into()), ("secret", "s3cret".into())],
        );
        let current = driver.instance(&desired, &state).unwrap();
        let differs = driver.differs(&desired, current.as_ref(), &Last(last));
        assert_eq!(
            differs.contains(&"secret".into()),
            expected,
            "{form} {config} {last:?}"
        );
    }
}
