//! Readers with limits: each sees the rows of its devices.

use super::*;

fn connections_with_limits_see_only_visible_devices(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let history = &sandbox.history;
    let device = |name: &str, site: &str| KnownDevice {
        name: name.to_owned(),
        platform: "cisco_ios".to_owned(),
        site: Some(site.to_owned()),
        labels: [("role".to_owned(), "core".to_owned())].into(),
        address: String::new(),
        guarantee: None,
    };
    let devices = [device("sw1", "berlin"), device("sw2", "paris")];
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    history
        .write_and_wait(move |writer| writer.update_devices(&devices, true, now))
        .unwrap();
    for (site, expected) in [("berlin", "sw1"), ("paris", "sw2"), ("berlin", "sw1")] {
        let read = history.read_visible(&|device| device.site.as_deref() == Some(site), |reader| {
            reader.fleet(&FleetFilter {
                limit: 9,
                ..Default::default()
            })
        });
        let names: Vec<String> = read.unwrap().into_iter().map(|found| found.name).collect();
        assert_eq!(names, [expected]);
    }
    let all = history.read(|reader| reader.fleet_counts()).unwrap();
    assert_eq!(all.devices, 2);
}
on_each_engine! {
    connections_with_limits_see_only_visible_devices,
}
