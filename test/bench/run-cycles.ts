import { cycleTable, durableTable } from './report.ts';
import { runWorkload, type WorkloadResult } from './run-workload.ts';
import type { Target } from './target.ts';
import { cycleTargets } from './targets.ts';
import { workloads } from './workload.ts';

const heading = `
A cycle: the user's message, the model asks for gated calls, the thread is put down; a new agent with new tools takes
it up, all calls are approved and run, the model says its final text.
- Everybody has the same stateless model, which reads only the last message, the same zod tool, the same history
  (strings from the user, one text part from the assistant, 200 characters each), and telemetry switched off.
- Agent and tools are made new in both halves. Each cycle has its own fresh copy of the conversation, made untimed.
- "opening" is what comes before the message: making the first half's tools and agent, loading the history (ai and the
  bare loop: JSON.parse; holdpoint: agent.thread or agent.restore). "cycle" has the second half's loading inside.
- ai: generateText with needsApproval tools; messages put down as JSON after each half, parsed for the second.
- The bare loop keeps messages as JSON the same way, and checks, records and validates nothing.
- holdpoint records every event in its store as it goes; with JSON alone the thread is also written as JSON after each half.
- The memory store keeps frozen objects: with it the second agent parses no text, as ai must. What crosses a process is
  in the rows "JSON alone" and "SQLite".
- SQLite: one file in ${process.env['TMPDIR'] ?? '/tmp'}, WAL, synchronous=full, opened once by each of two stores.
- One process; every contender runs once a round, in rotating order, after warm-up rounds. From 1,000 messages on the
  young generation is collected before each, untimed. Medians over rounds, and the 90th percentile.
- Durable work: events and bytes of event text of one cycle, counted by a store around the memory store. A raw insert is
  one row of about 1 KB in a transaction of its own, in a file beside the store's: five
  after each round, with 0.15 ms of other work before each, as in a cycle.
`;

/** Measures the cycle of every contender at every point, prints what it finds, and gives the targets. */
export async function runCycles(quick: boolean): Promise<Target[]> {
  console.log(heading);
  const results: WorkloadResult[] = [];
  for (const workload of workloads) {
    const result = await runWorkload(workload, quick ? 1_300 : 16_000);
    results.push(result);
    console.log(`${cycleTable(result)}\n`);
  }
  console.log(`Durable work\n${durableTable(results)}\n`);
  return cycleTargets(results);
}
