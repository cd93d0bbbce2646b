import { setTimeout } from 'node:timers/promises';
import { type Streamed, streamedContenders } from './run-streams.ts';
import { table, times } from './table.ts';
import type { Target } from './target.ts';

const streamCount = 1_000;
const pieceCount = 200;
const heading = `
${streamCount.toLocaleString('en')} open streams whose readers have stopped: the memory that each holds, in KB, after the first piece of text and after ${pieceCount} more.
`;

/** What an open stream holds, in KB. */
interface Held {
  name: string;
  early: number;
  late: number;
}

/** Measures the memory of open streams, prints what it finds, and gives the targets. */
export async function runOpenStreams(): Promise<Target[]> {
  if (globalThis.gc === undefined) return [];
  console.log(heading);
  const found: Held[] = [];
  for (const contender of streamedContenders(() => 2 * pieceCount)) {
    /* The first time makes ready what stays: code, shapes, pools. */
    await measureHeld(contender, 100);
    found.push(await measureHeld(contender, streamCount));
  }
  const rows = found.map(({ name, early, late }) => [name, early.toFixed(1), late.toFixed(1)]);
  const columns = ['contender', 'after the first piece', `after ${pieceCount} more`];
  console.log(`${table(columns, rows)}\n`);
  return heldTargets(found);
}

async function measureHeld({ name, open }: Streamed, count: number): Promise<Held> {
  const before = await memory();
  const streams: AsyncIterator<{ type: string }>[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    const stream = await open();
    streams.push(stream[Symbol.asyncIterator]());
  }
  for (const stream of streams) await readPieces(stream, 1);
  const early = ((await memory()) - before) / count;
  for (const stream of streams) await readPieces(stream, pieceCount);
  const late = ((await memory()) - before) / count;
  for (const stream of streams) await stream.return?.();
  return { name, early, late };
}

async function readPieces(stream: AsyncIterator<{ type: string }>, count: number): Promise<void> {
  for (let pieces = 0; pieces < count;) {
    const { done, value } = await stream.next();
    if (done === true) throw new Error('The stream ended too early.');
    if (value.type === 'text-delta') pieces += 1;
  }
}

/** KB in use, when all that is under way has settled and nothing is kept that nobody can reach. */
async function memory(): Promise<number> {
  await setTimeout(50);
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1_024;
}

function heldTargets([ai, own]: readonly Held[]): Target[] {
  if (ai === undefined || own === undefined) return [];
  const ratio = Math.max(own.early / ai.early, own.late / ai.late);
  return [
    {
      name: "open stream, memory: at most 0.5 x streamText's",
      reached: ratio <= 0.5,
      found: times(ratio),
    },
  ];
}
