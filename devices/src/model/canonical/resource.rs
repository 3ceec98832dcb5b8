//! Canonical attributes of a resource: its title, what the catalog gives, and the defaults.

use std::borrow::Cow;

use super::{ValueError, ValueErrorKind};
use crate::model::{AttributeModel, Role, TitlePattern, TypeModel};
use crate::value::{Attributes, Name, Value};

/// The defaults that a resource gets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Defaults<'a> {
    /// Attributes without their default, because the resource audits them.
    pub except: &'a [Name],
    /// Whether [`AttributeModel::puppet_default`] counts.
    pub puppet: bool,
}

impl Defaults<'_> {
    fn of<'m>(&self, attribute: &'m AttributeModel) -> Option<&'m Value> {
        if self.except.contains(&attribute.name) {
            return None;
        }
        let puppet = attribute.puppet_default.as_ref().filter(|_| self.puppet);
        attribute.default.as_ref().or(puppet)
    }
}

impl TypeModel {
    /// As [`TypeModel::resolve_with`], with the defaults of the model.
    ///
    /// # Errors
    /// As [`TypeModel::resolve_with`].
    pub fn resolve(
        &self,
        title: &str,
        supplied: &Attributes,
    ) -> Result<Attributes, Vec<ValueError>> {
        self.resolve_with(title, supplied, Defaults::default())
    }

    /// The attributes of a resource, from its title and what the catalog gives (without
    /// metaparameters): names from the title, defaults, canonical values, in definition order.
    /// Undefined values are left out.
    ///
    /// # Errors
    /// All values that the type does not accept, rules included.
    pub fn resolve_with(
        &self,
        title: &str,
        supplied: &Attributes,
        defaults: Defaults<'_>,
    ) -> Result<Attributes, Vec<ValueError>> {
        let mut errors = Vec::new();
        for name in supplied.keys() {
            if !self.attributes.contains_key(name) {
                errors.push(self.unknown_attribute(name));
            }
        }
        let names = self.title_names(title);
        let mut attributes = Attributes::with_room(supplied.len() + 1);
        for (name, model) in &self.attributes {
            let value = supplied.get(name).filter(|value| **value != Value::Undef);
            let value = value.map(Cow::Borrowed);
            let value = value.or_else(|| match &names {
                Some(names) => names.get(name).map(Cow::Borrowed),
                None if model.role == Role::Namevar => Some(Cow::Owned(title.into())),
                None => None,
            });
            match value.or(defaults.of(model).map(Cow::Borrowed)) {
                Some(value) => match model.canonicalize(&value) {
                    Ok(value) => {
                        attributes.insert(name.clone(), value);
                    }
                    Err(error) => errors.push(error),
                },
                None if model.role == Role::Namevar && !self.titles.is_empty() => {
                    let patterns: Vec<_> = self
                        .titles
                        .iter()
                        .map(|title| title.text.as_str())
                        .collect();
                    errors.push(
                        ValueError::new(name, "is missing, and the title does not contain it")
                            .of(ValueErrorKind::Missing)
                            .help(format!(
                                "expected a title of the form {}",
                                patterns.join(" or ")
                            )),
                    );
                }
                None if model.required => {
                    errors.push(ValueError::new(name, "is required").of(ValueErrorKind::Missing));
                }
                None => {}
            }
        }
        if errors.is_empty() {
            errors = self.check_rules(&attributes);
        }
        if errors.is_empty() {
            Ok(attributes)
        } else {
            Err(errors)
        }
    }

    /// The namevars in a title.
    pub fn names(&self, title: &str) -> Attributes {
        self.title_names(title).unwrap_or_else(|| {
            let names = self.namevars();
            names.map(|name| (name.to_owned(), title.into())).collect()
        })
    }

    /// The shortest title that has the names of an instance; `None` if no pattern expresses them.
    pub fn title_of(&self, attributes: &Attributes) -> Option<String> {
        let mut forms: Vec<&TitlePattern> = self.titles.iter().collect();
        let names_in = |form: &TitlePattern| form.pattern.group_names().count();
        forms.sort_by_key(|form| names_in(form));
        forms.into_iter().find_map(|form| {
            let mut title = form.text.clone();
            for name in form.pattern.group_names() {
                let text = attributes.get(name)?.scalar_text()?;
                title = title.replace(&format!("{{{name}}}"), &text);
            }
            let found = self.title_names(&title)?;
            let has_name = |name: &str| {
                let model = &self.attributes[name];
                let value = found.get(name).or(model.default.as_ref());
                let value = value.map(|value| model.canonicalize(value).ok());
                value == attributes.get(name).map(|value| Some(value.clone()))
            };
            self.namevars().all(has_name).then_some(title)
        })
    }

