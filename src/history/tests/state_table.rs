//! The state of devices in a store: what one host has written, another one reads with the same key.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::format_version::FormatVersion;
use switchtender_devices::names::DeviceName;

use super::*;
use crate::error_chain::chain;
use crate::store::file::state_version;
use crate::store::state_key::{StateKey, StateKeyError};
use crate::store::state_table::{StateChange, StateTable, StateTableError};
use crate::store::{DeviceStore, SharedState, Store, StoreError};

const VERSION: FormatVersion = state_version(1);
const KEY: &str = "state.key";

/// A host with its state directory.
struct Host {
    root: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { root }
    }

    fn with_key_of(other: &Self) -> Self {
        let host = Self::new();
        fs::copy(other.path(KEY), host.path(KEY)).unwrap();
        host
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    fn shared(&self, table: &HistoryStore) -> Result<SharedState, StateKeyError> {
        SharedState::open(self.root.path(), Arc::new(table.clone()))
    }

    fn store(&self, table: &HistoryStore) -> Store {
        Store::at(self.root.path()).shared(Some(self.shared(table).unwrap()))
    }

    fn device(&self, table: &HistoryStore) -> DeviceStore {
        self.store(table).device(&sw1())
    }

    /// A table of a server that has gone.
    fn device_without_table(&self) -> DeviceStore {
        let shared = SharedState::open(self.root.path(), Arc::new(Gone)).unwrap();
        Store::at(self.root.path())
            .shared(Some(shared))
            .device(&sw1())
    }
}

/// A table that answers once: which key it has.
#[derive(Debug)]
struct Gone;

impl Gone {
    fn unreachable<T>() -> Result<T, StateTableError> {
        Err(StateTableError::Unreachable {
            reason: "gone".to_owned(),
        })
    }
}

impl StateTable for Gone {
    fn get(
        &self,
        _: &str,
        _: &str,
    ) -> Result<Option<crate::store::state_table::StateRow>, StateTableError> {
        Self::unreachable()
    }

    fn change(&self, _: &crate::store::state_table::StateChange) -> Result<(), StateTableError> {
        Self::unreachable()
    }

    fn files(&self, _: &str) -> Result<Vec<String>, StateTableError> {
        Self::unreachable()
    }

    fn devices(&self) -> Result<Vec<String>, StateTableError> {
        Self::unreachable()
    }

    fn key(&self) -> Result<Option<String>, StateTableError> {
        Ok(None)
    }

    fn use_key(&self, fingerprint: &str) -> Result<String, StateTableError> {
        Ok(fingerprint.to_owned())
    }
}

fn sw1() -> DeviceName {
    DeviceName::parse("sw1").unwrap()
}

fn load(store: &DeviceStore, name: &str) -> Option<String> {
    store.load(name, VERSION).unwrap()
}

