/*
 * `npm run bench` measures and reports, and never fails because of a number. With `-- --quick` it measures fewer rounds, with
 * `-- --durable` at the durable cycles alone, with `-- --fleet` at worker processes alone.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { runDurable } from './durable/run-durable.ts';
import { runFleets } from './fleet/run-fleets.ts';
import { runCycles } from './run-cycles.ts';
import { runOpenStreams } from './run-open-streams.ts';
import { runStreams } from './run-streams.ts';
import { targetLines } from './target.ts';

const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({ options: { quick: flag, durable: flag, fleet: flag } });

console.log(`
holdpoint bench: the approval cycle, ${values.quick ? 'quick run' : 'full run'}
node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}, gc ${globalThis.gc === undefined ? 'not exposed' : 'exposed'}`);

const isWhole = !values.durable && !values.fleet;
const targets = isWhole ? await runCycles(values.quick) : [];
if (isWhole) targets.push(...(await runStreams(values.quick)), ...(await runOpenStreams()));
if (!values.fleet) targets.push(...(await runDurable(values.quick)));
if (!values.durable) targets.push(...(await runFleets(values.quick)));
console.log(`Targets\n${targetLines(targets)}`);
