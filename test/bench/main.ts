/*
 * `npm run bench` measures and reports, and never fails because of a number. With `-- --quick` it measures fewer rounds, with
 * `-- --durable` the durable cycles alone, with `-- --fleet` worker processes alone (with `--other <folder>` in turns with those of another
 * checkout), with `-- --inbox` pages of requests alone, with `-- --gate` a gate for MCP servers alone, with `-- --retention` the deletion of
 * old threads alone, with `-- --speed` the table of docs/performance.md alone, or those of its rows that are named after it.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { runDurable } from './durable/run-durable.ts';
import { runFleets } from './fleet/run-fleets.ts';
import { runGate } from './gate/run-gate.ts';
import { runInbox } from './inbox/run-inbox.ts';
import { runCycles } from './run-cycles.ts';
import { runOpenStreams } from './run-open-streams.ts';
import { runStreams } from './run-streams.ts';
import { runRetention } from './retention/run-retention.ts';
import { runSpeed } from './speed/run-speed.ts';
import { targetLines } from './target.ts';

const flag = { type: 'boolean', default: false } as const;
const { values, positionals } = parseArgs({
  options: {
    quick: flag,
    durable: flag,
    fleet: flag,
    inbox: flag,
    gate: flag,
    retention: flag,
    speed: flag,
    other: { type: 'string' },
  },
  allowPositionals: true,
});

console.log(`
holdpoint bench: the approval cycle, ${values.quick ? 'quick run' : 'full run'}
node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}, gc ${globalThis.gc === undefined ? 'not exposed' : 'exposed'}`);

if (values.speed) await runSpeed(values.quick, positionals);
else if (values.retention) await runRetention(values.quick);
else await runTables();

async function runTables(): Promise<void> {
  const { quick, durable, fleet, inbox, gate, other } = values;
  const isWhole = !durable && !fleet && !inbox && !gate;
  const targets = isWhole ? await runCycles(quick) : [];
  if (isWhole) targets.push(...(await runStreams(quick)), ...(await runOpenStreams()));
  if (isWhole || durable) targets.push(...(await runDurable(quick)));
  if (isWhole || fleet) targets.push(...(await runFleets(quick, other)));
  if (isWhole || inbox) targets.push(...(await runInbox(quick)));
  if (isWhole || gate) targets.push(...(await runGate(quick)));
  console.log(`Targets\n${targetLines(targets)}`);
}
