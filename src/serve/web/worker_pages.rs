//! What a worker serves on loopback: its health and its metrics, without a login. It has no pages and no API.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use switchtender_devices::task;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::guard::is_address_or_localhost;
use super::{ServerError, listener, metrics};
use crate::serve::service::Service;

/// The process. It is empty while the worker waits for a hub at its start.
pub(super) type StartedWorker = Arc<OnceLock<Service>>;

/// A server that runs until it is dropped.
pub(crate) struct WorkerPages {
    address: SocketAddr,
    worker: StartedWorker,
    _task: AbortOnDropHandle<()>,
}

impl WorkerPages {
    /// # Errors
    /// The address cannot be used.
    pub(crate) async fn start(
        address: SocketAddr,
        stop: CancellationToken,
    ) -> Result<Self, ServerError> {
        let bind = |source| ServerError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let bound = listener.local_addr().map_err(bind)?;
        let worker = StartedWorker::default();
        let routes = router(Arc::clone(&worker));
        let serve = async move { listener::serve(listener, None, routes, stop).await };
        Ok(Self {
            address: bound,
            worker,
            _task: task::spawn(serve),
        })
    }

    /// The worker has started.
    pub(crate) fn use_service(&self, service: &Service) {
        self.worker.get_or_init(|| service.clone());
    }

    /// The address of the metrics.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }
}

fn router(worker: StartedWorker) -> Router {
    Router::new()
        .route("/healthz", get(metrics::healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics::metrics_of_worker))
        .fallback(|| async {
            let text = "a worker has /metrics, /healthz and /readyz only: hubs have the pages\n";
            (StatusCode::NOT_FOUND, text)
        })
        .with_state(worker)
        .layer(from_fn(require_own_name))
}

/// Whether runs can start, and change devices.
async fn readyz(State(worker): State<StartedWorker>) -> (StatusCode, String) {
    let problem = match worker.get().map(Service::report_of_node) {
        None => Some("the worker starts, and waits for a hub".to_owned()),
        Some(report) if report.is_stopping => Some("the process is stopping".to_owned()),
        Some(report) => report.condition.no_runs.or(report.condition.no_applies),
    };
    match problem {
        None => (StatusCode::OK, "ready\n".to_owned()),
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n")),
    }
}

/// A name that another site chose can lead a browser to this server.
async fn require_own_name(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_address_or_localhost(host) {
        next.run(request).await
    } else {
        let text = "use the address of this server, or localhost\n";
        (StatusCode::MISDIRECTED_REQUEST, text).into_response()
    }
}
