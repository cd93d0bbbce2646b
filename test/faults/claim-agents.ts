import { tool, type ToolSet } from 'ai';
import { type Agent, createAgent, type ThreadStore } from 'holdpoint';
import { eventsIn } from '../support/events-in.ts';
import { cityInput } from '../support/travel-world.ts';
import type { ClaimDraws } from './claim-draws.ts';
import { holdMs, leaseMs } from './claim-schedules.ts';
import type { AskedModel, Effect } from './evidence.ts';
import type { MortalProcess } from './mortal-process.ts';
import { ProviderDown } from './mortal-world.ts';
import { type PlannedCall, statelessModel } from './stateless-model.ts';

/** The name of all agents of a world of claims. */
export const agentName = 'sales';
/** Their tools that nobody may run unasked. */
export const gated: ReadonlySet<string> = new Set(['book', 'hold']);

/** A thread, and what is known of it beside its log. */
export interface ClaimedThread {
  threadId: string;
  calls: readonly PlannedCall[];
  effects: Effect[];
  prompts: AskedModel[];
  acknowledged: { requestId: string; approved: boolean }[];
}

/** Whose agent it is, and by which store and clock it works. */
interface AgentPlace {
  process: MortalProcess;
  skewMs: number;
  /** The store as the process reaches it, and as those reach it who look on. */
  store: ThreadStore;
  onlooker: ThreadStore;
  draws: ClaimDraws;
  nextId: () => string;
}

/** An agent of one process for one thread: all that it does is noted there. */
export function makeClaimAgent(thread: ClaimedThread, place: AgentPlace): Agent {
  const { process, skewMs, store, onlooker, draws, nextId } = place;
  const now = (): number => Date.now() + skewMs;
  const readRevision = async (): Promise<number> =>
    (await eventsIn(onlooker, thread.threadId)).length;
  const work = (toolName: string): ToolSet[string] =>
    tool({
      description: `${toolName} a flight`,
      inputSchema: cityInput,
      execute: async (input, options) =>
        process.reach(async () => {
          const { toolCallId } = options;
          const idempotencyKey = String(Reflect.get(options, 'idempotencyKey'));
          const begun = { attempt: Number(Reflect.get(options, 'attempt')), now: now() };
          const revision = await readRevision();
          thread.effects.push({ toolName, toolCallId, idempotencyKey, input, begun, revision });
          await pause(draws.labour());
          return { [toolName]: input.city };
        }),
    });
  return createAgent({
    name: agentName,
    tools: { book: work('book'), hold: work('hold'), look: work('look') },
    toolApproval: {
      book: 'user-approval',
      hold: { type: 'user-approval', expiresAfterMs: holdMs },
    },
    store,
    model: statelessModel([thread.calls], async (prompt, answer) =>
      process.reach(async () => {
        thread.prompts.push({ prompt, revision: await readRevision() });
        if (draws.overload()) throw new ProviderDown('overloaded');
        return answer();
      }),
    ),
    maxRetries: 0,
    retry: { initialDelayMs: 200, maxAttempts: 20 },
    now,
    generateId: nextId,
    leaseMs,
  });
}

/** Lets that much time pass. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise<void>((resolve) => setTimeout(resolve, ms));
}
