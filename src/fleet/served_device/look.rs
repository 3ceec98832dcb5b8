//! Looking at a device without applying anything: its facts, and what it has of a type.

use switchtender_devices::driver::Driver;
use switchtender_devices::read::Reads;
use switchtender_devices::session::Access;
use switchtender_devices::value::{Attributes, Value};

use super::error::ServedError;
use super::{ServedFleet, close, platform};
use crate::agent::client::facts;
use crate::agent::run::{AgentRun, RunError};
use crate::device_conf::Entry;

impl ServedFleet {
    /// Logs in, reads the facts of a device and logs off.
    pub async fn facts_of(&self, entry: &Entry) -> Result<facts::Facts, ServedError> {
        let agent = AgentRun::new(&self.proxy, &entry.name);
        let connection = self.connection(&agent, entry).await?;
        let registry = self
            .proxy
            .definitions
            .of(&agent.layout)
            .map_err(RunError::from)?;
        let platform = platform(&registry, &connection, entry)?;
        let (session, facts) = self
            .way(&connection, &platform, Access::ReadOnly)
            .open()
            .await?;
        close(session).await;
        Ok(self.facts(entry, &facts))
    }

    /// Logs in and reads the instances of a type: title and attributes.
    pub async fn instances_of(
        &self,
        entry: &Entry,
        type_name: &str,
    ) -> Result<Vec<(String, Attributes)>, ServedError> {
        let agent = AgentRun::new(&self.proxy, &entry.name);
        let connection = self.connection(&agent, entry).await?;
        let registry = self
            .proxy
            .definitions
            .of(&agent.layout)
            .map_err(RunError::from)?;
        let platform = platform(&registry, &connection, entry)?;
        let model = registry
            .model(&type_name.to_lowercase())
            .ok_or_else(|| ServedError::Type(format!("there is no type {type_name}")))?;
        let (mut session, facts) = self
            .way(&connection, &platform, Access::ReadOnly)
            .open()
            .await?;
        let driver = Driver::new(&platform, &facts);
        let outcome = async {
            driver.supports(model).map_err(ServedError::Type)?;
            let requests = driver.reads(&[model]);
            let texts = session.read(&requests).await?;
            let names = requests.into_iter().map(|request| request.name);
            let reads: Reads = names.zip(texts).collect();
            let unreadable = |error: String| ServedError::Type(error);
            let state = platform
                .parse(&reads)
                .map_err(|error| unreadable(error.to_string()))?;
            driver
                .instances(model, &state)
                .map_err(|error| unreadable(error.to_string()))
        }
        .await;
        close(session).await;
        let namevars: Vec<&str> = model.namevars().collect();
        Ok(outcome?
            .into_iter()
            .map(|instance| {
                let parts = namevars
                    .iter()
                    .filter_map(|name| instance.attributes.get(name));
                let title = parts.map(Value::ruby_to_s).collect::<Vec<_>>().join("/");
                let mut attributes = instance.attributes;
                attributes.remove(namevars.first().copied().unwrap_or_default());
                (title, attributes)
            })
            .collect())
    }
}