fn files(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

on_each_engine! {
    other_hosts_with_the_key_read_and_continue_the_state,
    hosts_without_the_key_are_refused,
    command_that_seals_nothing_creates_no_key,
    lost_key_loses_only_what_it_sealed,
    plain_body_of_a_sealed_structure_is_refused,
    writes_of_an_earlier_lease_are_refused,
    what_waits_for_the_store_is_delivered,
    state_of_files_moves_into_the_store_once,
}

fn command_that_seals_nothing_creates_no_key(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let host = Host::new();
    let shared = SharedState::of_command(host.root.path(), Arc::new(table.clone())).unwrap();
    let device = Store::at(host.root.path())
        .shared(Some(shared))
        .device(&sw1());
    assert_eq!(load(&device, "undo/1.json"), None);
    device
        .save("memory.json", VERSION, &"plain".to_owned())
        .unwrap();
    assert!(!host.path(KEY).exists());
    device
        .save("undo/1.json", VERSION, &"sealed".to_owned())
        .unwrap();
    assert_eq!(load(&device, "undo/1.json").as_deref(), Some("sealed"));
    assert!(host.path(KEY).exists());
    assert!(Host::new().shared(&table).is_err());
}

fn other_hosts_with_the_key_read_and_continue_the_state(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let one = Host::new();
    let first = one.device(&table);
    for name in ["memory.json", "undo/1.json", "undo/2.json", "unknown.json"] {
        first
            .save(name, VERSION, &format!("pl4nted in {name}"))
            .unwrap();
    }
    let two = Host::with_key_of(&one);
    let second = two.device(&table);
    assert_eq!(
        load(&second, "memory.json").unwrap(),
        "pl4nted in memory.json"
    );
    assert_eq!(
        load(&second, "undo/1.json").unwrap(),
        "pl4nted in undo/1.json"
    );
    assert_eq!(second.structures("undo").unwrap(), ["1", "2"]);
    assert_eq!(second.structures("").unwrap(), ["memory", "unknown"]);
    second.remove("undo/1.json").unwrap();
    second.save("memory.json", VERSION, &"newer").unwrap();
    assert_eq!(first.structures("undo").unwrap(), ["2"]);
    assert_eq!(load(&first, "memory.json").unwrap(), "newer");
    // Only what has no secrets by itself is readable.
    let readable = |file: &str| {
        let body = table.get("sw1", file).unwrap().unwrap().body;
        String::from_utf8_lossy(&body).contains("pl4nted")
    };
    assert!(!readable("undo/2.json"));
    assert!(!readable("unknown.json"));
    let later: FormatVersion = state_version(2);
    let error = second.save("undo/2.json", later, &"other").unwrap_err();
    assert!(
        chain(&error).contains("it has version 1"),
        "{}",
        chain(&error)
    );
    let names = two.store(&table).devices().unwrap();
    let names: Vec<&str> = names.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(names, ["sw1"]);
}

fn hosts_without_the_key_are_refused(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let (one, two) = (Host::new(), Host::new());
    let check = |host: &Host| StateKey::check(host.root.path(), &table);
    assert_eq!(check(&one).unwrap(), None);
    one.shared(&table).unwrap();
    assert_eq!(check(&one).unwrap(), table.key().unwrap());
    let refused = |host: &Host| {
        let error = host.shared(&table).unwrap_err();
        assert_eq!(check(host).unwrap_err().to_string(), error.to_string());
        format!("{error}: {}", error.hint().unwrap())
    };
    let missing = refused(&two);
    assert!(missing.contains("and this host has no "), "{missing}");
    assert!(
        missing.contains("copy state.key from another host"),
        "{missing}"
    );
    assert_eq!(files(two.root.path()), [""; 0], "nothing is created");
    fs::write(two.path(KEY), format!("{}\n", "ab".repeat(32))).unwrap();
    let readable = refused(&two);
    assert!(readable.contains("other users can read"), "{readable}");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(two.path(KEY), fs::Permissions::from_mode(0o600)).unwrap();
    let other = refused(&two);
    assert!(other.contains(" is the key "), "{other}");
    fs::copy(one.path(KEY), two.path(KEY)).unwrap();
    two.shared(&table).unwrap();
}

fn lost_key_loses_only_what_it_sealed(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let (one, two) = (Host::new(), Host::new());
    let first = one.device(&table);
    for name in [
        "memory.json",
        "facts.json",
        "protected-run.json",
        "undo/1.json",
    ] {
        first.save(name, VERSION, &name).unwrap();
    }
    assert!(two.shared(&table).is_err());
    let new = StateKey::read_or_create(two.root.path())
        .unwrap()
        .fingerprint();
    table
        .write_and_wait(move |writer| writer.replace_state_key(&new))
        .unwrap();
    let second = two.device(&table);
    for name in ["memory.json", "facts.json", "protected-run.json"] {
        assert_eq!(load(&second, name).as_deref(), Some(name));
    }
    let error = second.load::<String>("undo/1.json", VERSION).unwrap_err();
    assert!(matches!(error, StoreError::Sealed(_)), "{error}");
    assert!(chain(&error).contains("which is lost"), "{}", chain(&error));
    // It is replaced.
    second.save("undo/1.json", VERSION, &"new").unwrap();
    assert_eq!(load(&second, "undo/1.json").unwrap(), "new");
    assert!(one.shared(&table).is_err(), "the old key is refused");
}

/// Who can write to the store cannot choose what an undo sends.
fn plain_body_of_a_sealed_structure_is_refused(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let host = Host::new();
    let device = host.device(&table);
    device.save("undo/1.json", VERSION, &"sealed").unwrap();
    device.save("facts.json", VERSION, &"plain").unwrap();
    let plain = table.get("sw1", "facts.json").unwrap().unwrap();
    for file in ["undo/1.json", "others/B/undo/1.json"] {
        let change = StateChange {
            device: "sw1".to_owned(),
            file: file.to_owned(),
            body: Some(plain.body.clone()),
            epoch: None,
        };
        table.change(&change).unwrap();
    }
    let error = device.load::<String>("undo/1.json", VERSION).unwrap_err();
    let text = chain(&error);
    assert!(text.contains("was changed by somebody else"), "{text}");
    assert_eq!(load(&device, "facts.json").unwrap(), "plain");
}

fn writes_of_an_earlier_lease_are_refused(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let one = Host::new();
    let under = |epoch| one.device(&table).with_epoch(epoch);
    under(Some(7))
        .save("memory.json", VERSION, &"of 7")
        .unwrap();
    under(Some(8)).save("facts.json", VERSION, &"of 8").unwrap();
    let refused = |result: Result<(), StoreError>| {
        let text = chain(&result.unwrap_err());
        assert!(
            text.contains("its state has the epoch 8, and this run has 7"),
            "{text}"
        );
    };
    refused(under(Some(7)).save("memory.json", VERSION, &"late"));
    refused(under(Some(7)).save("new.json", VERSION, &"late"));
    refused(under(Some(7)).remove("facts.json"));
    assert_eq!(load(&under(None), "memory.json").unwrap(), "of 7");
    assert_eq!(load(&under(None), "facts.json").unwrap(), "of 8");
    // The same value under a new lease fences the old one, too.
    under(Some(9)).save("facts.json", VERSION, &"of 8").unwrap();
    assert_eq!(table.get("sw1", "facts.json").unwrap().unwrap().epoch, 9);
    // A command without a lease changes no epoch.
    under(None).save("undo/1.json", VERSION, &"record").unwrap();
    assert_eq!(table.get("sw1", "undo/1.json").unwrap().unwrap().epoch, 9);
}

fn what_waits_for_the_store_is_delivered(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let one = Host::new();
    let here = one.device(&table).with_epoch(Some(3));
    here.save("memory.json", VERSION, &"before").unwrap();
    here.save("protected-run.json", VERSION, &"open").unwrap();
    let offline = one.device_without_table().with_epoch(Some(3));
    assert!(
        offline.load::<String>("memory.json", VERSION).is_err(),
        "an apply"
    );
    let plan = offline.clone().read_copies(true);
    assert_eq!(load(&plan, "memory.json").unwrap(), "before");
    assert!(
        offline
            .save_before_change("sessions.json", VERSION, &"x")
            .is_err()
    );
    offline.save("memory.json", VERSION, &"during").unwrap();
    offline.save("undo/1.json", VERSION, &"during").unwrap();
    offline.remove("protected-run.json").unwrap();
    // A plan beside it has no store in its settings.
    let beside = Store::at(one.root.path()).device(&sw1());
    beside.save("facts.json", VERSION, &"beside").unwrap();
    assert_eq!(load(&plan, "memory.json").unwrap(), "during");
    assert_eq!(plan.structures("undo").unwrap(), ["1"]);
    offline.synchronize().unwrap();

    let two = Host::with_key_of(&one);
    assert_eq!(load(&two.device(&table), "memory.json").unwrap(), "before");
    here.synchronize().unwrap();
    assert_eq!(load(&two.device(&table), "memory.json").unwrap(), "during");
    assert_eq!(load(&two.device(&table), "undo/1.json").unwrap(), "during");
    assert_eq!(load(&two.device(&table), "protected-run.json"), None);

    // Meanwhile another host has taken the device over: what is late is not written.
    offline.save("memory.json", VERSION, &"late").unwrap();
    let taken = two.device(&table).with_epoch(Some(4));
    taken
        .save("memory.json", VERSION, &"of the new owner")
        .unwrap();
    here.synchronize().unwrap();
    here.synchronize().unwrap();
    assert_eq!(load(&taken, "memory.json").unwrap(), "of the new owner");
}

fn state_of_files_moves_into_the_store_once(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let table = sandbox.history.clone();
    let (one, two) = (Host::new(), Host::new());
    for host in [&one, &two] {
        let files = Store::at(host.root.path()).device(&sw1());
        for name in ["memory.json", "undo/1.json", "others/B/memory.json"] {
            files
                .save(name, VERSION, &format!("{name} of files"))
                .unwrap();
        }
        files.write("state/last_run_report.json", "{}").unwrap();
    }
    one.store(&table).synchronize().unwrap();
    let first = one.device(&table);
    assert_eq!(first.structures("undo").unwrap(), ["1"]);
    assert_eq!(
        load(&first, "others/B/memory.json").unwrap(),
        "others/B/memory.json of files"
    );
    assert_eq!(
        table.files("sw1").unwrap(),
        ["memory.json", "others/B/memory.json", "undo/1.json"]
    );
    first.save("memory.json", VERSION, &"newer").unwrap();
    one.store(&table).synchronize().unwrap();
    assert_eq!(load(&first, "memory.json").unwrap(), "newer");

    // The store prevails over another host, whose files stay.
    fs::copy(one.path(KEY), two.path(KEY)).unwrap();
    two.store(&table).synchronize().unwrap();
    assert_eq!(load(&two.device(&table), "memory.json").unwrap(), "newer");
    let aside = two.path("devices/sw1/before-store");
    assert_eq!(files(&aside), ["memory.json", "others", "undo"]);

    // Back to files, and to the store again: nothing is lost without a word.
    let files_again = Store::at(one.root.path()).device(&sw1());
    assert_eq!(load(&files_again, "memory.json").unwrap(), "newer");
    files_again
        .save("memory.json", VERSION, &"without the store")
        .unwrap();
    one.store(&table).synchronize().unwrap();
    assert_eq!(load(&first, "memory.json").unwrap(), "newer");
    let aside = fs::read_to_string(one.path("devices/sw1/before-store/memory.json")).unwrap();
    assert!(aside.contains("without the store"), "{aside}");
}
