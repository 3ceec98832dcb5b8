//! Words of the output that are no rules: statuses, exit codes, results of changes, and errors of files.

mod definitions;

use definitions::DEFINITIONS;

/// A word of the output with its explanation.
pub(super) struct Topic {
    /// The word, or the code in the brackets of an error.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) explanation: &'static str,
}

/// The groups of topics with their headings.
pub(super) const GROUPS: [(&str, &[Topic]); 8] = [
    ("Statuses of devices", STATUSES),
    ("Columns of tables", COLUMNS),
    ("Classes of lines", CLASSES),
    ("Words", WORDS),
    ("Exit codes", EXIT_CODES),
    ("Messages about changes", CHANGES),
    ("Errors in files", FILES),
    ("Errors in definitions", DEFINITIONS),
];

const STATUSES: &[Topic] = &[
    Topic {
        name: "unchanged",
        summary: "the device has all desired values",
        explanation: "All resources were compared, and nothing was sent. Attributes that are not declared are not compared.",
    },
    Topic {
        name: "pending",
        summary: "a run would change the device",
        explanation: "In a plan and with --noop. Without --noop, a run that succeeds is `changed`.",
    },
    Topic {
        name: "changed",
        summary: "the run changed the device; as a column, the number of its changed resources",
        explanation: "The device accepted all changes, and a read after them has the new values. The configuration is saved only if\n`save_config` of the inventory requires it. The column counts each resource with an accepted change. It includes\nresources with a failed verification, and those that the device reverted or the run undid: their device is `failed`.",
    },
    Topic {
        name: "failed",
        summary: "a resource failed, or the run ended early",
        explanation: "Other resources may be changed. A resource with a failed verification counts as changed and as failed. The first error\nis at the end of the summary, `switchtender report DEVICE` has all of them with the commands and the answers of the\ndevice. Exit code 1. With --detailed-exitcodes: 6 if the device has changes of the run, otherwise 4.",
    },
    Topic {
        name: "unreachable",
        summary: "the device, or its jump host, could not be connected",
        explanation: "Nothing was changed. It is a kind of `not run`: JSON output has the status `not run`, and `--only failed` selects both.\nCheck address, port and the route to the device with `switchtender doctor --connect`. Exit code 1.",
    },
    Topic {
        name: "not-run",
        summary: "the device was not changed, and no resource is the reason",
        explanation: "The catalog was refused, the login failed, another run has the lock, or a limit is\nexceeded: a plan then shows the changes, and a run makes none of them. The reason is at the end of the summary. Exit code 1.",
    },
];

const COLUMNS: &[Topic] = &[
    Topic {
        name: "device",
        summary: "the name of the device in the inventory",
        explanation: "The name of its catalog, `certname`, may be another one. `switchtender inventory show DEVICE` has both.",
    },
    Topic {
        name: "status",
        summary: "the result of a device's run",
        explanation: "One of unchanged, changed, pending, failed, unreachable and not run. `switchtender explain STATUS` explains it.",
    },
    Topic {
        name: "resources",
        summary: "the resources of the device's catalog",
        explanation: "Without containers, and without the schedules and the file bucket that Puppet adds.",
    },
    Topic {
        name: "to-change",
        summary: "resources that a run would change",
        explanation: "In a plan and with --noop. A resource counts once, whatever the number of its attributes.",
    },
    Topic {
        name: "commands",
        summary: "commands or requests that the run sent to change the device, or that a run would send",
        explanation: "A line that only enters a mode, such as `interface Gi1/0/1` before `description x`, belongs to the command in it.\nReads do not count. A refused command counts, too.",
    },
    Topic {
        name: "covered",
        summary: "the share of the lines of a configuration that a type reads",
        explanation: "Of the lines that a person wrote: all but those that the device generates. Lines that are not understood do not count as\ncovered. `switchtender coverage` lists all lines.",
    },
    Topic {
        name: "time",
        summary: "the duration of the device's run, or when it ended",
        explanation: "In the table of a run: seconds from the lock to the report, without the wait for a free place. In `switchtender report`:\nthe start of the last run.",
    },
];

