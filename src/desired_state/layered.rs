//! Resources of several layers: each file replaces and removes what earlier ones declare.
//!
//! In one file, ranges come first and single titles replace them, whatever the order. A `~` stays as a mark until
//! profiles are resolved ([`profile`](super::expand::profile)).

use std::collections::HashSet;
use std::sync::Arc;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::map::IndexMap;

use super::expand::declaration::{Declaration, Declarations, RemovedTitles};
use super::merge::{FileLabel, Layer};
use super::merged_state::{MergedValue, ValueOrigin};
use super::state_entry::{EntryKind, StateEntry};
use super::yaml_value::{YamlKey, YamlNode};

/// What the ranges and profiles of one device can stand for, in bytes.
const LARGEST: usize = 128 << 20;

/// What each value takes in addition to its text.
const VALUE: usize = 64;

/// Ranges and profiles that would fill the memory.
#[derive(Debug, thiserror::Error)]
#[error("the ranges and profiles of the device stand for more than {} MiB", LARGEST >> 20)]
pub(super) struct TooMuch;

/// What is found while files are merged.
pub(super) struct MergeFindings {
    pub(super) errors: Vec<Diagnostic>,
    pub(super) entries: Vec<StateEntry>,
    /// Positions of reported conflicts: all titles of a range have the same ones.
    reported: HashSet<(usize, usize, usize)>,
    /// Bytes of further values.
    left: usize,
}

impl MergeFindings {
    pub(super) fn new() -> Self {
        Self {
            errors: Vec::new(),
            entries: Vec::new(),
            reported: HashSet::new(),
            left: LARGEST,
        }
    }

    /// Counts a value of this size, or several.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn charge(&mut self, size: usize) -> Result<(), TooMuch> {
        let left = self.left.checked_sub(size.saturating_add(VALUE));
        self.left = left.ok_or(TooMuch)?;
        Ok(())
    }

    /// Adds the entry of a `~`.
    pub(super) fn removal(&mut self, origin: ValueOrigin, subject: String, is_effective: bool) {
        self.entries.push(StateEntry {
            origin,
            kind: EntryKind::Removal,
            subject,
            is_effective,
        });
    }
}

/// Resources by type and title. A view is a type with the attribute `use`.
#[derive(Clone, Debug, Default)]
pub(super) struct LayeredResources {
    pub(super) types: IndexMap<String, LayeredType>,
}

/// The resources of a type by title.
#[derive(Clone, Debug)]
pub(super) struct LayeredType {
    pub(super) position: LayerPosition,
    pub(super) resources: IndexMap<String, LayeredResource>,
}

/// The layer, the byte and the number in a range where something is declared first.
pub(super) type LayerPosition = (usize, usize, usize);

/// A resource of several layers.
#[derive(Clone, Debug)]
pub(super) struct LayeredResource {
    pub(super) origin: ValueOrigin,
    pub(super) type_origin: ValueOrigin,
    pub(super) position: LayerPosition,
    pub(super) attributes: IndexMap<String, LayeredValue>,
    /// A `~` of a resource: what profiles of the view have for it does not count.
    pub(super) mark: Option<ValueOrigin>,
    /// The last `~` was not followed by a declaration.
    pub(super) is_removed: bool,
    /// The layer whose single title removed it.
    removed_by: Option<usize>,
}

/// The value of a layer, or a mark.
#[derive(Clone, Debug)]
pub(super) struct LayeredValue {
    pub(super) merged: MergedValue,
    location: SectionLocation,
    /// The label of the file, if a label file set the value.
    label: Option<Arc<FileLabel>>,
    /// Another value in the file of another label, if the inventory does not order the two labels.
    conflict: Option<ValueOrigin>,
}

/// Where in a layer a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionLocation {
    layer: usize,
    is_range: bool,
    is_view: bool,
}

impl LayeredResources {
    /// Adds the declarations of a file.
    pub(super) fn add(
        &mut self,
        layer: &Layer<'_>,
        declarations: &Declarations<'_>,
        findings: &mut MergeFindings,
    ) {
        for removed in &declarations.removed_types {
            let mut is_effective = false;
            for name in &removed.types {
                is_effective |= self.types.shift_remove(*name).is_some();
            }
            let subject = removed.key.name.clone();
            findings.removal(layer.origin(&removed.key.span), subject, is_effective);
            if let Some(view) = removed.view {
                self.mark_objects(layer, removed.key, view);
            }
        }
        // Single titles replace what ranges set, and values come after what removes other layers'.
        for is_range in [true, false] {
            let removed = declarations.removed_titles.iter();
            for removed in removed.filter(|removed| removed.titles.is_range == is_range) {
                self.remove(layer, removed, findings);
            }
            let resources = declarations.resources.iter();
            for declared in resources.filter(|declared| declared.titles.is_range == is_range) {
                self.declare(layer, declared, findings);
            }
        }
    }

