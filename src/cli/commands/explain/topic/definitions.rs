//! Errors in models and drivers, as `driver validate` reports them. The codes of others are the keys that they are
//! about.

use super::Topic;

pub(super) const DEFINITIONS: &[Topic] = &[
    Topic {
        name: "ambiguous-prompt",
        summary: "two modes whose prompts can be equal",
        explanation: "Add `excludes` to one of them, or make its `prompt` more exact. A session would not know its mode.",
    },
    Topic {
        name: "attribute",
        summary: "a section for an attribute that cannot have one",
        explanation: "A namevar has its place in `[instance]`.",
    },
    Topic {
        name: "bad-number",
        summary: "a number outside of its range",
        explanation: "The message has the range.",
    },
    Topic {
        name: "default-word",
        summary: "a word for the default that no attribute has",
        explanation: "Remove `default_word`, or add the word to the `values` of an attribute.",
    },
    Topic {
        name: "doubled-negation",
        summary: "a line that removes a line that removes",
        explanation: "Write the line without the word for removal: it is put in front of the line that the device prints.",
    },
    Topic {
        name: "duplicate-value",
        summary: "two values of an attribute with one name",
        explanation: "Names of values select lines and fields, and must differ.",
    },
    Topic {
        name: "ensure-attribute",
        summary: "`ensure` as an attribute of a model",
        explanation: "Write `ensurable = true`.",
    },
    Topic {
        name: "incomplete",
        summary: "an attribute, value or place that the definition lacks or cannot have",
        explanation: "Each attribute of the model needs a section with its place, or `unsupported = \"reason\"`. Each value needs a line, a\nfield or a request.",
    },
    Topic {
        name: "json",
        summary: "a text that is not JSON",
        explanation: "Compare the quotation marks: in TOML a text in '…' has no escapes.",
    },
    Topic {
        name: "line-claimed-twice",
        summary: "a line that two attributes read",
        explanation: "The value would be that of both. Make one of the lines more exact.",
    },
    Topic {
        name: "line-of-two-values",
        summary: "a line that is written for two values",
        explanation: "Read back, it is only one of them. Write another line for one of the values.",
    },
    Topic {
        name: "location",
        summary: "a place of a value that the transport does not have",
        explanation: "With NETCONF a value is in a field, in fields by value, in a choice, or the position in a list.",
    },
    Topic {
        name: "misnamed-file",
        summary: "a file whose name is not that of its platform or type",
        explanation: "The path is PLATFORM/platform.toml, PLATFORM/TYPE.toml or models/TYPE.toml, with the names in the file.",
    },
    Topic {
        name: "misplaced-file",
        summary: "a file that is no definition by its path",
        explanation: "The path is PLATFORM/platform.toml, PLATFORM/TYPE.toml or models/TYPE.toml.",
    },
    Topic {
        name: "missing-expectation",
        summary: "a read that does not declare what a valid answer contains",
        explanation: "A refusal or an empty answer would mean that the device has no instances. Add `expect`, `last` or `answer`.",
    },
    Topic {
        name: "missing-mode",
        summary: "lines without a mode in which they are sent",
        explanation: "Add `mode`, or `block`.",
    },
    Topic {
        name: "missing-test",
        summary: "a shipped type without a test of reading, changing or removing",
        explanation: "Add a [[test]] that covers it.",
    },
    Topic {
        name: "no-effect",
        summary: "a key that has no effect beside the others",
        explanation: "`switchtender explain KEY` has its meaning, docs/reference/definition-keys.md the forms in which it has an effect.",
    },
    Topic {
        name: "no-form",
        summary: "a value that nothing removes",
        explanation: "Add a line with `no`, or a line for the value with `set`.",
    },
    Topic {
        name: "no-namevar",
        summary: "a model without a namevar",
        explanation: "Add `role = \"namevar\"` to the attribute with the name of the instance.",
    },
    Topic {
        name: "no-place",
        summary: "a block that has not all namevars",
        explanation: "A new instance needs one syntax of `block` with all of them.",
    },
    Topic {
        name: "parts",
        summary: "a part of a value where its line has none",
        explanation: "A part, `{attr.field}` or `{attr.0}`, needs a value with this part, in the line of its attribute.",
    },
    Topic {
        name: "reference",
        summary: "a reference of an attribute that names nothing",
        explanation: "A reference has at most one of `field`, `numbers` and `pattern`. A field is one of the values, and a pattern has a group.",
    },
    Topic {
        name: "relation",
        summary: "an automatic relation without the names of its resources",
        explanation: "`autorequire` has `names`; references are in `refers` of attributes. The others have `from` or `names`.",
    },
    Topic {
        name: "reserved-key",
        summary: "a name that files of desired state use for something else",
        explanation: "Use another name, such as one that begins with that of the platform.",
    },
    Topic {
        name: "round-trip",
        summary: "a value that is not read as it is written",
        explanation: "The definition would report a difference after each run. Correct the line or the field, or declare equal values with\n`alike` and words of the device with `map`.",
    },
    Topic {
        name: "source",
        summary: "a value with two places, or none",
        explanation: "A value is in a line, a cell, a field or another place: remove the other keys, or add one.",
    },
    Topic {
        name: "target",
        summary: "a path of a request that is none",
        explanation: "Write `collection`, `object` or a path that begins with `/`.",
    },
    Topic {
        name: "template",
        summary: "a line or path with a placeholder that is wrong",
        explanation: "A placeholder is the name of an attribute, in a path with `|percent`. The message has the names.",
    },
    Topic {
        name: "toml-syntax",
        summary: "a file that is not valid TOML",
        explanation: "The message has the place. Texts with `\\` are in '…'.",
    },
    Topic {
        name: "type-notation",
        summary: "a type of Puppet that is not understood",
        explanation: "Write `values` as a list.",
    },
    Topic {
        name: "unbound-name",
        summary: "a namevar that has no place in lines",
        explanation: "Add its placeholder to `block`, `prefix` or `line`.",
    },
    Topic {
        name: "unfilled",
        summary: "a placeholder that nothing fills",
        explanation: "The text would be sent as it is. Remove the braces, or use a placeholder of the key.",
    },
    Topic {
        name: "unknown-codec",
        summary: "a codec that the platform does not have",
        explanation: "Declare it as [codec.NAME] in platform.toml.",
    },
    Topic {
        name: "unknown-fact",
        summary: "a fact that the platform does not have",
        explanation: "Declare it as [fact.NAME] in platform.toml.",
    },
    Topic {
        name: "unknown-mode",
        summary: "a mode that the platform does not have",
        explanation: "Declare it as [mode.NAME] in platform.toml.",
    },
    Topic {
        name: "unknown-parameter",
        summary: "a parameter that the platform does not have",
        explanation: "Declare it as [parameter.NAME] in platform.toml.",
    },
    Topic {
        name: "unknown-rank",
        summary: "a rank that the platform does not have",
        explanation: "Declare it in [rank] of platform.toml, or write a number.",
    },
    Topic {
        name: "unknown-read",
        summary: "a read that the platform does not have",
        explanation: "Declare it as [read.NAME] in platform.toml.",
    },
    Topic {
        name: "unknown-value",
        summary: "the name of a value that the model does not have",
        explanation: "The message has the values of the model.",
    },
    Topic {
        name: "unknown-word",
        summary: "a word that the key does not have",
        explanation: "The message has the valid words.",
    },
    Topic {
        name: "unstated-reference",
        summary: "an attribute that may name objects, and does not say so",
        explanation: "Write `refers = [\"TYPE\"]`, or `refers = []` if it names nothing. Resources are then applied in the order of their references.",
    },
    Topic {
        name: "unusable-reference",
        summary: "a reference to a type that cannot be named so",
        explanation: "The type has several namevars, or is not in the definitions. Use the table form of `refers`.",
    },
    Topic {
        name: "value-without-command",
        summary: "a value that no line writes",
        explanation: "Add a line with `set`, or refuse the value with `unsupported`.",
    },
    Topic {
        name: "word-as-text",
        summary: "a word with a meaning that would be sent as text",
        explanation: "Write a line for it with `set`, declare it as `absent`, or as `default_word` of the model.",
    },
    Topic {
        name: "wrong-read",
        summary: "a read whose answer has another form",
        explanation: "Instances of a table need columns, rows or JSON, those of a configuration lines.",
    },
];
