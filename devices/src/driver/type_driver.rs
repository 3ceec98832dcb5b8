//! The definition of a type on a platform: implementation, variants, rank and self-tests.

pub(super) mod sections;

use std::sync::Arc;

use self::sections::{TypeSections, VariantSections};
use super::context::Context;
use super::facts::{Facts, When};
use super::implementation::Implementation;
use super::self_test::SelfTest;
use super::self_test::test_source::{DefinitionTests, TestSource};
use super::unsupported_type::UnsupportedType;
use super::{cli, command, rest};
use crate::diagnostic::Source;
use crate::dialogue::Transport;
use crate::document::{Table, read_value};
use crate::model::load::check_schema;
use crate::model::{Refresh, TypeModel};
use crate::value::{Attributes, Name};

/// A type on a platform.
#[derive(Debug)]
pub struct TypeDriver {
    /// The attributes and values of the type.
    pub model: Arc<TypeModel>,
    /// Position in the order of changes: lower ranks first, removals in reverse.
    pub(crate) rank: i64,
    pub(crate) source: Arc<Source>,
    /// Whether the file is shipped with the program. Shipped files must have all tests.
    pub(crate) shipped: bool,
    pub(crate) base: Arc<dyn Implementation>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) tests: DefinitionTests<SelfTest>,
    /// Attributes that the shipped model of the type lacks.
    pub(crate) added: Vec<Name>,
}

/// Variants for some devices. The first that matches is used.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) when: When,
    pub(crate) implementation: Result<Arc<dyn Implementation>, UnsupportedType>,
}

impl TypeDriver {
    /// Reads a definition. `root` returns the file's root table, merged with the file that it
    /// extends. It is called once per variant.
    pub(super) fn load<'a>(
        context: &Context<'_>,
        shipped: bool,
        root: &dyn Fn() -> Table<'a>,
        tests: TestSource<'a>,
    ) -> Option<Self> {
        let base = root();
        read_header(&base)?;
        let rank = TypeSections::rank(&base).and_then(|item| match item.as_str() {
            Some(name) => {
                let rank = context.ranks.get(name).copied();
                if rank.is_none() {
                    let known: Vec<&str> = context.ranks.keys().map(String::as_str).collect();
                    base.findings.error_with_help(
                        "unknown-rank",
                        item.span.clone(),
                        format!("the platform has no rank `{name}`"),
                        format!("ranks of the platform: {}", known.join(", ")),
                    );
                }
                rank
            }
            None => item.integer(),
        });
        let variants = TypeSections::variant(&base).and_then(|item| item.list());
        let tests = tests.load(&base, TypeSections::test, SelfTest::load);
        let implementation = implementation(context, &base);
        base.finish();

        let mut loaded = Vec::new();
        for item in variants.iter().flatten() {
            let table = item.table()?;
            let when = VariantSections::when(&table).and_then(|item| When::load(&item));
            let excluded: Option<String> = read_value(VariantSections::excluded(&table));
            let is_complete = read_value(VariantSections::complete(&table)).unwrap_or(false);
            let implementation = match excluded {
                Some(reason) => {
                    table.finish();
                    let name = context.model.name.clone();
                    Some(Err(UnsupportedType::OnDevice { name, reason }))
                }
                None => {
                    // Another form of the type has none of the sections of the base.
                    let table = if is_complete {
                        table
                    } else {
                        table.over(root())
                    };
                    let implementation = self::implementation(context, &table);
                    table.finish();
                    implementation.map(Ok)
                }
            };
            if let (Some(when), Some(implementation)) = (when, implementation) {
                loaded.push(Variant {
                    when,
                    implementation,
                });
            }
        }
        Some(Self {
            model: Arc::clone(context.model),
            rank: rank.unwrap_or(50),
            source: Arc::clone(context.source),
            shipped,
            base: implementation?,
            variants: loaded,
            tests,
            added: Vec::new(),
        })
    }

    /// The implementation for a device.
    ///
    /// # Errors
    /// The type is not supported on the device.
    pub fn choose(&self, facts: &Facts) -> Result<&Arc<dyn Implementation>, &UnsupportedType> {
        self.implementation(self.matching_variant(facts))
    }

    /// The index of the variant for a device; `None`: there is none, the base applies.
    pub(super) fn matching_variant(&self, facts: &Facts) -> Option<usize> {
        let mut variants = self.variants.iter();
        variants.position(|variant| variant.when.matches(facts))
    }

    /// The implementation of the variant with this index, or of the base.
    ///
    /// # Errors
    /// The variant excludes the type.
    pub(super) fn implementation(
        &self,
        variant: Option<usize>,
    ) -> Result<&Arc<dyn Implementation>, &UnsupportedType> {
        match variant {
            Some(index) => self.variants[index].implementation.as_ref(),
            None => Ok(&self.base),
        }
    }

    /// Resources that self-tests apply, as examples for users. Tests for some devices only are left out.
    pub fn applied_resources(&self) -> impl Iterator<Item = &Attributes> {
        self.tests.iter().filter_map(SelfTest::applied_resource)
    }

    /// All implementations: the base and the variants.
    pub(crate) fn implementations(&self) -> impl Iterator<Item = &Arc<dyn Implementation>> {
        let variants = self.variants.iter();
        [&self.base]
            .into_iter()
            .chain(variants.filter_map(|variant| variant.implementation.as_ref().ok()))
    }
}

fn read_header(root: &Table<'_>) -> Option<()> {
    check_schema(TypeSections::schema(root))?;
    read_value::<String>(TypeSections::platform(root));
    read_value::<String>(TypeSections::r#type(root));
    TypeSections::extends(root);
    TypeSections::doc(root);
    Some(())
}

fn implementation(context: &Context<'_>, root: &Table<'_>) -> Option<Arc<dyn Implementation>> {
    if let Some(refresh) = root.get("refresh")
        && context.model.refresh == Refresh::No
    {
        root.findings.error_with_help(
            "refresh",
            refresh.span.clone(),
            format!("the model of {} has no refresh", context.model.name),
            "write `refresh = \"yes\"` in the model",
        );
    }
    if root.get("command").is_some() {
        return command::load(context, root);
    }
    match context.transport {
        Transport::SshCli => cli::load(context, root),
        Transport::Rest | Transport::Netconf => rest::load(context, root),
    }
}
