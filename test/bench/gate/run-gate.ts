import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Target } from '../target.ts';
import { TemporaryFiles } from '../temporary-files.ts';

const longestMs = 5;

/**
 * Measures what a gate adds to a call that needs nobody: the same call of the same server, straight and through a gate with a store on disk, in
 * turns. All are processes of their own, over standard input and output, as a coding agent runs them.
 */
export async function runGate(quick: boolean): Promise<Target[]> {
  using files = new TemporaryFiles();
  const { path } = files.sharedFile();
  const server = join(import.meta.dirname, 'echo-process.ts');
  const gate = join(import.meta.dirname, 'gate-process.ts');
  const straight = await connect([server]);
  const gated = await connect([gate, path, server]);
  const rounds = quick ? 300 : 2_000;
  const times = { straight: Array<number>(), gated: Array<number>() };
  for (let round = -50; round < rounds; round += 1) {
    const one = await timeCall(straight, round);
    const other = await timeCall(gated, round);
    if (round < 0) continue;
    times.straight.push(one);
    times.gated.push(other);
  }
  await Promise.all([straight.close(), gated.close()]);
  const [before, after] = [times.straight, times.gated].map(summarize);
  if (before === undefined || after === undefined) return [];
  console.log(`A call that needs nobody, ${rounds} rounds (ms: median, nine of ten)
  straight        ${before.text}
  through a gate  ${after.text}
`);
  const added = after.median - before.median;
  const name = `a gate adds at most ${longestMs} ms to a call that needs nobody (SQLite)`;
  return [{ name, reached: added <= longestMs, found: `${added.toFixed(2)} ms` }];
}

async function connect(args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  const options = ['--conditions=holdpoint-source', ...args];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: options }));
  await client.listTools();
  return client;
}

/* Each call has other arguments, as a model's have: the same one again is looked up. */
async function timeCall(client: Client, round: number): Promise<number> {
  const begun = performance.now();
  await client.callTool({ name: 'echo', arguments: { round, text: 'x'.repeat(200) } });
  return performance.now() - begun;
}

function summarize(times: readonly number[]): { median: number; text: string } {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? NaN;
  return { median: at(0.5), text: `${at(0.5).toFixed(2)}  ${at(0.9).toFixed(2)}` };
}
