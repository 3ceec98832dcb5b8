//! Secrets that the device shows in another form, or not at all.

use super::prefix::{desired, driver_of, state};
use super::{files, holds, render_all};
use crate::driver::{Registry, SecretHistory};
use crate::value::Value;

const MODEL: &str = r#"
    ensurable = true
    [attr.name]
    role = "namevar"
    values = [{ name = "text", pattern = '\S+' }]
    [attr.level]
    values = [{ name = "number", integer = [0, 15] }]
    [attr.secret]
    sensitive = true
    values = [{ name = "text", pattern = '\S{1,25}' }]
    "#;

/// A type with a secret in the line of the instance.
fn line(form: &str) -> String {
    format!(
        "[instance]\nfrom = \"config\"\nline = \"user {{name}} [level {{level}}] [secret {{secret:rest}}]\"\n\
         [attr.secret]\nwrite_only = {form}\n"
    )
}

#[test]
fn write_only_values_of_the_line_of_the_instance_go_along_in_their_form() {
    holds(
        MODEL,
        r#"
        [instance]
        from = "config"
        line = "user {name} [level {level}] [secret {secret:rest}]"
        [attr.secret]
        write_only = "hashed"
        [[test]]
        name = "the form is not a value"
        given.config = "user bob level 15 secret 9 $9$abcdefghijklmnopqrstuvwxyz"
        expect = [{ name = "bob", level = 15 }]
        [[test]]
        name = "a user is created with the secret"
        want = { name = "bob", ensure = "present", level = 15, secret = "s3cret" }
        commands = ["user bob level 15 secret s3cret"]
        [[test]]
        name = "the form goes along with another change"
        given.config = "user bob level 15 secret 9 $9$abc"
        want = { name = "bob", ensure = "present", level = 1 }
        commands = ["user bob level 1 secret 9 $9$abc"]
        [[test]]
        name = "a secret that was not set is sent"
        given.config = "user bob level 15 secret 9 $9$abc"
        want = { name = "bob", ensure = "present", secret = "s3cret" }
        commands = ["user bob level 15 secret s3cret"]
        [[test]]
        name = "a user without a desired secret is in sync"
        given.config = "user bob level 15 secret 9 $9$abc"
        want = { name = "bob", ensure = "present", level = 15 }
        commands = []
        [[test]]
        name = "a user is removed"
        given.config = "user bob level 15 secret 9 $9$abc"
        want = { name = "bob", ensure = "absent" }
        commands = ["no user bob level 15 secret 9 $9$abc"]
        "#,
    );
}

/// OS10: the password stands between the name and the role.
const WITH_ROLE: &str = r#"
    [instance]
    from = "config"
    prefix = "user {name}"
    [attr.level]
    line = "secret {secret} level {level}"
    with = ["secret"]
    [attr.secret]
    inside = "level"
    write_only = "hashed"
    "#;

const ROLE_TESTS: &str = r#"
    [[test]]
    name = "a user without a desired secret is in sync"
    given.config = "user bob secret $9$abc level 15"
    want = { name = "bob", ensure = "present", level = 15 }
    commands = []
    [[test]]
    name = "another level goes along with the form"
    given.config = "user bob secret $9$abc level 15"
    want = { name = "bob", ensure = "present", level = 1 }
    commands = ["user bob secret $9$abc level 1"]
    [[test]]
    name = "a new user needs the secret"
    want = { name = "bob", ensure = "present", level = 1 }
    error = "also needs `secret`, for the line `user {name} secret {secret} level {level}`"
    [[test]]
    name = "a user is created"
    want = { name = "bob", ensure = "present", level = 1, secret = "s3cret" }
    commands = ["user bob secret s3cret level 1"]
    "#;

#[test]
fn write_only_value_inside_another_line_is_needed_by_new_instances_only() {
    holds(MODEL, &format!("{WITH_ROLE}{ROLE_TESTS}"));
}

#[test]
fn line_without_its_leading_value_is_refused_and_nothing_is_removed() {
    let led_by_secret = WITH_ROLE
        .replace("[attr.level]\n", "[attr.secret]\n    write_only = \"hashed\"\n")
        .replace("with = [\"secret\"]\n    [attr.secret]\n    inside = \"level\"\n    write_only = \"hashed\"", "with = [\"level\"]\n    [attr.level]\n    inside = \"secret\"");
    assert!(
        led_by_secret.contains("inside = \"secret\""),
        "{led_by_secret}"
    );
    holds(MODEL, &format!("{led_by_secret}{ROLE_TESTS}"));
}

#[test]
fn write_only_values_with_lines_of_their_own_are_sent() {
    holds(
        MODEL,
        r#"
        [instance]
        from  = "config"
        block = "user {name}"
        [attr.level]
        line = "level {level}"
        [attr.secret]
        line       = "secret {secret:rest}"
        write_only = "hashed"
        [[test]]
        name = "reads"
        given.config = "user bob\n level 15\n secret 9 $9$abc\n"
        expect = [{ name = "bob", level = 15 }]
        [[test]]
        name = "sends the secret only"
        given.config = "user bob\n level 15\n secret 9 $9$abc\n"
        want = { name = "bob", ensure = "present", level = 15, secret = "s3cret" }
        commands = ["user bob", " secret s3cret"]
        [[test]]
        name = "creates"
        want = { name = "bob", ensure = "present", secret = "s3cret" }
        commands = ["user bob", " secret s3cret"]
        [[test]]
        name = "removes"
        given.config = "user bob\n secret 9 $9$abc\n"
        want = { name = "bob", ensure = "absent" }
        commands = ["no user bob"]
        "#,
    );
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
    let cases = [
        ("\"hashed\"", "user bob secret 9 x", Some(true), false),
        ("\"hashed\"", "user bob secret 9 x", Some(false), true),
        ("\"hashed\"", "user bob secret 9 x", None, true),
        ("\"hashed\"", "user bob", Some(true), true),
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

#[test]
fn write_only_values_are_secrets_and_rows_show_no_form() {
    let readable = MODEL.replacen("sensitive = true", "", 1);
    let findings = Registry::from_files(&[], &files(&readable, &line("true")));
    let message = render_all(&findings.err().unwrap_or_default());
    assert!(message.contains("requires `sensitive = true`"), "{message}");
    let findings = Registry::from_files(&[], &files(MODEL, &line("\"hidden\"")));
    let message = render_all(&findings.err().unwrap_or_default());
    assert!(message.contains("use one of `hashed`"), "{message}");
}
