// Makes `fixtures/logs/playwright.txt`, what `DEBUG=pw:protocol` prints for a short run, and `playwright.seen.json`, what Playwright itself saw at its end.
//
//     npm install && npm run make        (CHROMIUM=/path/to/chromium when it is elsewhere)
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';

const fixtures = new URL('../../fixtures/logs/', import.meta.url);
if (!process.env.DEBUG) {
  const env = { ...process.env, DEBUG: 'pw:protocol', DEBUG_COLORS: '0' };
  const run = spawnSync(process.execPath, [import.meta.filename], { env, maxBuffer: 1 << 28 });
  writeFileSync(new URL('playwright.txt', fixtures), run.stderr);
  process.stdout.write(run.stdout);
  process.exit(run.status ?? 1);
}

const { chromium } = await import('playwright-core');

const pages = {
  '/': (port) => `<title>top</title><iframe name="local" src="/child"></iframe>
    <iframe name="other" src="http://b.test:${port}/other"></iframe>`,
  '/child': () => '<title>child</title>',
  '/other': () => '<title>other</title><iframe name="inner" srcdoc="<p>inner</p>"></iframe>',
};
const server = http.createServer((request, response) => {
  const page = pages[request.url];
  response.writeHead(page ? 200 : 404, { 'content-type': 'text/html' });
  response.end(page ? page(server.address().port) : '');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address();

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--site-per-process', '--no-sandbox', '--host-resolver-rules=MAP *.test 127.0.0.1'],
});
const page = await browser.newPage();
const dialogs = [];
const answers = { alert: [true], confirm: [false], prompt: [true, 'typed'] };
page.on('dialog', async (dialog) => {
  const [accept, text] = answers[dialog.type()];
  dialogs.push({ type: dialog.type(), message: dialog.message(), accepted: accept, user_input: text ?? null });
  await (accept ? dialog.accept(text) : dialog.dismiss());
});
await page.goto(`http://a.test:${port}/`);
await page.evaluate("alert('an alert')");
const other = page.frames().find((frame) => frame.name() === 'other');
await other.evaluate("confirm('from another process')");
await page.frame('local').evaluate("prompt('your name', 'nobody')");
const popup = await Promise.all([page.waitForEvent('popup'), page.evaluate("void window.open('/child')")]);
await popup[0].waitForLoadState();
const frames = (page) => page.frames().map((frame) => ({ url: frame.url(), parent: frame.parentFrame()?.url() ?? null }));
const seen = { pages: browser.contexts()[0].pages().map(frames), dialogs };
writeFileSync(new URL('playwright.seen.json', fixtures), `${JSON.stringify(seen, null, 1)}\n`);
// The log ends here: what closing the browser does to the pages is another story.
process.exit(0);
