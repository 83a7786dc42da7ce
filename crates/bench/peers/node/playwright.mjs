// playwright-core, as somebody would use it to accept every dialog.
import { chromium } from 'playwright-core';
import { contend } from './arguments.mjs';

await contend(async (url) => {
  const browser = await chromium.connectOverCDP(url);
  const closed = new Promise((resolve) => browser.once('disconnected', resolve));
  const [page] = browser.contexts()[0].pages();
  page.on('dialog', (dialog) => dialog.accept().catch(() => {}));
  return { closed };
});
