// What the run needs of Puppeteer, whichever version it is.
export async function connect(name, url) {
  const { default: puppeteer } = await import(name);
  const browser = await puppeteer.connect({ browserWSEndpoint: url });
  const page = await browser.newPage();
  return {
    page,
    frame: async (name) => (await page.$(`iframe[name=${name}]`)).contentFrame(),
    popup: async (script) => {
      const popup = new Promise((resolve) => page.once('popup', resolve));
      await page.evaluate(script);
      await (await popup).waitForFunction("document.title === 'child'");
    },
    pages: () => browser.pages(),
  };
}