    /// The namevars of the first pattern that matches the title with valid values, else of the first
    /// that matches; `None` without patterns: each namevar is the title.
    fn title_names(&self, title: &str) -> Option<Attributes> {
        if self.titles.is_empty() {
            return None;
        }
        let matches = self.titles.iter().filter_map(|form| {
            let found = form.pattern.captures(title)?;
            let names = self.namevars();
            let names =
                names.filter_map(|name| Some((name.to_owned(), found.name(name)?.as_str().into())));
            Some(names.collect::<Attributes>())
        });
        let matches: Vec<Attributes> = matches.collect();
        let is_valid = |names: &&Attributes| {
            let is_valid =
                |(name, value): (&Name, _)| self.attributes[name].canonicalize(value).is_ok();
            names.iter().all(is_valid)
        };
        let found = match &matches[..] {
            [found] => Some(found),
            _ => matches.iter().find(is_valid).or(matches.first()),
        };
        Some(found.cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::model::load;

    fn model() -> TypeModel {
        load::load(&Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "thing"
            doc = "x"
            title = "{list} {kind}"
            [attr.list]
            role = "namevar"
            [attr.kind]
            role = "namevar"
            [attr.id]
            values = [{ name = "id", integer = [1, 4094] }]
            canon = ["decimal"]
            [attr.flag]
            values = [true, false]
            default = false
            [attr.tags]
            array = "set"
            values = ["unset", { name = "tag", pattern = '\w+' }]
            [attr.password]
            sensitive = true
            values = [{ name = "text", pattern = '\S+' }]
            [[rule]]
            needs = ["password", "id"]
            unless = { tags = "unset" }
            "#,
        ))
        .unwrap()
    }

    #[test]
    fn resource_has_title_parameters_and_defaults() {
        let model = model();
        let supplied = Attributes::from_iter([
            ("id".to_owned(), 7.into()),
            ("tags".to_owned(), Value::Undef),
        ]);
        let resolved = model.resolve("my list ext", &supplied).unwrap();
        let expected: Attributes = [
            ("list", "my list".into()),
            ("kind", "ext".into()),
            ("id", "7".into()),
            ("flag", Value::Bool(false)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        assert_eq!(resolved, expected);
        let errors = model
            .resolve("oneword", &Attributes::default())
            .unwrap_err();
        assert_eq!(errors.len(), 2);
        assert_eq!(
            errors[0].help.as_deref(),
            Some("expected a title of the form {list} {kind}")
        );
    }

    #[test]
    fn title_of_an_instance_is_the_shortest_that_has_its_names() {
        let model = load::load(&Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "route"
            doc = "x"
            title = ["{vrf} {prefix}", "{prefix}"]
            [attr.prefix]
            role = "namevar"
            values = [{ name = "prefix", pattern = '[\d./]+' }]
            [attr.vrf]
            role = "namevar"
            default = "default"
            values = [{ name = "vrf", pattern = '[a-z]+' }]
            "#,
        ));
        let model = model.unwrap();
        for (vrf, expected) in [("default", "10.0.0.0/8"), ("blue", "blue 10.0.0.0/8")] {
            let names = [("prefix", "10.0.0.0/8"), ("vrf", vrf)];
            let names = names.map(|(name, value)| (name.to_owned(), value.into()));
            let attributes = Attributes::from_iter(names);
            assert_eq!(model.title_of(&attributes).as_deref(), Some(expected));
        }
    }

    #[test]
    fn resource_has_the_first_title_with_valid_names() {
        let model = load::load(&Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "receiver"
            doc = "x"
            title = ["{host} {port}", "{host} {vrf}", "{host}"]
            [attr.host]
            role = "namevar"
            values = [{ name = "word", pattern = '\S+' }]
            [attr.port]
            role = "namevar"
            default = "unset"
            values = ["unset", { name = "port", integer = [1, 65535] }]
            [attr.vrf]
            role = "namevar"
            default = "unset"
            "#,
        ))
        .unwrap();
        let cases = [
            ("a 162", "a 162 unset"),
            ("a blue", "a unset blue"),
            ("a", "a unset unset"),
        ];
        for (title, expected) in cases {
            let resolved = model.resolve(title, &Attributes::default()).unwrap();
            let values: Vec<_> = resolved.values().map(Value::ruby_to_s).collect();
            assert_eq!(values.join(" "), expected);
        }
    }

    #[test]
    fn resource_rules_apply_unless_they_are_disabled() {
        let model = model();
        let mut supplied = Attributes::from_iter([("password".to_owned(), "x".into())]);
        let errors = model.resolve("a b", &supplied).unwrap_err();
        assert_eq!(errors[0].to_string(), "password: needs id");
        supplied.insert("tags".to_owned(), "unset".into());
        assert!(model.resolve("a b", &supplied).is_ok());
    }

    #[test]
    fn resource_errors_name_the_condition_of_a_forbidden_attribute() {
        let model = load::load(&Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "entry"
            doc = "x"
            ensurable = true
            [attr.name]
            role = "namevar"
            [attr.protocol]
            [attr.port]
            [[rule]]
            forbidden = ["port"]
            unless = { protocol = ["tcp", "udp"], ensure = "absent" }
            [[rule]]
            forbidden = ["protocol"]
            when = { name = "standard" }
            "#,
        ))
        .unwrap();
        let needs_ports = "port: is only valid with protocol \"tcp\" or \"udp\"";
        let cases = [
            ("a", "port=80 protocol=udp", ""),
            ("a", "port=80 ensure=absent", ""),
            ("a", "port=80 protocol=gre", needs_ports),
            ("a", "port=80", needs_ports),
            (
                "standard",
                "protocol=tcp",
                "protocol: cannot be combined with name \"standard\"",
            ),
        ];
        for (title, supplied, expected) in cases {
            let attributes = supplied
                .split(' ')
                .filter_map(|pair| pair.split_once('='))
                .map(|(name, value)| (name.to_owned(), Value::from(value)))
                .collect();
            let errors = model.resolve(title, &attributes).err().unwrap_or_default();
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(errors.join("; "), expected, "{title} {supplied}");
        }
    }
}
