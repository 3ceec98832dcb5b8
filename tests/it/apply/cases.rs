//! Runs in case files: devices, catalogs and commands, and beside them what the commands print and send.
//!
//! `UPDATE_DOCS=1 cargo test --test it apply::cases` records what is printed and sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use switchtender_mocks::SwitchOptions;
use test_support::lab::{Lab, parsed, switch_options};

use super::case_file::{self, resources};

const FOLDER: &str = "tests/it/apply/cases";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    switch: BTreeMap<String, Switch>,
    #[serde(default)]
    load_balancer: BTreeMap<String, LoadBalancer>,
    run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Switch {
    model: Option<String>,
    config: Option<String>,
    #[serde(default)]
    vlans: Vec<(u16, String)>,
    #[serde(default)]
    faults: Vec<String>,
    /// Lines of its table in the inventory.
    #[serde(default)]
    inventory: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadBalancer {
    #[serde(default)]
    faults: Vec<String>,
}

/// A command, and the catalogs that it and the next ones have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    command: String,
    #[serde(default)]
    catalog: BTreeMap<String, toml::Table>,
}

macro_rules! cases {
    ($($name:ident)*) => {
        const CASES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                compare(stringify!($name)).await;
            }
        )*
    };
}

cases! {
    a_list_is_complete_before_it_is_bound_and_stays_until_it_is_not
    a_list_that_could_not_be_unbound_is_not_removed
    a_plan_names_entries_that_are_missing_for_a_moment
    a_plan_warns_about_objects_that_nothing_has
    absent_resource_without_ensure_is_a_warning
    access_list_entries_exchange_their_numbers_in_one_run
    address_in_another_spelling_is_not_removed
    attribute_without_an_effect_is_reported_1
    attribute_without_an_effect_is_reported_2
    attribute_without_an_effect_is_reported_3
    attributes_that_a_switch_lacks_are_left_out_with_a_notice
    audit_of_all_properties_changes_nothing
    audit_of_one_property_keeps_the_default_of_ensure_1
    audit_of_one_property_keeps_the_default_of_ensure_2
    audit_of_one_property_leaves_the_others_managed
    block_with_a_line_not_understood_is_removed_only_on_request
    bundle_and_its_switchport_are_removed_in_one_run_1
    bundle_and_its_switchport_are_removed_in_one_run_2
    bundle_is_emptied_before_its_protocol_changes
    bundle_with_members_of_different_modes_gets_one_mode
    bundles_that_are_removed_shut_down_their_ports_with_a_warning
    conflicting_values_are_refused_by_apply
    declared_attribute_that_was_not_read_fails_its_resource_1
    declared_attribute_that_was_not_read_fails_its_resource_2
    default_mtu_of_ports_is_the_system_mtu
    empty_banners_and_surrounding_spaces_are_in_sync
    empty_list_equals_none
    entries_that_change_in_the_same_run_have_events_1
    entries_that_change_in_the_same_run_have_events_2
    entries_that_change_in_the_same_run_have_events_3
    entry_of_a_noop_resource_stays
    entry_that_is_not_declared_stays
    entry_that_the_catalog_keeps_stays
    ignore_schedules_applies_what_a_schedule_forbids
    interface_addresses_are_set_again_after_a_change_of_the_vrf
    interface_vrf_has_the_form_of_the_vrf
    line_with_further_words_is_changed_and_removed_with_them
    list_that_is_not_understood_is_removed_by_its_beginning
    listed_host_resources_equal_the_count_of_skipped_ones
    lists_of_vlans_converge_in_every_spelling
    missing_dependency_is_refused_in_puppets_words
    new_entries_come_before_removed_ones
    not_understood_lines_are_overwritten_only_on_request
    not_understood_lines_are_part_of_the_verbose_output
    notifications_of_a_kind_are_found_by_their_beginning_1
    notifications_of_a_kind_are_found_by_their_beginning_2
    notifications_of_a_kind_are_found_by_their_beginning_3
    plan_fails_a_resource_whose_line_lacks_a_word_as_apply_does
    plan_lists_ignored_attributes_in_verbose_output
    plan_shows_changes_of_lines_that_another_command_prints
    plan_shows_that_undo_restores_the_settings_of_other_types
    port_is_never_removed
    purge_keeps_a_block_with_a_line_not_understood
    purge_leaves_switchports_as_they_are_1
    purge_leaves_switchports_as_they_are_2
    purge_of_a_complete_type_is_permitted_by_name
    purge_spares_reserved_vlans_and_logs_them
    purge_that_fails_is_a_failed_resource_1
    purge_that_fails_is_a_failed_resource_2
    purge_that_fails_is_a_failed_resource_3
    raw_command_of_a_load_balancer_has_a_condition_and_fails_with_its_output
    raw_line_that_does_not_meet_its_condition_fails_the_verification
    raw_line_without_a_condition_is_sent_in_every_run_with_a_warning
    raw_lines_are_sent_under_their_condition
    references_yield_to_relations_of_the_catalog
    removal_of_an_interface_names_what_goes_with_it
    reserved_vlan_in_sync_is_in_sync_and_another_fails_alone
    snmp_user_keeps_its_access_list
    speeds_beyond_a_gigabit_are_sent_as_the_device_prints_them
    sub_interface_is_created_with_its_vlan
    switch_guards_addresses_of_its_ports
    tag_that_matches_nothing_is_a_warning_beside_one_that_matches
    tags_that_match_nothing_are_a_warning
    trunk_becomes_dynamic_in_one_run
    trunk_keeps_its_vlans_while_one_is_added_to_a_long_list_1
    trunk_keeps_its_vlans_while_one_is_added_to_a_long_list_2
    unknown_schedule_fails_its_resource_and_dependents
    unknown_type_fails_with_a_near_miss
    unsupported_type_fails_its_resource_and_dependents
    vrf_route_targets_of_ipv6_are_left_alone
}

