// The pages of the run.
import http from 'node:http';
import { once } from 'node:events';

const pages = {
  '/': (port) => `<title>top</title><iframe name="local" src="/child"></iframe>
    <iframe name="other" src="http://b.test:${port}/other"></iframe>`,
  '/child': () => '<title>child</title>',
  '/other': () => '<title>other</title><iframe name="inner" srcdoc="<p>inner</p>"></iframe>',
};

// Serves them, and gives the port.
export async function serve() {
  const server = http.createServer((request, response) => {
    const page = pages[request.url];
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html' });
    response.end(page ? page(server.address().port) : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}
