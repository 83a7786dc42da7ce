// What an agent does with the server, by the official TypeScript client: `node client.mjs SERVER BROWSER_URL`.
// The client holds each result against the tool's output schema by itself.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { LoggingMessageNotificationSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [server, browser] = process.argv.slice(2);
const client = new Client({ name: "typescript", version: "1" });

/** Longer than any test runs: a call that ends in spite of it did not end by its deadline. */
const TEN_HOURS = 36_000;

/** Gives what it is called with to whoever waits, in order. */
function inbox() {
  const [waiting, arrived] = [[], []];
  return {
    put: (value) => (waiting.length ? waiting.shift()(value) : arrived.push(value)),
    take: () => (arrived.length ? Promise.resolve(arrived.shift()) : new Promise((resolve) => waiting.push(resolve))),
  };
}

const [changes, logs] = [inbox(), inbox()];
client.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.put(true));
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.put(params.data));

async function call(name, args = {}, options = {}) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  assert.equal(result.isError ?? false, !result.structuredContent.success);
  return result.structuredContent;
}

async function done(name, args, options) {
  const content = await call(name, args, options);
  assert.ok(content.success, JSON.stringify(content));
  return content;
}

async function fails(code, name, args) {
  const content = await call(name, args);
  assert.equal(content.error?.code, code, JSON.stringify(content));
  return content;
}

const tools = async () => (await client.listTools()).tools.length;

await client.connect(new StdioClientTransport({ command: server, args: ["mcp", "--no-journal"] }));
assert.match(client.getInstructions(), /pending_dialogs/);
assert.equal(await tools(), 3);
await fails("not_connected", "browser_eval", { expression: "1" });
await done("browser_connect", { cdp_url: browser });
await changes.take();
assert.equal(await tools(), 10);

const began = performance.now();
const held = await fails("dialog_opened", "browser_eval", { expression: "confirm('Sure?')", timeout_s: TEN_HOURS });
const told_after_ms = Math.round(performance.now() - began);
assert.equal(held.pending_dialogs[0].message, "Sure?");
assert.equal((await logs.take()).event, "dialog_opened");
const snapshot = await done("browser_snapshot", { wait_s: 30 });
assert.equal(snapshot.pending_dialogs[0].id, held.error.dialog.id);
await fails("blocked_by_dialog", "browser_eval", { expression: "1" });
await done("browser_dialog", { action: "accept", dialog_id: snapshot.pending_dialogs[0].id });
assert.equal((await done("browser_result", { call_id: held.error.call_id })).value, true);
assert.equal((await logs.take()).event, "dialog_closed");

const thrown = await fails("js_exception", "browser_eval", { expression: "null.x" });
assert.match(thrown.error.exception.text, /TypeError/);
await fails("invalid_argument", "browser_dialog", { action: "maybe" });
await fails("not_connected", "browser_frames", { task_id: "other" });
const { result } = await done("browser_cdp", { method: "Runtime.evaluate", params: { expression: "6 * 7" } });
assert.equal(result.result.value, 42);
assert.ok((await done("browser_frames")).frames.length >= 1);
assert.deepEqual((await done("browser_console")).warnings, []);

let progress = 0;
const slow = { expression: "new Promise((done) => setTimeout(done, 2500, 'late'))", await_promise: true };
const late = await done("browser_eval", slow, { onprogress: () => (progress += 1) });
assert.equal(late.value, "late");
assert.ok(progress >= 1, `progress came ${progress} times`);

const leaving = new AbortController();
const never = call("browser_eval", { expression: "new Promise(() => {})", await_promise: true }, { signal: leaving.signal });
setTimeout(() => leaving.abort("enough"), 200);
await assert.rejects(never);
await done("browser_eval", { expression: "1" });

await done("browser_disconnect");
await changes.take();
assert.equal(await tools(), 3);
await client.close();
console.log(JSON.stringify({ client: "typescript", told_after_ms }));
