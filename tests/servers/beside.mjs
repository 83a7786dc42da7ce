// Another MCP server and ours on one browser: `node beside.mjs playwright|devtools BROWSER_URL OUR_COMMAND [headless-shell]`.
// Each case lets a page open a dialog, shows that a tool of the other server gives no answer, answers the dialog by
// `browser_dialog`, and shows that the same call ends and that the page has the answer. One row of JSON a case.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [name, browser, command, shell] = process.argv.slice(2);

/** How long nothing has to come before a call counts as stuck. The servers answer in half a second otherwise. */
const STUCK_AFTER_MS = 4_000;
/** How long a call may take once nothing holds it, on a machine that is busy. */
const ENDS_WITHIN_MS = 120_000;

const bin = (path) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));
const OTHERS = {
  playwright: {
    package: "@playwright/mcp",
    args: () => [bin("@playwright/mcp/cli.js"), "--cdp-endpoint", browser],
    look: ["browser_snapshot", {}],
    evaluate: (script) => ["browser_evaluate", { function: script }],
    isStuckByPopups: true,
  },
  devtools: {
    package: "chrome-devtools-mcp",
    args: () => [bin("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"), "--browserUrl", browser, "--no-usage-statistics"],
    look: ["list_pages", {}],
    evaluate: (script) => ["evaluate_script", { pageId: 1, function: script }],
    // With a limit beyond ours: what ends sooner was ended by the answer.
    navigate: (url) => ["navigate_page", { pageId: 1, type: "url", url, timeout: 2 * ENDS_WITHIN_MS }],
    isStuckByPopups: false,
  },
};

async function connect(program, args) {
  const client = new Client({ name: "beside", version: "1" });
  await client.connect(new StdioClientTransport({ command: program, args, stderr: "ignore" }));
  return client;
}

const call = (client, [tool, args]) =>
  client.callTool({ name: tool, arguments: args }, undefined, { timeout: ENDS_WITHIN_MS });

async function ask(tool, args = {}) {
  const { structuredContent } = await call(us, [tool, args]);
  assert.ok(structuredContent.success, JSON.stringify(structuredContent));
  return structuredContent;
}

/** Waits until the dialog is in our snapshot. */
async function pending(message) {
  const { pending_dialogs } = await ask("browser_snapshot", { wait_s: 60 });
  const dialog = pending_dialogs.find((it) => it.message === message);
  assert.ok(dialog, `${message} is not pending: ${JSON.stringify(pending_dialogs)}`);
  return dialog;
}

/** The other server's call hangs; our answer ends it. */
async function unstuck(what, stuck, message) {
  const began = performance.now();
  const ended = call(other, stuck);
  const dialog = await pending(message);
  const nothing = Symbol();
  const waited = new Promise((resolve) => setTimeout(resolve, STUCK_AFTER_MS, nothing));
  assert.equal(await Promise.race([ended, waited]), nothing, `${stuck[0]} was not stuck`);
  const stuck_ms = Math.round(performance.now() - began);
  const answering = performance.now();
  await ask("browser_dialog", { action: "accept", dialog_id: dialog.id });
  const answer_ms = Math.round(performance.now() - answering);
  const result = await ended;
  assert.ok(!result.isError, JSON.stringify(result.content));
  const unstuck_ms = Math.round(performance.now() - answering);
  console.log(JSON.stringify({ package: kind.package, version, what, tool: stuck[0], stuck_ms, answer_ms, unstuck_ms }));
}

async function says(script, text) {
  const result = await call(other, kind.evaluate(script));
  assert.match(JSON.stringify(result.content), text);
}

const kind = OTHERS[name];
const { version } = JSON.parse(readFileSync(bin(`${kind.package}/package.json`)));
const us = await connect(command, ["--config", "/dev/null", "mcp", browser, "--no-journal"]);
const page = "<title>page</title><p>hello<script>setTimeout(() => document.title = confirm('before'), 0)</script>";
await ask("browser_cdp", { method: "Page.navigate", params: { url: `data:text/html,${page}` } });
await pending("before");
const other = await connect("node", kind.args());

await unstuck("a dialog from before it came", kind.look, "before");
await says("() => document.title", /true/);

// What a script opens later on the page that it looks at, each of them reports or answers by itself, as it happens to come.
if (kind.isStuckByPopups) {
  await call(other, kind.evaluate("() => { window.w = window.open('about:blank'); return 'opened' }"));
  await ask("browser_eval", { expression: "w.setTimeout(() => w.document.title = 'popup ' + w.confirm('popup'), 0); 1" });
  await pending("popup");
  await unstuck("a dialog in a popup", kind.evaluate("() => 2"), "popup");
  await says("() => w.document.title", /popup true/);
}

// While a page loads it waits for nothing else. A headless shell dismisses such a dialog by itself.
if (kind.navigate && shell !== "headless-shell") {
  const asks = "<p>hello<script>document.title = 'loaded ' + confirm('on load')</script>";
  await unstuck("a dialog in the first script of a page that it opens", kind.navigate(`data:text/html,${asks}`), "on load");
  assert.equal((await ask("browser_eval", { expression: "document.title" })).value, "loaded true");
  await says("() => document.title", /loaded true/);
}

await other.close();
await us.close();
process.exit(0);
