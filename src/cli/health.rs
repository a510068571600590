//! `toolwire health`: whether a server takes calls, for people, scripts and container health checks.

use clap::Args;
use tonic::Code;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use super::connection::Connection;
use toolwire_server::{
    client,
    console::{self, Failure},
};

/// Says whether a server takes calls; exit code 0 means that it does
#[derive(Debug, Args)]
pub(super) struct Health {
    /// Asks for one service, such as toolwire.v1.ToolService, instead of the whole server
    #[arg(value_name = "SERVICE", default_value = "", hide_default_value = true)]
    service: String,
    #[command(flatten)]
    connection: Connection,
}

impl Health {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let request = HealthCheckRequest { service: self.service.clone() };
        let status = match HealthClient::new(self.connection.server().await?).check(request).await {
            Ok(answer) => answer.into_inner().status(),
            Err(status) if status.code() == Code::NotFound => {
                return Err(Failure::Failed(format!("the server has no service {}", self.service)));
            }
            Err(status) => return Err(client::refusal(&status)),
        };
        console::print(status.as_str_name())?;
        if status == ServingStatus::Serving { Ok(()) } else { Err(Failure::Reported) }
    }
}
