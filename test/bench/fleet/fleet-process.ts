/* A process of a fleet: it does what it is ordered to, and reports. Its code is loaded and warm before it says that it is ready. */
import { databaseSchema } from '../durable/database.ts';
import { warmUp } from '../durable/durable-worker.ts';
import { answerThreads, prepareThreads } from './answer-order.ts';
import { timeCycles } from './cycle-order.ts';
import { appendForTime } from './append-order.ts';
import { type FleetOrder, type FleetReport, type FleetResult, orderSchema } from './fleet-order.ts';
import { runOrder } from './work-order.ts';

const database = databaseSchema.parse(JSON.parse(process.argv[2] ?? ''));
if (database.kind !== 'postgres') throw new Error('A fleet needs a Postgres database.');
const { connection } = database;

let stopping = new AbortController();

function report(each: FleetReport): void {
  process.send?.(each);
}

async function obey(order: FleetOrder): Promise<FleetResult | undefined> {
  switch (order.type) {
    case 'prepare':
      return prepareThreads(connection, order);
    case 'answer':
      return answerThreads(connection, order);
    case 'append':
      return appendForTime(connection, order);
    case 'cycles':
      return timeCycles(connection, order);
    case 'work': {
      stopping = new AbortController();
      const tellEnded = (count: number): void => report({ type: 'ended', count });
      return runOrder(connection, order, { signal: stopping.signal, tellEnded });
    }
    case 'stop':
      stopping.abort();
      return undefined;
  }
}

process.on('message', (message) => {
  void obey(orderSchema.parse(message)).then(
    (result) => result !== undefined && report(result),
    (error: unknown) => report({ type: 'failed', message: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
await warmUp(300);
report({ type: 'ready' });
