// puppeteer-core, as somebody would use it to accept every dialog.
import puppeteer from 'puppeteer-core';
import { contend } from './arguments.mjs';

await contend(async (url) => {
  const browser = await puppeteer.connect({ browserWSEndpoint: url, defaultViewport: null });
  const closed = new Promise((resolve) => browser.once('disconnected', resolve));
  const [page] = await browser.pages();
  page.on('dialog', (dialog) => dialog.accept().catch(() => {}));
  return { closed };
});
