//! The main job as a user runs it: catalogs applied to a switch over SSH and a load balancer over
//! HTTPS, with real sockets, against mocks that are independent of the program. One file per promise.

mod audit;
mod blocked_output;
mod catalog_errors;
mod compat;
mod defaults;
mod displaced_entries;
mod empty_values;
mod exported;
mod faults;
mod host_and_device;
mod hostile_text;
mod interrupt;
mod ios_ports;
mod life_cycle;
mod limits;
mod mock;
mod not_understood;
mod plan;
mod purge;
mod raw_commands;
mod recorded;
mod resource;
mod rest_refresh;
mod rest_transaction;
mod saving;
mod secrets;
mod selection;
mod servers;
mod structural_mock;
mod switchports;
mod twice;