#[test]
fn cases_are_those_of_the_files() {
    assert_eq!(case_file::names(FOLDER), CASES);
}

async fn compare(name: &str) {
    let text = fs::read_to_string(Path::new(FOLDER).join(format!("{name}.toml"))).unwrap();
    let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    let found = record(&case).await;
    let path = Path::new(FOLDER).join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        found,
        expected,
        "{}:\n{}",
        path.display(),
        similar::TextDiff::from_lines(&expected, &found).unified_diff()
    );
}

/// Runs the commands.
async fn record(case: &Case) -> String {
    let mut lab = Lab::new();
    for (name, switch) in &case.switch {
        let faults: Vec<&str> = switch.faults.iter().map(String::as_str).collect();
        lab.add_switch_with(SwitchOptions {
            model: switch.model.clone(),
            config: switch.config.clone(),
            vlans: switch.vlans.clone(),
            faults: parsed(&faults),
            ..switch_options(name)
        })
        .await;
        lab.configure(name, &switch.inventory);
    }
    for (name, balancer) in &case.load_balancer {
        let faults: Vec<&str> = balancer.faults.iter().map(String::as_str).collect();
        lab.add_load_balancer(name, &faults).await;
    }
    let mut recorded = String::new();
    for run in &case.run {
        for (device, table) in &run.catalog {
            lab.write_resources(device, &resources(table));
        }
        let arguments: Vec<&str> = run.command.split(' ').collect();
        let ran = lab.run(&arguments).await;
        let _ = writeln!(recorded, "$ switchtender {}", run.command);
        recorded.push_str(&without_varying(&lab, &ran.text()));
        let _ = writeln!(recorded, "exit code {}", ran.code.unwrap());
        for device in lab.devices.keys() {
            record_received(&lab, device, &mut recorded);
        }
        recorded.push('\n');
    }
    recorded
}

/// What a device has received of this run.
fn record_received(lab: &Lab, device: &str, recorded: &mut String) {
    let log = lab.log(device);
    let changes = if lab.switches.contains_key(device) {
        log.configuration_lines()
    } else {
        log.writes()
    };
    let _ = match (log.connections(), changes.as_slice()) {
        (0, _) => writeln!(recorded, "{device} was not contacted"),
        (_, []) => writeln!(recorded, "{device} received no change"),
        (_, lines) => writeln!(recorded, "{device} received:\n  {}", lines.join("\n  ")),
    };
    log.clear();
}

/// The output without ports, times, log lines and the folder of the laboratory.
fn without_varying(lab: &Lab, text: &str) -> String {
    static PORT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"127\.0\.0\.1:\d+").unwrap());
    // The last column of the summary, and its heading.
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m) +(?:Time|\d+\.\d+s)$").unwrap());
    static LOG: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^\d{4}-\d\d-\d\dT.*\n").unwrap());
    let text = text.replace(&lab.path("").display().to_string(), "LAB/");
    let without_ports = PORT.replace_all(&text, "127.0.0.1:PORT");
    let without_logs = LOG.replace_all(&without_ports, "");
    TIME.replace_all(&without_logs, " TIME").into_owned()
}
