import { setTimeout } from 'node:timers/promises';
import { experimental_streamLanguageModelCall, streamText } from 'ai';
import { createAgent } from 'holdpoint';
import { userText } from './contender.ts';
import { inOrder, median } from './measure.ts';
import { streamedModel } from './streamed-model.ts';
import { milliseconds, table, times } from './table.ts';
import type { Target } from './target.ts';
import { Ledger, transferTool } from './transfer-tool.ts';

/** How many pieces of text a stream has. */
export const pieceCount = 1_000;
const heading = `
A stream: the model says ${pieceCount.toLocaleString('en')} pieces of text, then asks for a gated call; it is read to its end.
- As in a server: model, tools and agent are made once; every stream is a thread of its own in a memory store. Telemetry is off.
- "first" is the time to the first piece of text; "total" to the end. One process; every contender twice a round, in rotating
  order; medians. Warmed up by 1,500 short streams each. The young generation is collected before each, untimed: streamText
  leaves a lot there.
- "idle": the process did nothing for 2 ms before, after which all code is slow at first. "busy": it has just streamed one of the
  same kind, as a server does that streams one after the other.
- The bare model call is the AI SDK's primitive alone: it makes no message, decides nothing, and is no target.
`;

/** When a stream said its first piece, and when it had ended, in milliseconds. */
export interface Read {
  first: number;
  total: number;
}

/** Of each contender: the medians of the reads after a pause, and of those after another read. */
interface Found {
  name: string;
  idle: Read;
  busy: Read;
}

/** What is read, and by what type its last event says that somebody is asked. */
export interface Streamed {
  name: string;
  open(): Promise<AsyncIterable<{ type: string }>>;
  asks: string;
}

/** Who streams: the AI SDK first, then holdpoint. `pieces` is asked at each stream how many it has. */
export function streamedContenders(pieces: () => number): Streamed[] {
  const telemetry = { isEnabled: false };
  const model = streamedModel(pieces);
  const tools = { transfer: transferTool(new Ledger()) };
  const agent = createAgent({ model, tools, telemetry });
  const call = { model, tools, prompt: userText };
  return [
    {
      name: "ai's own streamText",
      asks: 'tool-approval-request',
      open: async () => streamText({ ...call, telemetry }).stream,
    },
    {
      name: 'holdpoint, agent.stream',
      asks: 'request-opened',
      open: async () => agent.stream(userText, await agent.thread()),
    },
    {
      name: 'bare model call of ai',
      asks: 'tool-call',
      open: async () => (await experimental_streamLanguageModelCall(call)).stream,
    },
  ];
}

/** Measures a streamed answer that asks, prints what it finds, and gives the targets. */
export async function runStreams(quick: boolean): Promise<Target[]> {
  console.log(heading);
  let pieces = 10;
  const all = streamedContenders(() => pieces);
  for (let round = 0; round < 1_500; round += 1) {
    for (const contender of all) await readOnce(contender, pieces);
  }
  pieces = pieceCount;
  const found = await measureReads(all, quick ? 2_000 : 10_000);
  console.log(`${streamTable(found)}\n`);
  return streamTargets(found);
}

async function measureReads(all: readonly Streamed[], budgetMs: number): Promise<Found[]> {
  const reads = all.map(({ name }) => ({ name, idle: new Array<Read>(), busy: new Array<Read>() }));
  const end = performance.now() + budgetMs;
  for (let round = 0; round < 20 || performance.now() < end; round += 1) {
    for (const [index, contender] of inOrder([...all.entries()], round)) {
      await setTimeout(2);
      const idle = await readOnce(contender, pieceCount);
      const busy = await readOnce(contender, pieceCount);
      if (round < 10) continue;
      reads[index]?.idle.push(idle);
      reads[index]?.busy.push(busy);
    }
  }
  return reads.map(({ name, idle, busy }) => ({
    name,
    idle: medians(idle),
    busy: medians(busy),
  }));
}

function medians(reads: readonly Read[]): Read {
  return {
    first: median(reads.map(({ first }) => first)),
    total: median(reads.map(({ total }) => total)),
  };
}

/** Reads a stream to its end. Throws if it did not say all of its pieces, or did not ask. */
export async function readOnce({ open, asks }: Streamed, pieces: number): Promise<Read> {
  globalThis.gc?.({ type: 'minor' });
  const begin = performance.now();
  let first: number | undefined;
  let deltas = 0;
  let asked = false;
  for await (const { type } of await open()) {
    if (type === 'text-delta') {
      first ??= performance.now() - begin;
      deltas += 1;
    }
    asked ||= type === asks;
  }
  const total = performance.now() - begin;
  if (deltas === pieces && asked && first !== undefined) return { first, total };
  throw new Error(`It said ${deltas} pieces, and ${asked ? 'asked' : 'did not ask'}.`);
}

function streamTable(found: readonly Found[]): string {
  const [ai] = found;
  const rows = found.map(({ name, idle, busy }) => [
    name,
    ...besides(idle.first, ai?.idle.first),
    ...besides(busy.first, ai?.busy.first),
    ...besides(idle.total, ai?.idle.total),
    ...besides(busy.total, ai?.busy.total),
  ]);
  const columns = ['first, idle', 'first, busy', 'total, idle', 'total, busy'];
  return table(['contender, ms', ...columns.flatMap((name) => [name, 'x ai'])], rows);
}

function besides(value: number, ai = Number.NaN): [string, string] {
  return [milliseconds(value), times(value / ai)];
}

function streamTargets([ai, own]: readonly Found[]): Target[] {
  if (ai === undefined || own === undefined) return [];
  const ratios = [
    { what: 'first piece, idle', limit: 1, ratio: own.idle.first / ai.idle.first },
    { what: 'first piece, busy', limit: 1, ratio: own.busy.first / ai.busy.first },
    { what: 'total, idle', limit: 0.25, ratio: own.idle.total / ai.idle.total },
    { what: 'total, busy', limit: 0.25, ratio: own.busy.total / ai.busy.total },
  ];
  return ratios.map(({ what, limit, ratio }) => ({
    name: `stream that asks, ${what}: at most ${limit} x streamText with an approval`,
    reached: ratio <= limit,
    found: times(ratio),
  }));
}
