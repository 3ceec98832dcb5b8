//! Requests about transactions and their queued commands.

use std::time::Instant;

use serde_json::{Value, json};

use super::Api;
use crate::load_balancer::edit;
use crate::load_balancer::message::ApiRequest;
use crate::load_balancer::refusal::Refusal;

impl Api {
    pub(super) fn transaction(
        &mut self,
        request: &ApiRequest,
        parts: &[&str],
        now: Instant,
    ) -> Result<Value, Refusal> {
        let links = self.links.clone();
        match (request.method.as_str(), parts) {
            ("POST", []) => Ok(self
                .transactions
                .open(self.transaction_timeout, &links, now)),
            ("GET", []) => {
                let items: Vec<Value> = self
                    .transactions
                    .numbers()
                    .into_iter()
                    .filter_map(|id| self.transactions.show(id, &links))
                    .collect();
                let mut list = json!({"kind": "tm:transactioncollectionstate", "selfLink": links.to("transaction")});
                if !items.is_empty() {
                    list["items"] = Value::Array(items);
                }
                Ok(list)
            }
            ("GET", [id]) => {
                let (id, _) = self.transactions.find(id, now)?;
                Ok(self.transactions.show(id, &links).unwrap_or_default())
            }
            ("DELETE", [id]) => {
                let (id, _) = self.transactions.find(id, now)?;
                self.transactions.close(id);
                Ok(Value::Null)
            }
            ("PATCH", [id]) => self.commit(id, &request.body, now),
            ("GET", [id, "commands"]) => {
                let (id, transaction) = self.transactions.find(id, now)?;
                let numbers: Vec<u64> = transaction.commands.keys().copied().collect();
                let items: Vec<Value> = numbers
                    .into_iter()
                    .filter_map(|number| transaction.show_command(id, number, &links))
                    .collect();
                let mut list = json!({"kind": "tm:transaction:commandscollectionstate"});
                if !items.is_empty() {
                    list["items"] = Value::Array(items);
                }
                Ok(list)
            }
            (method, [id, "commands", number]) => {
                let (id, transaction) = self.transactions.find(id, now)?;
                let missing =
                    || Refusal::without_code(404, format!("Command {number} does not exist."));
                let number: u64 = number.parse().map_err(|_| missing())?;
                let queued = transaction.commands.get_mut(&number).ok_or_else(missing)?;
                match method {
                    "PATCH" => {
                        queued.order = request
                            .body
                            .get("evalOrder")
                            .and_then(Value::as_u64)
                            .ok_or_else(|| Refusal::missing("evalOrder"))?;
                    }
                    "DELETE" => {
                        transaction.commands.remove(&number);
                        return Ok(Value::Null);
                    }
                    "GET" => {}
                    other => return Err(Refusal::method(other, &request.path)),
                }
                Ok(transaction
                    .show_command(id, number, &links)
                    .unwrap_or_default())
            }
            (method, _) => Err(Refusal::method(method, &request.path)),
        }
    }

    /// Executes the queued requests on a copy, which becomes effective if all of them succeed.
    fn commit(&mut self, id: &str, body: &Value, now: Instant) -> Result<Value, Refusal> {
        if body.get("state").and_then(Value::as_str) != Some("VALIDATING") {
            return Err(Refusal::invalid_value(
                "state",
                body.get("state").unwrap_or(&Value::Null),
            ));
        }
        let only_validate = body.get("validateOnly").and_then(Value::as_bool) == Some(true);
        let links = self.links.clone();
        let (number, transaction) = self.transactions.find(id, now)?;
        let requests = transaction.ordered();
        let mut tree = self.tree.clone();
        let result = requests
            .iter()
            .try_for_each(|request| {
                let parts: Vec<&str> = request
                    .path
                    .split('/')
                    .filter(|part| !part.is_empty())
                    .skip(2)
                    .collect();
                if ["sys/config", "util", "cm"]
                    .iter()
                    .any(|barred| parts.join("/").starts_with(barred))
                {
                    return Err(Refusal::configuration(
                        "This is not possible in a transaction.",
                    ));
                }
                self.write(&mut tree, request, &parts).map(drop)
            })
            .and_then(|()| edit::check(&tree, None));
        let (_, transaction) = self.transactions.find(id, now)?;
        match result {
            Ok(()) if only_validate => {}
            Ok(()) => {
                transaction.finish(None);
                self.tree = tree;
            }
            Err(refusal) => {
                transaction.finish(Some(&refusal.message));
                let mut answer =
                    Refusal::without_code(400, format!("transaction failed:{}", refusal.message));
                answer.status = 400;
                return Err(answer);
            }
        }
        let mut rendered = self.transactions.show(number, &links).unwrap_or_default();
        rendered["validateOnly"] = json!(only_validate);
        rendered["state"] = json!("COMPLETED");
        Ok(rendered)
    }
}
