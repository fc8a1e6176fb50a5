import { once } from 'node:events';
import { startNode } from './node.ts';

const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
const node = await startNode();
if ('skipped' in node) {
  console.error(node.skipped);
  process.exit(1);
}
console.log(`${node.url} (${node.kind}), Ctrl-C ends it`);
const holdOpen = setInterval(() => {}, 1 << 30);
await interrupted;
clearInterval(holdOpen);
await node.stop();
