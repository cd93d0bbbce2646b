/* A gate that lets everything run, over standard input and output. Arguments: the file of its store, and the program of its upstream. */
import { createGate } from 'holdpoint/mcp';
import { sqliteStore } from 'holdpoint/stores/sqlite';

const [file = '', server = ''] = process.argv.slice(2);
const gate = createGate({
  store: sqliteStore(file),
  toolApproval: () => 'approved',
  upstreams: { echo: { command: process.execPath, args: [server] } },
});
await gate.serveStdio({ principal: 'bench' });
await gate.close();
