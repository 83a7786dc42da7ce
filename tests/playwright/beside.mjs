// Playwright on the same browser: it dismisses every native dialog that nobody listens to. Says "ready" and stays until
// its input ends. Usage: node beside.mjs ws://host:port/devtools/browser/ID
import { chromium } from 'playwright-core';

const browser = await chromium.connectOverCDP(process.argv[2]);
console.log('ready');
process.stdin.on('end', () => browser.close().finally(() => process.exit(0)));
process.stdin.resume();
