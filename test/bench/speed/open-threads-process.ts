/*
 * A process of its own, which opens threads from a SQLite file and parses the text of each. It prints the lower quintiles in
 * milliseconds; the first threads are warm-up.
 */
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { quantile } from '../measure.ts';
import { Ledger } from '../transfer-tool.ts';
import { newAgent } from './own-competitor.ts';

const [path = '', threads = ''] = process.argv.slice(2);
using store = sqliteStore(path);
using reader = sqliteStore(path);
const agent = newAgent({ calls: 1, asks: false, ledger: new Ledger() }, store);

const opening: number[] = [];
const parsing: number[] = [];
for (let index = 0; index < Number(threads); index += 1) {
  const id = `thread-${index}`;
  globalThis.gc?.();
  const begin = performance.now();
  const { messages } = await agent.thread(id);
  const opened = performance.now() - begin;
  if (messages.length < 10_000) throw new Error(`${id} has ${messages.length} messages.`);
  const entries = await reader.read(id);
  const text = `[${entries.map((entry) => entry.text).join(',')}]`;
  globalThis.gc?.();
  const parseBegin = performance.now();
  JSON.parse(text);
  const parsed = performance.now() - parseBegin;
  if (index < Number(threads) / 4) continue;
  opening.push(opened);
  parsing.push(parsed);
}
console.log(JSON.stringify({ opening: quantile(opening, 0.2), parsing: quantile(parsing, 0.2) }));