const CLASSES: &[Topic] = &[
    Topic {
        name: "managed",
        summary: "a declared resource has the line; as a column, the share of such lines",
        explanation: "The header of a block is managed if anything in the block is. Without --state and --catalog, `switchtender coverage` knows no\nmanaged line. The column counts only lines that a person wrote.",
    },
    Topic {
        name: "available",
        summary: "a type reads the line, and no file declares it",
        explanation: "`switchtender resource` prints the resource. Declare it, or leave it: a run never changes the line.",
    },
    Topic {
        name: "default",
        summary: "the line says that a setting is at its default, such as `no ip address`",
        explanation: "A type reads the line that it removes. If a file declares the attribute, the line is managed.",
    },
    Topic {
        name: "generated",
        summary: "the device makes the line by itself",
        explanation: "Versions, certificates and separators. `[coverage]` of the platform lists them. They do not count as lines that a person wrote.",
    },
    Topic {
        name: "excluded",
        summary: "the files say with `unmanaged` that the line is not managed",
        explanation: "Strict runs never refuse it.",
    },
    Topic {
        name: "not-covered",
        summary: "no type reads the line",
        explanation: "A run never changes it, except with the removal of the block around it. `docs/definitions.md` says how to add a type.",
    },
];

const EXIT_CODES: &[Topic] = &[
    Topic {
        name: "0",
        summary: "success",
        explanation: "Without --detailed-exitcodes: all devices match their desired state, or, in a plan, would match it. With it: no changes.",
    },
    Topic {
        name: "1",
        summary: "a failure, or a device that could not run",
        explanation: "With --detailed-exitcodes: a device could not run, or the run was interrupted. `validate`: errors, or warnings with\n--deny warnings.",
    },
    Topic {
        name: "2",
        summary: "changes (--detailed-exitcodes)",
        explanation: "Changes and no failures; in a plan, pending changes. `validate` exits with 2 if it could not run.",
    },
    Topic {
        name: "4",
        summary: "failures (--detailed-exitcodes)",
        explanation: "Failures and no changes.",
    },
    Topic {
        name: "6",
        summary: "changes and failures (--detailed-exitcodes)",
        explanation: "The sum of 2 and 4. A resource with a failed verification is a change and a failure. The changes of a device do not\ncount if it has reverted them, or if the run has undone all of them.",
    },
    Topic {
        name: "130",
        summary: "the run was ended by a third Ctrl-C",
        explanation: "Nothing waited for the devices. Run `plan` to see what they have.",
    },
];

const WORDS: &[Topic] = &[
    Topic {
        name: "catalog",
        summary: "the list of all resources of one device",
        explanation: "Puppet compiles it from manifests. From the YAML files of --state, the program makes it itself.",
    },
    Topic {
        name: "certname",
        summary: "the name of a device in its catalog and for a Puppet Server",
        explanation: "Without `certname` in the inventory it is the name of the device.",
    },
    Topic {
        name: "guarantee",
        summary: "what becomes of a late write of a process that no longer may change a device",
        explanation: "`locked`: the device refuses it, because it locks its configuration or checks the version that a \
                      write names. `session`: none follows the first write of the new process, which ends the earlier \
                      sessions first. `timing`: time limits prevent it, unless a jump host delivers it later. \
                      `inventory show` prints the guarantee of a device, and `explain PLATFORM` that of a platform.",
    },
    Topic {
        name: "refresh",
        summary: "an action of a resource after another one has changed",
        explanation: "`notify` and `subscribe` request it. Few types have one: most resources do nothing.",
    },
    Topic {
        name: "namevar",
        summary: "the attribute that is the name of an instance, such as the number of a VLAN",
        explanation: "If no value is set, the title is the name. Instances of some types have several, such as a list and a number.",
    },
    Topic {
        name: "canon",
        summary: "how a definition brings spellings of one value to one form",
        explanation: "With `canon = [\"mac-dots\"]`, `00:11:22:33:44:55` equals `0011.2233.4455`, and nothing is changed.",
    },
    Topic {
        name: "structural-mock",
        summary: "a mock device that is made from the definition of its platform",
        explanation: "It has modes, prompts and lines of the definition only. A success on it proves nothing about a real device.",
    },
    Topic {
        name: "run",
        summary: "what was done on one device, or, by its name, what one command did on all of its devices",
        explanation: "The store gives each run of a device a number, such as 4711. One `apply` has a name, such as 20261123T223551.123Z.\n`report`, `undo` and `history` accept both.",
    },
];

