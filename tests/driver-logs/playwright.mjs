import { chromium } from 'playwright-core';

// What the run needs of Playwright.
export async function connect(_name, url) {
  const browser = await chromium.connectOverCDP(url);
  const [context] = browser.contexts();
  const page = await context.newPage();
  return {
    page,
    frame: (name) => page.frame(name),
    popup: async (script) => {
      const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(script)]);
      await popup.waitForLoadState();
    },
    pages: () => context.pages(),
  };
}
