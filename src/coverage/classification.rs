//! Gives each line its class and its owner.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use switchtender_devices::change::Desired;
use switchtender_devices::driver::{Claim, ClaimKind, SurveyedLine};
use switchtender_devices::names::TypeName;
use switchtender_devices::value::Name;

use super::LineClass;

/// A line with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoveredLine {
    /// Its number, from 1.
    pub(crate) line: u32,
    /// With indentation. Secrets are masked.
    pub(crate) text: String,
    pub(crate) class: LineClass,
    /// The type that owns it.
    pub(crate) type_name: Option<TypeName>,
    /// The title of the resource.
    pub(crate) title: Option<String>,
    pub(crate) attribute: Option<Name>,
    /// Other types that read it.
    pub(crate) also: Vec<TypeName>,
    /// The headers of the blocks around it, outermost first.
    pub(crate) blocks: Vec<String>,
    pub(crate) keywords: String,
}

impl CoveredLine {
    /// The line of a device as JSON.
    pub(crate) fn json(&self, device: &str) -> Json {
        json!({
            "device": device,
            "line": self.line,
            "text": self.text,
            "class": self.class,
            "type": self.type_name.as_deref(),
            "title": self.title,
            "attribute": self.attribute.as_deref(),
            "also": self.also.iter().map(|name| name.as_str()).collect::<Vec<_>>(),
        })
    }

    /// The line with the headers of its blocks: `interface Vlan10 / mtu 9000`.
    pub(crate) fn path(&self) -> String {
        let mut path = self.blocks.clone();
        path.push(self.text.trim().to_owned());
        path.join(" / ")
    }

    /// The resource and the attribute that the line belongs to, for a person: `network_vlan[10] vlan_name`.
    pub(crate) fn owner(&self) -> String {
        let Some(name) = &self.type_name else {
            return String::new();
        };
        let title = self.title.as_ref().map(|title| format!("[{title}]"));
        let attribute = self.attribute.as_ref().map(|name| format!(" {name}"));
        format!(
            "{name}{}{}",
            title.unwrap_or_default(),
            attribute.unwrap_or_default()
        )
    }
}

/// What the files of a device declare.
#[derive(Debug, Default)]
pub(crate) struct DeclaredResources(HashMap<TypeName, Vec<Arc<Desired>>>);

impl DeclaredResources {
    pub(crate) fn new(resources: impl Iterator<Item = Arc<Desired>>) -> Self {
        let mut by_type: HashMap<TypeName, Vec<Arc<Desired>>> = HashMap::new();
        for resource in resources {
            let name = resource.model.name.clone();
            by_type.entry(name).or_default().push(resource);
        }
        Self(by_type)
    }

    /// Whether a declared resource has a line. A header is managed with anything in its block.
    fn manages(&self, claim: &Claim) -> bool {
        let resources = self.0.get(&claim.type_name).into_iter().flatten();
        resources
            .filter(|resource| claim.is_of(resource))
            .any(|resource| self.declared_attribute(resource, claim).is_ok())
    }

    /// The attribute of a claim that a resource declares; `Err` if it declares none of several.
    fn declared_attribute<'c>(
        &self,
        resource: &Desired,
        claim: &'c Claim,
    ) -> Result<Option<&'c Name>, ()> {
        if matches!(claim.kind, ClaimKind::Own | ClaimKind::Header) {
            return Ok(None);
        }
        let mut attributes = claim.attributes.iter();
        let declared = attributes.find(|name| resource.attributes.contains_key(name.as_str()));
        declared.map(Some).ok_or(())
    }
}

/// Classifies the lines of a device.
pub(crate) struct Classifier<'a> {
    /// `None`: nothing is known about desired state.
    pub(crate) declared: Option<&'a DeclaredResources>,
    /// The index of the type that owns a line of several.
    pub(crate) owner: &'a dyn Fn(&[&TypeName]) -> usize,
    /// Whether the files leave out a type, or an attribute of it.
    pub(crate) is_excluded: &'a dyn Fn(&Claim) -> bool,
    /// Whether the files leave out a line, or the header of a block.
    pub(crate) is_excluded_line: &'a dyn Fn(&str) -> bool,
}

