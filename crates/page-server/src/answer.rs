//! What the server says to one request.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use hyper::{Response, StatusCode};

use crate::Gate;

pub(crate) type Reply = Response<Full<Bytes>>;

/// An answer as it was given, its `{PORT}` not yet known.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, String)>,
    pub(crate) body: String,
    /// What the answer waits for.
    pub(crate) gate: Option<Gate>,
}

impl Answer {
    pub(crate) fn html(body: &str) -> Answer {
        Answer::file("text/html; charset=utf-8", body)
    }

    pub(crate) fn file(content_type: &str, body: &str) -> Answer {
        Answer::new(StatusCode::OK, body).with(CONTENT_TYPE, content_type)
    }

    pub(crate) fn status(status: StatusCode) -> Answer {
        Answer::new(status, "")
    }

    pub(crate) fn redirect(to: &str) -> Answer {
        Answer::new(StatusCode::FOUND, "").with(LOCATION, to)
    }

    pub(crate) fn download() -> Answer {
        Answer::new(StatusCode::OK, "downloaded")
            .with(CONTENT_TYPE, "application/octet-stream")
            .with(CONTENT_DISPOSITION, "attachment; filename=\"download.bin\"")
    }

    pub(crate) fn not_found(host: &str, path: &str) -> Answer {
        Answer::new(StatusCode::NOT_FOUND, &format!("no page {path} on {host}"))
            .with(CONTENT_TYPE, "text/plain; charset=utf-8")
    }

    fn new(status: StatusCode, body: &str) -> Answer {
        Answer { status, headers: Vec::new(), body: body.to_owned(), gate: None }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Answer {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn behind(mut self, gate: Gate) -> Answer {
        self.gate = Some(gate);
        self
    }

    /// The answer on the wire, as soon as its gate is open.
    pub(crate) async fn reply(self, port: u16) -> Reply {
        if let Some(gate) = &self.gate {
            gate.pass().await;
        }
        let at_port = |text: &str| text.replace("{PORT}", &port.to_string());
        let mut reply = Response::new(Full::new(Bytes::from(at_port(&self.body))));
        *reply.status_mut() = self.status;
        for (name, value) in &self.headers {
            match HeaderValue::from_str(&at_port(value)) {
                Ok(value) => reply.headers_mut().append(name, value),
                Err(_) => return broken(name),
            };
        }
        reply
    }
}

/// A page without one of its headers would be another page: say so instead.
fn broken(name: &HeaderName) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(format!("the value of {name} is no header value"))));
    *reply.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    reply
}
