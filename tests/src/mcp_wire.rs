//! An MCP client that shows what goes over the wire: JSON-RPC messages, one a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{built_command, patience};

/// A server of this build, and its client.
pub struct McpWire {
    server: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Notifications that nobody has asked for yet.
    told: Vec<Value>,
    next: u64,
}

/// A request and what came back.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// As it was sent.
    pub request: Value,
    /// As it came.
    pub response: Value,
    /// How long that took.
    pub took: Duration,
}

impl McpWire {
    /// Starts `cdp-supervisor mcp` with these arguments, and shakes hands. No settings of this machine are read.
    #[must_use]
    pub fn start(args: &[&str]) -> Self {
        let mut command = Command::new(built_command());
        command.args(["--config", "/dev/null", "mcp", "--no-journal", "--log-level", "off"]).args(args);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take(), server.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = tell.send(serde_json::from_str(&line).unwrap());
            }
        });
        let mut wire = Self { server, input, lines, told: Vec::new(), next: 1 };
        wire.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "transcript", "version": "1"}}),
        );
        wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        wire
    }

    /// Asks, and waits for the answer. What is told meanwhile is kept.
    ///
    /// # Panics
    /// When the server ends, or says nothing for too long.
    pub fn request(&mut self, method: &str, params: Value) -> Exchange {
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.next += 1;
        let began = Instant::now();
        self.send(&request);
        loop {
            let message = self.receive(&request);
            match message["id"] == request["id"] {
                true => return Exchange { request, response: message, took: began.elapsed() },
                false => self.told.push(message),
            }
        }
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Exchange {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The next notification of this method, which may have come already.
    pub fn told(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.told.iter().position(|message| message["method"] == method) {
                return self.told.remove(at);
            }
            let message = self.receive(&json!(method));
            self.told.push(message);
        }
    }

    /// Calls until the result is so.
    pub fn until(&mut self, tool: &str, arguments: &Value, is_so: impl Fn(&Value) -> bool) -> Exchange {
        let deadline = Instant::now() + patience();
        loop {
            let exchange = self.call(tool, arguments.clone());
            if is_so(exchange.content()) {
                return exchange;
            }
            assert!(Instant::now() < deadline, "{exchange:?}");
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn receive(&self, wanted: &Value) -> Value {
        self.lines.recv_timeout(patience()).unwrap_or_else(|_| panic!("nothing came for {wanted}"))
    }

    /// Ends the input, and so the server.
    pub fn end(mut self) {
        drop(self.input.take());
        assert!(self.server.wait().unwrap().success());
    }
}

impl Exchange {
    /// The structured content of a tool's result.
    #[must_use]
    pub fn content(&self) -> &Value {
        &self.response["result"]["structuredContent"]
    }
}
