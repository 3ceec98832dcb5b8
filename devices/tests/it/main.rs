//! Integration tests of the package, linked as one program.

mod cisco_ios_catalogs;
mod cisco_ios_output;
mod cli_session;
mod definition_files;
mod f5_bigip;
mod frr_transcripts;
mod models;
mod mutations;
mod rest_session;
mod support;
