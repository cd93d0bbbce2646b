import {
  type Agent,
  type AgentThread,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { benchModel } from '../bench-model.ts';
import { approveAll, userText } from '../contender.ts';
import type { SharedStores } from '../holdpoint-contenders.ts';
import { checkDone, rulesOf, type SpeedTask, toolsOf } from './speed-task.ts';
import { type Competitor, timed } from './competitor.ts';

/** What a process keeps from one request to the next. */
type Kept = 'nothing' | 'agent' | 'thread';

/** How holdpoint's cycle is made. */
export interface OwnSetting {
  task: SpeedTask;
  keeps?: Kept;
  /** Whether nothing is said about telemetry. Otherwise it is off. */
  leavesTelemetry?: boolean;
  /** Called for each turn; a new memory store for both processes if not given. */
  stores?: () => SharedStores;
  /** Appends what was said before to the store, as a thread called `thread`. With a past, the cycles of a turn go on with that thread. */
  appendPast?: (store: ThreadStore) => Promise<void>;
}

/** holdpoint's cycle: an agent asks, another one, which opens the thread from the store, gets the answers. */
export function ownCompetitor(setting: OwnSetting): Competitor {
  const { keeps = 'nothing', stores = sharedMemory, appendPast, task } = setting;
  const makeAgent = (store: ThreadStore): Agent => newAgent(task, store, setting.leavesTelemetry);
  let threads = 0;
  return {
    async prepare() {
      const { asking, resuming } = stores();
      await appendPast?.(asking);
      const first = process(makeAgent, asking, keeps);
      /* A kept thread is up to date in the process that runs it: there, the same one is answered. */
      const second = keeps === 'thread' ? first : process(makeAgent, resuming, keeps);
      const cycle = async (): Promise<void> => {
        threads += 1;
        const id = appendPast !== undefined ? 'thread' : `thread-${threads}`;
        const asked = await first(id);
        const response = await asked.agent.run(userText, asked.thread);
        if (!task.asks) return checkDone(task, response.text);
        const answered = await second(id);
        return checkDone(task, await approveAll(answered.agent, answered.thread));
      };
      await cycle();
      return timed(cycle);
    },
  };
}

/** A memory store that both processes have. */
function sharedMemory(): SharedStores {
  const store = memoryStore();
  return { asking: store, resuming: store };
}

interface Opened {
  agent: Agent;
  thread: AgentThread;
}

/** A process that opens threads, and what it keeps. */
function process(
  makeAgent: (store: ThreadStore) => Agent,
  store: ThreadStore,
  keeps: Kept,
): (threadId: string) => Promise<Opened> {
  if (keeps === 'nothing') return (threadId) => open(makeAgent(store), threadId);
  const agent = makeAgent(store);
  if (keeps === 'agent') return (threadId) => open(agent, threadId);
  const opened = new Map<string, Opened>();
  return async (threadId) => {
    const found = opened.get(threadId) ?? (await open(agent, threadId));
    opened.set(threadId, found);
    return found;
  };
}

async function open(agent: Agent, threadId: string): Promise<Opened> {
  return { agent, thread: await agent.thread(threadId) };
}

/** A new agent with new tools. */
export function newAgent(task: SpeedTask, store: ThreadStore, leavesTelemetry = false): Agent {
  return createAgent({
    model: benchModel(task.calls),
    tools: toolsOf(task),
    toolApproval: rulesOf(task),
    ...(leavesTelemetry ? {} : { telemetry: { isEnabled: false } }),
    store,
  });
}
