//! Mutated configurations and REST bodies. Reading gives instances or an error, and does not panic.

use std::sync::Arc;

use switchtender_devices::driver::Driver;
use switchtender_devices::model::TypeModel;
use switchtender_devices::read::Reads;
use switchtender_mutation::Campaign;

use crate::support::offline::{REGISTRY, driver};

/// Reads the instances of one type from the same text as the answer to each of its reads. Returns
/// whether the text could be read. The text selects the type.
fn read_instances(driver: &Driver, models: &[&Arc<TypeModel>], bytes: &[u8]) -> bool {
    let sum: usize = bytes.iter().map(|byte| usize::from(*byte)).sum();
    let model = models[sum % models.len()];
    let text = String::from_utf8_lossy(bytes);
    let reads = driver.reads(&[model]);
    let answers: Reads = reads
        .into_iter()
        .map(|read| (read.name, text.clone().into_owned()))
        .collect();
    let state = driver.platform().parse(&answers);
    state.is_ok_and(|state| driver.instances(model, &state).is_ok())
}

fn models(driver: &Driver) -> Vec<&'static Arc<TypeModel>> {
    let models = REGISTRY.models();
    models
        .filter(|model| driver.supports(model).is_ok())
        .collect()
}

#[test]
fn mutations_of_configurations_do_not_panic() {
    let driver = driver("cisco_ios");
    let models = models(&driver);
    let corpus = vec![
        include_bytes!("../../../tests/fixtures/frr/04-running-config.txt").to_vec(),
        configuration().into_bytes(),
        b"VLAN Name                             Status    Ports\n\
          ---- -------------------------------- --------- -------------------------------\n\
          1    default                          active    Gi1/0/1, Gi1/0/2\n\
          10   one                              active    \n"
            .to_vec(),
    ];
    let campaign = Campaign {
        name: "configurations",
        share: 100,
    };
    campaign.run(&corpus, |bytes| read_instances(&driver, &models, bytes));
}

/// A configuration with a line of each kind.
fn configuration() -> String {
    "version 17.3\nhostname sw1\nvlan 10\n name one\n!\ninterface GigabitEthernet1/0/1\n \
     description desk\n switchport mode access\n switchport access vlan 10\n shutdown\n!\n\
     interface Port-channel5\n description up\n!\nip access-list extended 101\n \
     permit tcp any host 192.0.2.1 eq 22\n!\nbanner motd ^C\nline one\nline two\n^C\n\
     ntp server 192.0.2.10 key 5\nsnmp-server community weak RO\ntacacs server t1\n \
     address ipv4 192.0.2.20\n key 7 0822455D0A16\nline vty 0 4\n login local\nend\n"
        .to_owned()
}

#[test]
fn mutations_of_rest_bodies_do_not_panic() {
    let driver = driver("f5_bigip");
    let models = models(&driver);
    let bodies = [
        r#"{"kind":"tm:ltm:node:nodecollectionstate","items":[{"kind":"tm:ltm:node:nodestate",
            "name":"web1","partition":"Common","fullPath":"/Common/web1","address":"198.51.100.1",
            "description":"x","monitor":"min 1 of { /Common/icmp /Common/http }","ratio":1,
            "session":"user-enabled","state":"up","logging":"disabled","connectionLimit":0}]}"#,
        r#"{"kind":"tm:ltm:pool:poolcollectionstate","items":[{"name":"p","partition":"Common",
            "loadBalancingMode":"round-robin","monitor":"/Common/http and /Common/tcp",
            "membersReference":{"items":[{"name":"web1:80","address":"198.51.100.1",
            "partition":"Common","fullPath":"/Common/web1:80","priorityGroup":1}]}}]}"#,
        r#"{"kind":"tm:ltm:virtual:virtualcollectionstate","items":[{"name":"v","partition":"Common",
            "destination":"/Common/192.0.2.1%5:443","source":"0.0.0.0/0","mask":"255.255.255.255",
            "ipProtocol":"tcp","rules":["/Common/hello"],"profilesReference":{"items":[
            {"name":"http","fullPath":"/Common/http","context":"all"}]},"vlans":["/Common/x"],
            "sourceAddressTranslation":{"type":"automap"},"persist":[{"name":"cookie"}]}]}"#,
        r#"{"kind":"tm:ltm:rule:rulestate","name":"hello","partition":"Common",
            "apiAnonymous":"when HTTP_REQUEST {\n  return\n}"}"#,
        r#"{"code":404,"message":"01020036:3: The requested Node (/Common/x) was not found."}"#,
        "null",
    ];
    let corpus: Vec<Vec<u8>> = bodies.map(|body| body.as_bytes().to_vec()).into();
    let campaign = Campaign {
        name: "REST bodies",
        share: 250,
    };
    campaign.run(&corpus, |bytes| read_instances(&driver, &models, bytes));
}