    /// After a `~` of a type, its resources do not come back through the profiles of objects.
    fn mark_objects(&mut self, layer: &Layer<'_>, key: &YamlKey, view: &str) {
        let Some(objects) = self.types.get(view) else {
            return;
        };
        let titles: Vec<String> = objects.resources.keys().cloned().collect();
        let origin = layer.origin(&key.span);
        for title in &titles {
            self.removed_resource(layer, &key.name, title, &origin);
        }
    }

    fn remove(
        &mut self,
        layer: &Layer<'_>,
        removed: &RemovedTitles<'_>,
        findings: &mut MergeFindings,
    ) {
        let origin = layer.origin(&removed.key.span);
        let mut is_effective = false;
        for title in &removed.titles.names {
            for name in &removed.types {
                let known = self.types.get_mut(*name);
                let known = known.and_then(|all| all.resources.get(title));
                is_effective |= known.is_some_and(|resource| !resource.is_removed);
                if removed.is_object {
                    if let Some(all) = self.types.get_mut(*name) {
                        all.resources.shift_remove(title);
                    }
                } else {
                    let resource = self.removed_resource(layer, name, title, &origin);
                    if !removed.titles.is_range {
                        resource.removed_by = Some(layer.number);
                    }
                }
            }
        }
        findings.removal(origin, removed.subject.clone(), is_effective);
    }

    /// The resource after a `~`.
    fn removed_resource(
        &mut self,
        layer: &Layer<'_>,
        type_name: &str,
        title: &str,
        origin: &ValueOrigin,
    ) -> &mut LayeredResource {
        let position = (layer.number, origin.span.start, 0);
        let all = self.types.entry(type_name.to_owned());
        let all = all.or_insert_with(|| LayeredType::at(position));
        let resource = all
            .resources
            .entry(title.to_owned())
            .or_insert_with(|| LayeredResource::at(origin.clone(), origin.clone(), position));
        resource.attributes.clear();
        resource.is_removed = true;
        resource.mark = Some(origin.clone());
        resource
    }

    fn declare(
        &mut self,
        layer: &Layer<'_>,
        declared: &Declaration<'_>,
        findings: &mut MergeFindings,
    ) {
        let position = (layer.number, declared.key.span.start, 0);
        let all = self.types.entry(declared.type_name.to_owned());
        let all = all.or_insert_with(|| LayeredType::at(position));
        if all.position.0 == layer.number {
            all.position = all.position.min(position);
        }
        let location = SectionLocation {
            layer: layer.number,
            is_range: declared.titles.is_range,
            is_view: declared.is_view,
        };
        let values = declared.attributes.iter();
        let values: Vec<(&YamlKey, LayeredValue)> = values
            .map(|(name, node)| (name, LayeredValue::new(layer, location, name, node)))
            .collect();
        if location.is_range {
            let sizes = values
                .iter()
                .map(|(_, value)| value.merged.value.size() + VALUE);
            let size = declared
                .titles
                .names
                .len()
                .saturating_mul(VALUE + sizes.sum::<usize>());
            if let Err(error) = findings.charge(size) {
                let found = layer
                    .origin(&declared.title.span)
                    .error("state-range", error.to_string());
                findings.errors.push(found.help("write fewer titles"));
                return;
            }
        }
        let is_marked: Vec<bool> = values.iter().map(|(_, value)| value.is_mark()).collect();
        let mut is_effective = vec![false; values.len()];
        for (index, title) in declared.titles.names.iter().enumerate() {
            let position = (layer.number, declared.title.span.start, index);
            let (origin, of_type) = (
                layer.origin(&declared.title.span),
                layer.origin(&declared.key.span),
            );
            let resource = all.resources.entry(title.clone());
            let resource = resource
                .or_insert_with(|| LayeredResource::at(origin.clone(), of_type.clone(), position));
            if resource.removed_by == Some(layer.number) && !location.is_range {
                let message = format!(
                    "{} {title} is removed and declared in one file",
                    declared.type_name
                );
                let help = "remove one of them";
                let found = origin.error("state-conflict", message);
                findings.errors.push(found.help(help));
            }
            if resource.is_removed {
                resource.is_removed = false;
                (resource.origin, resource.type_origin) = (origin, of_type);
                resource.position = position;
            } else if resource.position.0 == layer.number && position < resource.position {
                (resource.origin, resource.type_origin) = (origin, of_type);
                resource.position = position;
            }
            for (number, (name, value)) in values.iter().enumerate() {
                let subject = || format!("{} of {} {title}", name.name, declared.type_name);
                let earlier = resource.attributes.get(&name.name);
                is_effective[number] |= earlier.is_some_and(|earlier| !earlier.is_mark());
                let value = value.after(earlier, &subject, findings);
                resource.attributes.insert(name.name.clone(), value);
            }
        }
        for (number, (name, _)) in values.iter().enumerate() {
            if is_marked[number] {
                let title = &declared.title.name;
                let subject = format!("{} of {} {title}", name.name, declared.type_name);
                let origin = layer.origin(&name.span);
                findings.removal(origin, subject, is_effective[number]);
            }
        }
    }
}

