// Makes `fixtures/logs/NAME.txt`, the protocol log that Puppeteer prints for a short run, and `NAME.seen.json`, what Puppeteer itself
// saw at its end. Older versions print it with `DEBUG=puppeteer:protocol:*`, newer ones with `NODE_DEBUG=puppeteer:protocol:*`.
//
//     npm install && npm run make        (CHROMIUM=/path/to/chromium when it is elsewhere)
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';

const name = process.argv[2];
const fixtures = new URL('../../fixtures/logs/', import.meta.url);
if (!process.env.DEBUG) {
  const env = { ...process.env, DEBUG: 'puppeteer:protocol:*', NODE_DEBUG: 'puppeteer:protocol:*', DEBUG_COLORS: '0' };
  const run = spawnSync(process.execPath, [import.meta.filename, name], { env, maxBuffer: 1 << 28 });
  writeFileSync(new URL(`${name}.txt`, fixtures), run.stderr);
  process.stdout.write(run.stdout);
  process.exit(run.status ?? 1);
}

const { default: puppeteer } = await import(name);

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

const browser = await puppeteer.launch({
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
const named = async (name) => (await page.$(`iframe[name=${name}]`)).contentFrame();
await (await named('other')).evaluate("confirm('from another process')");
await (await named('local')).evaluate("prompt('your name', 'nobody')");
const popup = new Promise((resolve) => page.once('popup', resolve));
await page.evaluate("void window.open('/child')");
await (await popup).waitForFunction("document.title === 'child'");
const frames = (page) => page.frames().map((frame) => ({ url: frame.url(), parent: frame.parentFrame()?.url() ?? null }));
const seen = { pages: (await browser.pages()).map(frames), dialogs };
writeFileSync(new URL(`${name}.seen.json`, fixtures), `${JSON.stringify(seen, null, 1)}\n`);
// The log ends here: what closing the browser does to the pages is another story.
browser.process().kill();
process.exit(0);
