//! The code of a template with a check after each instruction that makes a value.
//!
//! The steps of minijinja count instructions. One instruction can double a value, so that sixty of them
//! fill any memory; and one that compares large values takes long.

use std::sync::Arc;

use minijinja::machinery::{Instruction, Instructions};
use minijinja::{Environment, Error, ErrorKind, Value, escape_formatter};

use super::budget::Budget;
use super::namespace::TemplateNamespace;

/// The check of a value. No template can name it.
const CHECK: &str = "=check";
/// The assignment to a namespace: value, namespace and name.
const ASSIGN: &str = "=assign";

/// The index of a filter that is looked up at each use.
const NOT_CACHED: u8 = !0;

/// Adds what guarded code uses to an environment.
pub(super) fn install(environment: &mut Environment<'static>, budget: &Arc<Budget>) {
    let own = Arc::clone(budget);
    environment.add_filter(CHECK, move |value: Value| {
        own.charge(&value)?;
        Ok::<_, Error>(value)
    });
    let own = Arc::clone(budget);
    environment.add_filter(ASSIGN, move |value: Value, target: Value, name: &str| {
        match target.downcast_object_ref::<TemplateNamespace>() {
            Some(namespace) => namespace.set(&own, name, value),
            None => {
                let text = format!("can only assign to namespaces, not {}", target.kind());
                Err(Error::new(ErrorKind::InvalidOperation, text))
            }
        }
    });
    let own = Arc::clone(budget);
    environment.add_function("namespace", move |defaults: Option<Value>| {
        TemplateNamespace::create(&own, defaults.as_ref())
    });
    let own = Arc::clone(budget);
    environment.set_formatter(move |output, state, value| {
        own.charge(value)?;
        escape_formatter(output, state, value)
    });
}

/// The code with checks.
pub(super) fn guarded<'s>(code: &Instructions<'s>) -> Instructions<'s> {
    let all = || (0..).map_while(|index| code.get(index));
    // Jumps go to positions, which the checks move.
    let mut positions = Vec::new();
    let mut position = 0;
    for instruction in all() {
        positions.push(position);
        position += replacement(instruction).len();
    }
    positions.push(position);
    let moved = |target: u32| {
        let target = positions[usize::try_from(target).expect("an index")];
        u32::try_from(target).expect("a template is shorter")
    };
    let mut guarded = Instructions::new(code.name(), code.source());
    for mut instruction in all().flat_map(replacement) {
        match &mut instruction {
            Instruction::Iterate(target)
            | Instruction::Jump(target)
            | Instruction::JumpIfFalse(target)
            | Instruction::JumpIfFalseOrPop(target)
            | Instruction::JumpIfTrueOrPop(target) => *target = moved(*target),
            _ => {}
        }
        guarded.add(instruction);
    }
    guarded
}

/// An instruction and its check.
fn replacement<'s>(instruction: &Instruction<'s>) -> Vec<Instruction<'s>> {
    let filter = |name, count| Instruction::ApplyFilter(name, Some(count), NOT_CACHED);
    match instruction {
        // The formatter counts what is printed.
        Instruction::EmitRaw(text) => vec![
            Instruction::LoadConst(Value::from(*text)),
            Instruction::Emit,
        ],
        Instruction::SetAttr(name) => vec![
            Instruction::LoadConst(Value::from(*name)),
            filter(ASSIGN, 3),
            Instruction::DiscardTop,
        ],
        Instruction::Add
        | Instruction::Mul
        | Instruction::Pow
        | Instruction::StringConcat
        | Instruction::Slice
        | Instruction::BuildList(_)
        | Instruction::BuildMap(_)
        | Instruction::ApplyFilter(..)
        | Instruction::PerformTest(..)
        | Instruction::CallFunction(..)
        | Instruction::CallMethod(..)
        | Instruction::CallObject(_)
        | Instruction::EndCapture
        | Instruction::Eq
        | Instruction::Ne
        | Instruction::Gt
        | Instruction::Gte
        | Instruction::Lt
        | Instruction::Lte
        | Instruction::In => vec![instruction.clone(), filter(CHECK, 1)],
        _ => vec![instruction.clone()],
    }
}