impl Classifier<'_> {
    pub(crate) fn classify(&self, line: SurveyedLine) -> CoveredLine {
        let mut claims: Vec<&Claim> = line.claims.iter().collect();
        let mut types: Vec<&TypeName> = claims.iter().map(|claim| &claim.type_name).collect();
        types.dedup();
        let owner = match types.as_slice() {
            [] | [_] => types.first(),
            several => several.get((self.owner)(several)),
        };
        // The header of a block belongs to the type whose instance it is.
        claims.sort_by_key(|claim| (claim.kind, Some(&&claim.type_name) != owner));
        let managed = self
            .declared
            .and_then(|declared| claims.iter().find(|claim| declared.manages(claim)));
        let is_set = |claim: &&&Claim| claim.kind != ClaimKind::Default;
        let found = if line.is_generated {
            (LineClass::Generated, None)
        } else if let Some(managed) = managed {
            (LineClass::Managed, Some(*managed))
        } else if let Some(excluded) = claims.iter().find(|claim| (self.is_excluded)(claim)) {
            (LineClass::Excluded, Some(*excluded))
        } else if self.leaves_out(&line) {
            (LineClass::Excluded, claims.first().copied())
        } else if let Some(available) = claims.iter().find(is_set) {
            (LineClass::Available, Some(*available))
        } else if let Some(default) = claims.first() {
            (LineClass::Default, Some(*default))
        } else if line.not_understood.is_empty() {
            (LineClass::NotCovered, None)
        } else {
            (LineClass::NotUnderstood, None)
        };
        let (class, owner) = found;
        let not_understood = line.not_understood.iter();
        let recognized = not_understood.filter(|_| class == LineClass::NotUnderstood);
        let types = owner.map(|owner| &owner.type_name).into_iter();
        let mut types: Vec<TypeName> = types.chain(recognized).cloned().collect();
        let type_name = if types.is_empty() {
            None
        } else {
            Some(types.remove(0))
        };
        let mut also = types;
        if class != LineClass::Generated {
            for claim in &claims {
                let is_owner = type_name.as_ref() == Some(&claim.type_name);
                if !is_owner && claim.kind != ClaimKind::Header && !also.contains(&claim.type_name)
                {
                    also.push(claim.type_name.clone());
                }
            }
        }
        let attribute = owner.and_then(|owner| match owner.kind {
            ClaimKind::Value | ClaimKind::Default => self.attribute(owner),
            ClaimKind::Own | ClaimKind::Header => None,
        });
        CoveredLine {
            line: line.line,
            text: line.text.clone(),
            class,
            title: owner.and_then(|owner| owner.title.clone()),
            attribute,
            type_name,
            also,
            blocks: line.blocks,
            keywords: line.keywords,
        }
    }

    /// Whether the files leave out a line, or a block in which it stands.
    fn leaves_out(&self, line: &SurveyedLine) -> bool {
        let blocks = line.blocks.iter().map(String::as_str);
        let mut texts = blocks.chain([line.text.trim()]);
        texts.any(|text| (self.is_excluded_line)(text))
    }

    /// The attribute that a line is told for: a declared one, otherwise the first.
    fn attribute(&self, claim: &Claim) -> Option<Name> {
        let resources = self
            .declared
            .and_then(|declared| declared.0.get(&claim.type_name))
            .into_iter()
            .flatten()
            .filter(|resource| claim.is_of(resource));
        let mut attributes = claim.attributes.iter();
        let declared = resources
            .flat_map(|resource| {
                attributes
                    .clone()
                    .filter(|name| resource.attributes.contains_key(name.as_str()))
            })
            .next();
        declared.or_else(|| attributes.next()).cloned()
    }
}
