//! The structure of a platform's NETCONF configuration, for a mock.

use serde_json::Value as Json;
use switchtender_outline::NetconfInterface;

use super::Platform;
use crate::dialogue::netconf::operation_name;
use crate::read::Reads;
use crate::read::xml::{self, Namespaces};

/// The read of a configuration, which the mock has.
const GET_CONFIG: &str = "get-config";
/// The value of facts.
const ANY: &str = "mock";

impl Platform {
    /// The structure of the configuration of a device with this host name. `saved` has answers by
    /// name of the read.
    pub(super) fn netconf_outline(
        &self,
        namespaces: &Namespaces,
        hostname: &str,
        saved: &Reads,
    ) -> NetconfInterface {
        let mut interface = NetconfInterface::default();
        let written = |content: &Json| {
            let text = xml::write(content, namespaces, &|_| false);
            text.map_or_else(|_| String::new(), |text| text.reveal())
        };
        for rule in self.reads.values() {
            let request = &rule.request;
            let operation = operation_name(&request.command);
            if operation.as_deref() == Some(GET_CONFIG) {
                continue;
            }
            let mut content = Json::Null;
            for fact in &self.facts {
                if let Some(path) = fact.path_in(&request.name) {
                    let text = if fact.name == "hostname" {
                        hostname
                    } else {
                        ANY
                    };
                    path.put(&mut content, text.into());
                }
            }
            let text = saved.get(&request.name);
            let saved = text.and_then(|text| xml::answer(text, namespaces).ok());
            let content = saved.unwrap_or(content);
            if content.is_null() {
                continue;
            }
            let reply = written(&content);
            let reply = if operation.as_deref() == Some("get") {
                format!("<data>{reply}</data>")
            } else {
                reply
            };
            interface.answers.push((request.command.clone(), reply));
        }
        let configurations = saved.iter().filter(|(name, _)| {
            let own = self.reads.get(*name);
            own.is_none_or(|rule| {
                let operation = operation_name(&rule.request.command);
                operation.as_deref() == Some(GET_CONFIG)
            })
        });
        let contents = configurations.filter_map(|(_, text)| xml::answer(text, namespaces).ok());
        interface.config = contents.map(|content| written(&content)).collect();
        for definition in self.type_drivers() {
            for implementation in definition.implementations() {
                implementation.add_elements(&mut interface);
            }
        }
        interface
    }
}
