import { type Agent, createAgent, memoryStore } from 'holdpoint';
import type { ThreadEvent, ThreadStore } from 'holdpoint';
import { benchModel } from './bench-model.ts';
import { approveAll, type Contender, userText } from './contender.ts';
import { seed } from './past-conversation.ts';
import { type Ledger, transferTool } from './transfer-tool.ts';

/** What every holdpoint contender is made of. */
export interface HoldpointSetting {
  /** The past of the thread. */
  past: readonly ThreadEvent[];
  batch: number;
  ledger: Ledger;
}

/** The two processes of a cycle, each with its own hold on the same threads. */
export interface SharedStores {
  asking: ThreadStore;
  resuming: ThreadStore;
}

/** The second agent opens the thread from the store that the first one wrote. */
export function sharedStoreContender(
  key: 'memory' | 'sqlite',
  setting: HoldpointSetting,
  makeStores: () => SharedStores,
): Contender {
  let threads = 0;
  return {
    key,
    async prepare() {
      const { asking, resuming } = makeStores();
      threads += 1;
      const threadId = `thread-${threads}`;
      await seed(asking, threadId, setting.past);
      return {
        async open() {
          const agent = newAgent(setting, asking);
          const thread = await agent.thread(threadId);
          return async () => {
            await agent.run(userText, thread);
            const second = newAgent(setting, resuming);
            return approveAll(second, await second.thread(threadId));
          };
        },
      };
    },
  };
}

/** The second agent has a store of its own, and gets the thread as JSON. */
export function jsonContender(setting: HoldpointSetting): Contender {
  const stored = storedJson(setting);
  return {
    key: 'json',
    async prepare() {
      const text = await stored;
      return {
        async open() {
          const agent = newAgent(setting, memoryStore());
          const thread = await agent.restore(text);
          return async () => {
            await agent.run(userText, thread);
            const second = newAgent(setting, memoryStore());
            const restored = await second.restore(JSON.stringify(thread));
            const said = await approveAll(second, restored);
            JSON.stringify(restored);
            return said;
          };
        },
      };
    },
  };
}

async function storedJson(setting: HoldpointSetting): Promise<string> {
  const store = memoryStore();
  await seed(store, 'thread', setting.past);
  return JSON.stringify(await newAgent(setting, store).thread('thread'));
}

/** A new agent over a store, with a new tool. */
export function newAgent({ batch, ledger }: HoldpointSetting, store: ThreadStore): Agent {
  return createAgent({
    model: benchModel(batch),
    tools: { transfer: transferTool(ledger) },
    telemetry: { isEnabled: false },
    store,
  });
}
