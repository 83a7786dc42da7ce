// What each contender of the bench gets: where the browser is, and how many connections to make.
export function contenderArguments() {
  const value = (name) => process.argv[process.argv.indexOf(name) + 1];
  return { url: value('--url'), connections: Number(value('--conns') ?? 1) };
}

// Attaches all at once, says so, and ends when the browser has closed every connection.
export async function contend(attach) {
  const { url, connections } = contenderArguments();
  const closed = await Promise.all(Array.from({ length: connections }, () => attach(url)));
  console.log('READY');
  await Promise.all(closed.map((connection) => connection.closed));
  process.exit(0);
}