const CHANGES: &[Topic] = &[
    Topic {
        name: "drift",
        summary: "a resource that differs from its desired state, from stored runs",
        explanation: "`switchtender drift` lists what a device has and what it should have. *Changed* names what changed since the last run\nthat set the values: the device, by hand or by another program, or the desired state, which waits for a run. Plans of\nan undo, and previews with another desired state than the one that the device is managed with, are no drift. It ends\nwhen a run corrects it, when the device has the values again, or when the resource is removed from the catalog.",
    },
    Topic {
        name: "incomplete-undo",
        summary: "an undo that would not give back the configuration from before its run",
        explanation: "It would leave a difference, such as a secret, which is not stored, or remove lines that the run did not add. It is\nrefused before anything is sent, with exit code 1. `undo --last --allow incomplete-undo` undoes the rest.",
    },
    Topic {
        name: "corrective",
        summary: "the value differs from the one of the last run",
        explanation: "Somebody or something else changed the device since the last run of switchtender, which had set this value.",
    },
    Topic {
        name: "noop",
        summary: "a change that was not made",
        explanation: "The run, or the resource with `noop: true`, reports changes without making them.",
    },
    Topic {
        name: "refused",
        summary: "the device did not accept a command",
        explanation: "The message of the device follows. The attribute has its old value, and resources that depend on it are skipped.",
    },
    Topic {
        name: "unknown",
        summary: "it is not known whether the device applied a command",
        explanation: "The connection ended or the device did not answer, and a second read did not show the result. Check the device, or\nrun again: the next run compares first. In a protected run, neither the new configuration nor the one before was seen.",
    },
    Topic {
        name: "applied",
        summary: "the changes of a protected run are on the device",
        explanation: "A second login has confirmed them. The field `protection` of the report and of the JSON output has the word.",
    },
    Topic {
        name: "reverted",
        summary: "the device has the configuration from before a protected run",
        explanation: "The changes were not confirmed, because a resource failed, the run was stopped or a second login failed. The device\nreverted them, and a read after that found the configuration from before. Exit code 1, or 4 with --detailed-exitcodes.",
    },
    Topic {
        name: "plan-incomplete",
        summary: "resources that failed or were skipped can have more changes",
        explanation: "The messages before the plan have the reasons. A stored plan leaves such a device out.",
    },
    Topic {
        name: "not-restored",
        summary: "what an undo does not restore, with the reason",
        explanation: "Old secrets are not stored, and a device does not show every value. `plan` lists it in advance, under\n`cannot be undone`.",
    },
    Topic {
        name: "undo",
        summary: "restores what a device had before a run",
        explanation: "`switchtender undo` lists the runs, `undo --last` undoes the newest, and `plan --show-undo` shows the commands in advance.\nA resource that changed since the run is left as it is.",
    },
    Topic {
        name: "difference",
        summary: "the lines that a run would change in the configuration",
        explanation: "`+` is added, `-` is removed, other lines are around them. The program computes it with its definitions; after an apply\nit comes from two reads of the device. The report has it, too.",
    },
    Topic {
        name: "configuration-difference",
        summary: "the lines that a run would change in the configuration",
        explanation: "`+` is added, `-` is removed, other lines are around them. The program computes it with its definitions; after an apply\nit comes from two reads of the device. The report has it, too.",
    },
    Topic {
        name: "no-difference-shown",
        summary: "changes of a type that the configuration difference does not have",
        explanation: "The effect of raw commands cannot be predicted, or the configuration was not read because the device refused to print it\nor the saved answers lack it. The commands above the difference are complete.",
    },
    Topic {
        name: "cannot-be-undone",
        summary: "changes of a plan that `undo` does not restore",
        explanation: "Old secrets, raw commands, attributes that the device does not show, and lines of removed blocks that no attribute\nexpresses. `plan --show-undo` shows the commands of the undo.",
    },
    Topic {
        name: "skipped",
        summary: "a resource that was not compared, or their number",
        explanation: "A resource that it depends on failed, or tags, schedules or the connection exclude it. The report has the reason.",
    },
    Topic {
        name: "verification-failed",
        summary: "the device accepted a command and has another value",
        explanation: "After the last change, one read compares all values that were set. The device may normalize or ignore the value.",
    },
    Topic {
        name: "not-saved",
        summary: "a restart of the device undoes the change",
        explanation: "`save_config = \"never\"` is the default of platforms that do not show their saved configuration. Set \"on_change\" in the\ninventory, or save on the device. With it, nothing is saved if the device had unsaved changes of somebody else before\nthe run, or after a broken connection, because the change may be the cause.",
    },
    Topic {
        name: "not-understood",
        summary: "text of the device that a type recognizes and cannot express",
        explanation: "A change that would rewrite it is refused, and so is a resource that declares what it hides, unless --overwrite-unknown\nis set. The line of an instance can be removed. -v lists the text.",
    },
];

