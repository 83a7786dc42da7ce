// Makes, of one short run of a driver, in `fixtures/logs`: the protocol log that the driver prints (`NAME.txt`), what it saw itself in
// the end (`NAME.seen.json`), and the recording that `cdp-supervisor record` makes of the same browser meanwhile (`NAME.cdp.jsonl`).
//
//     npm install && npm run make        (CHROMIUM and CDP_SUPERVISOR say where the programs are, when they are elsewhere)
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serve } from './site.mjs';

const name = process.argv[2];
const here = new URL('./', import.meta.url);
const file = (suffix) => fileURLToPath(new URL(`../../fixtures/logs/${name}${suffix}`, here));
const supervisor = process.env.CDP_SUPERVISOR ?? fileURLToPath(new URL('../../target/debug/cdp-supervisor', here));
const profile = mkdtempSync(join(tmpdir(), 'driver-logs-'));

const browser = spawn(process.env.CHROMIUM ?? '/usr/bin/chromium', [
  '--headless', '--no-sandbox', '--no-first-run', '--site-per-process', '--host-resolver-rules=MAP *.test 127.0.0.1',
  '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank',
], { stdio: ['ignore', 'ignore', 'pipe'] });
const port = await serve();
try {
  const url = await endpoint();
  const recorder = await record(url);
  const driver = spawn(process.execPath, [fileURLToPath(new URL('run.mjs', here)), name, url, String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DEBUG: 'pw:protocol,puppeteer:protocol:*', NODE_DEBUG: 'puppeteer:protocol:*', DEBUG_COLORS: '0' },
  });
  const [seen, log] = await Promise.all([text(driver.stdout), text(driver.stderr)]);
  await quiet(file('.cdp.jsonl'));
  recorder.kill('SIGINT');
  await once(recorder, 'exit');
  writeFileSync(file('.seen.json'), `${JSON.stringify(JSON.parse(seen), null, 1)}\n`);
  // Drivers write into scripts where they were called from: that is of no interest, and of this machine.
  writeFileSync(file('.txt'), log.replaceAll(encodeURIComponent(here.href), 'file:').replaceAll(here.href, 'file:'));
} finally {
  browser.kill();
  await once(browser, 'exit');
  rmSync(profile, { recursive: true, force: true });
  process.exit();
}

async function endpoint() {
  let said = '';
  for await (const chunk of browser.stderr) {
    said += chunk;
    const found = said.match(/DevTools listening on (ws:\S+)/);
    if (found) {
      browser.stderr.destroy();
      return found[1];
    }
  }
  throw new Error(`no endpoint: ${said}`);
}

// It answers nothing: the driver does. It is there once it has written of the page that the browser began with.
async function record(url) {
  const why = `The run of ${name} beside its protocol log.`;
  const words = ['record', url, '-o', file('.cdp.jsonl'), '--force', '--bridge', 'off', '--no-journal', '--why', why];
  const recorder = spawn(supervisor, words, { stdio: ['ignore', 'inherit', 'inherit'] });
  while (!recorded().includes('Runtime.executionContextCreated')) {
    if (recorder.exitCode !== null) throw new Error('the recorder ended');
    await sleep(20);
  }
  return recorder;
}

function recorded() {
  try { return readFileSync(file('.cdp.jsonl'), 'utf8'); } catch { return ''; }
}

async function text(stream) {
  let all = '';
  for await (const chunk of stream.setEncoding('utf8')) all += chunk;
  return all;
}

// Nothing more is written for a second.
async function quiet(path) {
  for (let before = -1; statSync(path).size !== before; await sleep(1000)) before = statSync(path).size;
}
