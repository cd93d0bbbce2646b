import { audit } from './auditor.ts';
import { replyFaults } from './resent-messages.ts';
import { callHistories } from './call-histories.ts';
import type { Evidence } from './evidence.ts';
import { ConnectionLost } from './dropped-connection.ts';
import { FaultPlan } from './mortal-process.ts';
import { type ClockView, MortalWorld, type StoreView } from './mortal-world.ts';
import type { Outbox } from './outbox.ts';
import type { Scenario } from './scenario.ts';
import { type ConversationEnd, StubbornClient } from './stubborn-client.ts';

/** What one conversation with its crashes came to. */
export interface CrashRun {
  end: ConversationEnd;
  /** How many fault points it passed. */
  points: number;
  /** Those at which a crash leaves behind just what one at the point before leaves. */
  repeated: ReadonlySet<number>;
  /** How often clocks were read. */
  readings: number;
  /** What was broken, in sentences. */
  faults: string[];
  /** What is known of the thread in the end, and of those that were deleted. */
  evidence: Evidence[];
}

/** One conversation, whose process dies at each of the `deadly` points; audited. */
export async function crashRun(
  scenario: Scenario,
  deadly: readonly number[],
  view?: StoreView,
  clock?: ClockView,
  outbox?: Outbox,
): Promise<CrashRun> {
  const world = new MortalWorld(scenario, new FaultPlan(deadly), view, clock, outbox);
  const client = new StubbornClient(world);
  const end = await client.converse();
  const last = await world.evidence();
  const evidence = [...world.deleted, last];
  const calls = callHistories(last.events);
  const unknown = calls.some(({ started, ended }) => started.length > 0 && ended.length === 0);
  const unexplained = client.refusals.filter((error) => !(error instanceof ConnectionLost));
  const faults = [
    ...evidence.flatMap(audit),
    ...client.faults,
    ...(await world.rowFaults()),
    ...(end === 'completed' ? await replyFaults(world) : []),
    ...unexplained.map((error) => `A request was refused without a crash: ${String(error)}`),
    ...(world.effects.length > calls.length ? ['There are more effects than calls.'] : []),
    ...(end === 'stuck' ? ['The thread never came to its end.'] : []),
    ...(end === 'indeterminate' && !unknown
      ? ['It is indeterminate, and every call has ended.']
      : []),
    ...(end === 'completed' && unknown ? ['It is completed, and a call has not ended.'] : []),
  ];
  const { points, repeated } = world.plan;
  return { end, points, repeated: repeated.found, readings: world.readings, faults, evidence };
}
