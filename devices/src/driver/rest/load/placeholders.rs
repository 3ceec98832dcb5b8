//! Checks the placeholders of a definition: each has a value when its text is used, and none can
//! change a path.

use crate::driver::rest::definition::OwnRequest;
use crate::driver::rest::definition::{RestDefinition, RestInstanceRule, RestLocation};
use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::model::TypeModel;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::FieldPath;

/// The placeholder for the path of the kind of an object.
const KIND: &str = "kind";
/// The placeholder for the key of a member.
const MEMBER: &str = "member";

/// Placeholders that have no value, and values that can change a path.
pub(super) fn placeholder_errors(definition: &RestDefinition, model: &TypeModel) -> Vec<String> {
    let check = PlaceholderCheck { definition, model };
    let mut errors = check.path_errors();
    errors.extend(check.body_errors());
    errors.extend(check.kind_errors());
    errors.extend(check.secret_errors());
    errors
}

struct PlaceholderCheck<'a> {
    definition: &'a RestDefinition,
    model: &'a TypeModel,
}

impl PlaceholderCheck<'_> {
    fn rule(&self) -> &RestInstanceRule {
        &self.definition.instance
    }

    fn is_kind(&self, hole: &str) -> bool {
        hole == KIND && self.definition.kinds.is_some()
    }

    /// The paths of requests for an object.
    fn object_paths(&self) -> impl Iterator<Item = &TextTemplate> {
        let rule = self.rule();
        let create = rule
            .create
            .iter()
            .map(|create| rule.path_of(&create.target));
        let update = rule.path_of(&rule.update.target);
        let remove = rule.remove.iter().filter_map(|remove| remove.path.as_ref());
        let requests = self.requests().map(|request| &request.path);
        let paths = [&rule.object, update].into_iter().chain(create);
        paths.chain(remove).chain(requests)
    }

    /// The requests of their own.
    fn requests(&self) -> impl Iterator<Item = &OwnRequest> {
        let rules = self.definition.attributes.values();
        rules.flat_map(|rule| rule.requests.values())
    }

    /// Whether an object has a text for a placeholder.
    fn is_readable(&self, hole: &str) -> bool {
        let rule = self.definition.attributes.get(hole);
        let is_list = |name: &str| {
            let attribute = self.model.attributes.get(name);
            attribute.is_some_and(|attribute| attribute.array.is_some())
        };
        self.rule().is_key(hole)
            || self.is_kind(hole)
            || rule.is_some_and(|rule| {
                let is_located = match &rule.location {
                    RestLocation::States(_) | RestLocation::Choice(_) => true,
                    location => !location.fields().is_empty(),
                };
                is_located && !rule.write_only && !is_list(hole)
            })
    }

    /// The paths of requests.
    fn path_errors(&self) -> Vec<String> {
        let rule = self.rule();
        let mut errors = Vec::new();
        if rule.source.is_none() {
            let is_parent = |hole: &str| {
                let mut parents = rule.parent.iter().flat_map(|parent| &parent.key);
                parents.any(|(name, _)| name == hole)
            };
            let unknown = rule.collection.holes();
            let unknown = unknown.filter(|hole| !self.is_kind(hole) && !is_parent(hole));
            errors.extend(unknown.map(|hole| {
                format!(
                    "`{}` uses `{hole}`, which has no value: the collection is read for all resources",
                    rule.collection
                )
            }));
        }
        for path in self.object_paths() {
            let unknown = path.holes().filter(|hole| !self.is_readable(hole));
            errors.extend(unknown.map(|hole| {
                format!("`{path}` uses `{hole}`, which has no value: use a namevar in `key`, or an attribute with one value in a field")
            }));
            errors.extend(unencoded(path));
        }
        for attribute in self.definition.attributes.values() {
            let RestLocation::Members(members) = &attribute.location else {
                continue;
            };
            let own = members.own.iter();
            for path in own.flat_map(|own| [&own.collection, &own.object]) {
                let is_known =
                    |hole: &&str| rule.is_key(hole) || self.is_kind(hole) || *hole == MEMBER;
                let unknown = path.holes().filter(|hole| !is_known(hole));
                errors.extend(unknown.map(|hole| {
                    format!("`{path}` uses `{hole}`, which is not a namevar in `key`")
                }));
                errors.extend(unencoded(path));
            }
        }
        errors
    }

    /// The fields of bodies, and names.
    fn body_errors(&self) -> Vec<String> {
        let rule = self.rule();
        let bodies = rule.create.iter().flat_map(|create| {
            let body = create.body.iter().flatten();
            body.chain(&create.frame)
        });
        let update = rule.update.fields.iter().chain(&rule.update.frame);
        let bodies = bodies.chain(update);
        let remove = rule.remove.iter().flat_map(|remove| &remove.body);
        let requests = self.requests().flat_map(|request| &request.body);
        let bodies = bodies.chain(remove).chain(requests);
        let name = rule.name.iter().map(|name| &name.template);
        let own = templates(bodies).chain(name).map(|one| (one, false));
        let rules = self.definition.attributes.values();
        let inner = rules.flat_map(|rule| match &rule.location {
            RestLocation::Members(members) => templates(&members.create)
                .map(|one| (one, true))
                .collect::<Vec<_>>(),
            RestLocation::Entries(entries) => {
                let defaults = entries.default_entry.iter();
                let defaults = defaults.flat_map(|one| one.paths.iter().chain([&one.kind]));
                defaults.map(|one| (one, false)).collect()
            }
            _ => Vec::new(),
        });
        let unknown = own.chain(inner).flat_map(|(template, has_member)| {
            let is_known = move |hole: &&str| {
                self.is_kind(hole)
                    || *hole == MEMBER && has_member
                    || self.model.attributes.contains_key(*hole)
            };
            let holes = template.holes().filter(move |hole| !is_known(hole));
            holes.map(move |hole| {
                format!(
                    "`{template}` uses `{hole}`, which is not an attribute of {}",
                    self.model.name
                )
            })
        });
        unknown.collect()
    }

    /// Secrets in paths and bodies, which are masked in fields only.
    fn secret_errors(&self) -> Vec<String> {
        let requests = self.requests().flat_map(|request| &request.body);
        let bodies = templates(requests).chain(self.object_paths());
        let is_secret = |hole: &&str| {
            let attribute = self.model.attributes.get(*hole);
            attribute.is_some_and(|attribute| attribute.sensitive)
        };
        let secrets = bodies.flat_map(|template| {
            let holes = template.holes().filter(is_secret);
            holes.map(move |hole| format!("`{template}` sends the secret `{hole}`"))
        });
        secrets.collect()
    }

    /// Texts that only have the kind of an object.
    fn kind_errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        for shared in self.definition.shared.values() {
            let holes = shared.kinds.holes().filter(|hole| *hole != KIND);
            errors.extend(
                holes.map(|hole| {
                    format!("`{}` uses `{hole}`; it has `{{kind}}` only", shared.kinds)
                }),
            );
        }
        let is_of_kind = |one: &&Expectation| matches!(one, Expectation::Field { value: Some(value), .. } if value.contains("{kind}"));
        if self.definition.kinds.is_none() && self.rule().answer.iter().any(|one| is_of_kind(&one))
        {
            errors.push("`answer` uses `{kind}`, but the type has no section [kind]".to_owned());
        }
        errors
    }
}

/// The placeholders of a path that can change it.
pub(super) fn unencoded(path: &TextTemplate) -> impl Iterator<Item = String> {
    let holes = path.unencoded_holes().filter(|hole| *hole != KIND);
    holes.map(move |hole| {
        format!("`{{{hole}}}` in the path `{path}` is not encoded; use `{{{hole}|percent}}`")
    })
}

fn templates<'a>(
    fields: impl IntoIterator<Item = &'a (FieldPath, BodyField)>,
) -> impl Iterator<Item = &'a TextTemplate> {
    let fields = fields.into_iter();
    fields.filter_map(|(_, field)| match field {
        BodyField::Text(template) => Some(template),
        BodyField::Constant(_) => None,
    })
}