impl LayeredType {
    pub(super) fn at(position: LayerPosition) -> Self {
        Self {
            position,
            resources: IndexMap::default(),
        }
    }
}

impl LayeredResource {
    /// A resource without attributes.
    pub(super) fn at(
        origin: ValueOrigin,
        type_origin: ValueOrigin,
        position: LayerPosition,
    ) -> Self {
        Self {
            origin,
            type_origin,
            position,
            attributes: IndexMap::default(),
            mark: None,
            is_removed: false,
            removed_by: None,
        }
    }
}

impl LayeredValue {
    /// The value of a file.
    pub(super) fn new(
        layer: &Layer<'_>,
        location: SectionLocation,
        key: &YamlKey,
        node: &YamlNode,
    ) -> Self {
        Self {
            merged: MergedValue {
                value: Arc::new(node.value.clone()),
                origin: layer.origin(&node.span),
                name_origin: layer.origin(&key.span),
                through: None,
                is_default: false,
            },
            location,
            label: layer.label.clone(),
            conflict: None,
        }
    }

    /// Whether it is a `~`.
    pub(super) fn is_mark(&self) -> bool {
        self.merged.is_mark()
    }

    /// This value in the place of an earlier one, with their conflict.
    fn after(
        &self,
        earlier: Option<&Self>,
        subject: &dyn Fn() -> String,
        findings: &mut MergeFindings,
    ) -> Self {
        let Some(earlier) = earlier else {
            return self.clone();
        };
        let differs = earlier.merged.value != self.merged.value;
        if earlier.location.layer == self.location.layer {
            let reason = if earlier.location.is_view != self.location.is_view {
                Some("sets {} at its type and in a view")
            } else if earlier.location.is_range && self.location.is_range && differs {
                Some("has two ranges that set {} to different values")
            } else {
                None
            };
            if let Some(reason) = reason {
                self.report(earlier, &reason.replace("{}", &subject()), findings);
            }
        }
        let labels = self.label.as_ref().zip(earlier.label.as_ref());
        let is_open = labels.is_some_and(|(own, other)| !own.is_ordered_against(other));
        let is_carried = self.label.is_some();
        let stored = earlier.conflict.clone().filter(|_| is_carried);
        let new = (is_open && differs).then(|| earlier.merged.origin.clone());
        Self {
            conflict: stored.or(new),
            ..self.clone()
        }
    }

    fn report(&self, earlier: &Self, reason: &str, findings: &mut MergeFindings) {
        let (own, other) = (&self.merged.origin, &earlier.merged.origin);
        let position = (self.location.layer, own.span.start, other.span.start);
        if !findings.reported.insert(position) {
            return;
        }
        let found = own.error("state-conflict", format!("the file {reason}"));
        let found = found.at(&other.source, other.span.clone(), "the other value");
        findings
            .errors
            .push(found.help("set it once, or at the title without a range"));
    }

    /// The conflict of two labels.
    pub(super) fn conflict(&self, subject: &str) -> Option<Diagnostic> {
        let other = self.conflict.as_ref()?;
        let message = format!("two labels set {subject} to different values");
        let finding = self.merged.origin.error("state-conflict", message);
        let finding = finding.at(&other.source, other.span.clone(), "the other value");
        Some(finding.help(
            "set it in the file of the device, or order the keys with label_order in the inventory",
        ))
    }

    /// Sets a variable. Returns whether a removal had an effect.
    pub(super) fn set_variable(
        variables: &mut IndexMap<String, LayeredValue>,
        layer: &Layer<'_>,
        (key, node): (&YamlKey, &YamlNode),
        findings: &mut MergeFindings,
    ) {
        let location = SectionLocation {
            layer: layer.number,
            is_range: false,
            is_view: false,
        };
        let value = Self::new(layer, location, key, node);
        let subject = format!("variable {}", key.name);
        if value.is_mark() {
            let is_effective = variables.shift_remove(&key.name).is_some();
            findings.removal(layer.origin(&key.span), subject, is_effective);
        } else {
            let earlier = variables.get(&key.name);
            let value = value.after(earlier, &|| subject.clone(), findings);
            variables.insert(key.name.clone(), value);
        }
    }
}
