//! The places in the block of an instance where lines of attributes stand: the block, and inner blocks.

use super::CliType;
use super::rules::CliAttributeRule;
use super::slot::Slot;

/// The places for one syntax of the block. Attributes are meant by their position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Attributes with lines in the block itself.
    own: Vec<usize>,
    /// Those of an inner block whose lines may also stand in the block.
    shared: Vec<usize>,
    /// The headers of inner blocks, and the attributes with lines there.
    inner: Vec<(Vec<String>, Vec<usize>)>,
}

impl CliType {
    /// Finds the places of all attributes.
    pub(super) fn find_places(&mut self) {
        let spellings = 0..self.instance.kind.paths().len().max(1);
        let places = spellings.map(|spelling| {
            let mut places = Places::default();
            for (index, rule) in self.attributes.values().enumerate() {
                let sub = rule.sub(spelling);
                if sub.is_empty() {
                    places.own.push(index);
                    continue;
                }
                if rule.may_stand_outside() {
                    places.shared.push(index);
                }
                let mut inner = places.inner.iter_mut();
                match inner.find(|(headers, _)| headers == sub) {
                    Some((_, rules)) => rules.push(index),
                    None => places.inner.push((sub.to_vec(), vec![index])),
                }
            }
            places
        });
        self.places = places.collect();
    }

    fn places(&self, spelling: usize) -> &Places {
        self.places.get(spelling).unwrap_or(&self.places[0])
    }

    fn rules_at<'a>(
        &'a self,
        positions: &'a [usize],
    ) -> impl Iterator<Item = &'a CliAttributeRule> + Clone {
        positions.iter().map(|position| &self.attributes[*position])
    }

    /// The attributes with lines in the block itself.
    pub(super) fn own_rules(
        &self,
        spelling: usize,
    ) -> impl Iterator<Item = &CliAttributeRule> + Clone {
        self.rules_at(&self.places(spelling).own)
    }

    /// The attributes of inner blocks whose lines may also stand in the block.
    pub(super) fn shared_rules(
        &self,
        spelling: usize,
    ) -> impl Iterator<Item = &CliAttributeRule> + Clone {
        self.rules_at(&self.places(spelling).shared)
    }

    /// The inner blocks with lines of attributes, each with its attributes.
    pub(super) fn inner_places(
        &self,
        spelling: usize,
    ) -> impl Iterator<Item = (&[String], impl Iterator<Item = &CliAttributeRule> + Clone)> {
        let inner = self.places(spelling).inner.iter();
        inner.map(|(headers, rules)| (headers.as_slice(), self.rules_at(rules)))
    }

    /// The headers of the inner blocks.
    pub(super) fn subs(&self, spelling: usize) -> impl Iterator<Item = &[String]> {
        self.inner_places(spelling).map(|(headers, _)| headers)
    }

    /// The slots of the lines in the block itself.
    pub(super) fn own_slots(&self, spelling: usize) -> Vec<Slot<'_>> {
        let rules = self.own_rules(spelling).chain(self.shared_rules(spelling));
        rules.flat_map(CliAttributeRule::slots).collect()
    }
}
