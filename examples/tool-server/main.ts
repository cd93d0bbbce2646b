import { createToolServer } from 'holdpoint/rap';
import { serveFetch } from '../serve-fetch.ts';
import { Ledger } from './ledger.ts';
import { operationTools } from './operation-tools.ts';

const { ALLOWED_ORIGINS, HOLDPOINT_DEMO_DIR, PORT, SIGNING_SECRET } = process.env;
const ledger = new Ledger(HOLDPOINT_DEMO_DIR || '.holdpoint-tools');

const toolServer = createToolServer({
  tools: operationTools(ledger),
  ...(ALLOWED_ORIGINS ? { allowedOrigins: ALLOWED_ORIGINS.split(' ') } : {}),
  ...(SIGNING_SECRET ? { signing: { secret: SIGNING_SECRET } } : {}),
  onError: (error) => console.error(error),
});
const server = await serveFetch(toolServer.handler, Number(PORT || 3220));

const address = server.address();
const port = typeof address === 'object' ? address?.port : PORT;
console.log(
  `The tools are at http://localhost:${port} (their actions are recorded in ${ledger.path})`,
);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop());
}

/** Ends every open call with a result before the server closes. */
async function stop(): Promise<void> {
  await toolServer.close();
  server.closeAllConnections();
  server.close();
}