const FILES: &[Topic] = &[
    Topic {
        name: "plan-changed",
        summary: "a run would not do what the stored plan says",
        explanation: "The device, its catalog, the definitions or the state directory differ from those of `plan --save`. Nothing was sent.\nCompare the difference, and make a new plan.",
    },
    Topic {
        name: "unknown-key",
        summary: "a key that the file does not have",
        explanation: "`docs/reference/inventory.md` and `docs/definitions.md` list the keys; `switchtender schema` has them for editors.",
    },
    Topic {
        name: "missing-key",
        summary: "a required key without a value",
        explanation: "In an inventory, a device has each setting from the first of these tables that has it: [device.NAME], its groups,\n[platform.NAME], [defaults].",
    },
    Topic {
        name: "missing-group",
        summary: "a pattern without a group that its key needs",
        explanation: "`sessions.row` finds the sessions of a device by the groups `id`, `user` and `own`: write `(?<id>…)`.",
    },
    Topic {
        name: "secret-file",
        summary: "a secret, or a file with one, in a directory that is published",
        explanation: "A release is stored in the database, so it has no secret. Write a reference, such as { env = \"NAME\" },\nand keep files with secrets outside the directory, on each node.",
    },
    Topic {
        name: "wrong-kind",
        summary: "a value of another kind, such as a text for a number",
        explanation: "In TOML, texts have quotation marks, numbers and `true` have none. Durations are texts: \"20s\".",
    },
    Topic {
        name: "misplaced-key",
        summary: "a key in a table that cannot have it",
        explanation: "The key is a setting of one device only, or of all devices only.",
    },
    Topic {
        name: "readable-secret",
        summary: "a secret in clear text in a file that others can read",
        explanation: "Use { env = \"…\" }, { file = \"…\" } or { command = […] } in its place, or permit only the owner to read the file.",
    },
    Topic {
        name: "literal-secret",
        summary: "a secret in clear text",
        explanation: "Use { env = \"…\" }, { file = \"…\" } or { command = […] } in its place.",
    },
    Topic {
        name: "secret",
        summary: "a secret that its source does not have",
        explanation: "The variable is not set, the file cannot be read, or the command fails. Secrets are read when a session opens.",
    },
    Topic {
        name: "unknown-target",
        summary: "a name or pattern that matches no device of the inventory",
        explanation: "`switchtender inventory show` lists the devices. Put patterns in quotation marks, or the shell expands them.",
    },
    Topic {
        name: "unknown-label",
        summary: "a label that no device has",
        explanation: "Labels are in `labels` of a device, a group, a platform or the defaults.",
    },
    Topic {
        name: "unknown-platform",
        summary: "a platform without a definition",
        explanation: "`switchtender type` lists platforms with their types. --definitions DIR adds platforms of your own.",
    },
    Topic {
        name: "range",
        summary: "an invalid range of names or addresses",
        explanation: "A name has one range: \"sw[001-300]\". Its address has as many numbers, \"192.0.2.[1-300]\", or {name}.",
    },
    Topic {
        name: "group-conflict",
        summary: "two groups of a device set different values",
        explanation: "Set the value in [device.NAME], or take the device out of one group.",
    },
    Topic {
        name: "source-command",
        summary: "the command or the service of [source] failed",
        explanation: "A command must print devices as TOML or JSON, or Ansible's JSON, and exit with 0. Run it in the directory of the inventory.\nA service needs its URL, a token that may read devices, and filters that it knows.",
    },
    Topic {
        name: "source-device",
        summary: "a device of [source] with a value that cannot be used",
        explanation: "A variable of Ansible is a template or encrypted, or a service has two devices with one name. The other devices run.",
    },
    Topic {
        name: "source-left-out",
        summary: "devices of [source] whose names cannot be names here",
        explanation: "Names have letters, digits, `.`, `_`, `-` and `:`. Rename the devices there, or exclude them with `filter`.",
    },
    Topic {
        name: "several-sources",
        summary: "a [source] with more than one source",
        explanation: "[source] has `command`, [source.netbox] or [source.nautobot]. A command can print the devices of all of them.",
    },
    Topic {
        name: "no-credentials",
        summary: "a device without password, key, token and agent",
        explanation: "Set `password`, `private_key` or `agent = true`, or use --ask-password.",
    },
    Topic {
        name: "state-syntax",
        summary: "a file of --state that is not valid YAML",
        explanation: "Indent with blanks, and put texts with `: `, `#`, `{{` or a leading `*` in quotation marks.",
    },
    Topic {
        name: "state-form",
        summary: "a file of --state with another structure",
        explanation: "The structure is TYPE: {TITLE: {ATTRIBUTE: VALUE}}. Views such as `interface`, and the keys `profiles`, `complete`, `unmanaged`,\n`strict`, `purge` and `vars` stand beside the types.",
    },
    Topic {
        name: "state-value",
        summary: "a template or secret of --state without a value",
        explanation: "Templates know `device`, `labels`, `facts`, `vars`, `title` and `n`; each name needs a value.",
    },
    Topic {
        name: "state-conflict",
        summary: "two places set an attribute to different values",
        explanation: "Two label files: set it in device/NAME.yaml, or order the labels with `label_order` at the top of the inventory. Two\nranges, or a type and a view, of one file: set it once, or at the title without a range.",
    },
    Topic {
        name: "state-facts",
        summary: "a template needs facts, and none are known",
        explanation: "`apply` and `plan` read them. `validate` and `graph` have those of the last apply, or --facts FILE.",
    },
    Topic {
        name: "no-state",
        summary: "a device of the inventory that no file of --state applies to",
        explanation: "`validate` warns, because an inventory may have devices that others manage. It is an error if it is so for all\ndevices. `plan` and `apply` leave out such a device, unless --target names it.",
    },
    Topic {
        name: "unused-state-file",
        summary: "a file of --state that applies to no device",
        explanation: "The name of the device, label or platform in its path is misspelled, or the inventory lacks it.",
    },
    Topic {
        name: "unused-removal",
        summary: "a `~` of --state that removes nothing",
        explanation: "No earlier file of any device sets what it removes: the name is misspelled, or the line is not needed anymore.",
    },
    Topic {
        name: "state-range",
        summary: "a range of titles in --state that cannot be read, or is too long",
        explanation: "Write [1-24,30], from lower to higher numbers, for at most 100000 titles. A title with brackets has them twice: [[1-2]].",
    },
    Topic {
        name: "unknown-section",
        summary: "a name in a view of --state that the platform does not have",
        explanation: "A view has sections, and the attributes of its flat type. Attributes of a section stand below it.",
    },
    Topic {
        name: "unknown-profile",
        summary: "`use` names a profile that no file of the device declares",
        explanation: "Profiles stand under `profiles`, by type or view and name. Those of a view are not those of its types.",
    },
    Topic {
        name: "unused-profile",
        summary: "a profile of --state that no resource of any device uses",
        explanation: "Write `use: NAME` at a resource, or remove the profile.",
    },
    Topic {
        name: "unmanaged-value",
        summary: "a value of --state that `unmanaged` leaves to others",
        explanation: "It is not applied. Remove the value, or the item of `unmanaged`.",
    },
    Topic {
        name: "new-attributes",
        summary: "attributes that are newer than the version of `complete`",
        explanation: "Their defaults are not sent until you accept them: write the version that the message names.",
    },
];

/// The exit codes, as a text.
pub(super) fn exit_codes() -> String {
    let names: Vec<&str> = EXIT_CODES.iter().map(|topic| topic.name).collect();
    names.join(", ")
}

/// The topic that a text names, or with which a message begins. Statuses can be written with a blank.
pub(super) fn find(text: &str) -> Option<&'static Topic> {
    let name = text
        .trim()
        .trim_end_matches(':')
        .to_lowercase()
        .replace(' ', "-");
    let begins = |topic: &&Topic| {
        let rest = name.strip_prefix(topic.name);
        topic.name.contains('-') && rest.is_some_and(|rest| rest.starts_with(['-', ':']))
    };
    let exact = all().find(|topic| topic.name == name);
    exact.or_else(|| all().filter(begins).max_by_key(|topic| topic.name.len()))
}

pub(super) fn all() -> impl Iterator<Item = &'static Topic> {
    GROUPS.iter().flat_map(|(_, topics)| topics.iter())
}
