// The run: `node run.mjs DRIVER URL PORT`. It prints what the driver saw, and ends without closing anything: what that does to the pages
// is another story.
const [name, url, port] = process.argv.slice(2);
const { connect } = await import(name === 'playwright' ? './playwright.mjs' : './puppeteer.mjs');
const { page, frame, popup, pages } = await connect(name, url);

const dialogs = [];
const answers = { alert: [true], confirm: [false], prompt: [true, 'typed'] };
page.on('dialog', async (dialog) => {
  const [accept, text] = answers[dialog.type()];
  dialogs.push({ type: dialog.type(), message: dialog.message(), accepted: accept, user_input: text ?? null });
  await (accept ? dialog.accept(text) : dialog.dismiss());
});
await page.goto(`http://a.test:${port}/`);
await page.evaluate("alert('an alert')");
await (await frame('other')).evaluate("confirm('from another process')");
await (await frame('local')).evaluate("prompt('your name', 'nobody')");
await popup("void window.open('/child')");
const frames = (page) => page.frames().map((frame) => ({ url: frame.url(), parent: frame.parentFrame()?.url() ?? null }));
process.stdout.write(JSON.stringify({ pages: (await pages()).map(frames), dialogs }), () => process.exit(0));
