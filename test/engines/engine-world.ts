import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { type Agent, createAgent, type ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

/* Cities that wait for nobody. Whoever asks for Sofia may not approve it. */
const deadlines = new Map([
  ['Oslo', 1_500],
  ['Narvik', 5_000],
]);

function generated(finish: 'stop' | 'tool-calls', content: Generated['content']): Generated {
  return { content, finishReason: { unified: finish, raw: undefined }, usage, warnings: [] };
}

/** The agent of the projects in which the guides to engines are tested, and its store in the folder. */
export function openWorld(folder: string) {
  const store = sqliteStore(join(folder, 'threads.sqlite'));
  return { agent: agentOn(store, folder), store };
}

/**
 * An agent that books a flight to each city of a message, once that is approved. The bookings are in the folder. While there is a file
 * `hang`, bookings do not end, and while there is one `down`, the model fails.
 */
export function agentOn(store: ThreadStore, folder: string): Agent {
  const has = (name: string): boolean => existsSync(join(folder, name));
  /* What it says depends on the prompt alone, so that every process says the same. */
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      if (has('down')) throw new Error('The provider is down.');
      const turn = prompt.filter(({ role }) => role === 'user').length;
      const last = prompt.at(-1);
      if (last?.role !== 'user')
        return generated('stop', [{ type: 'text', text: `Turn ${turn} is done.` }]);
      const text = last.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      const calls = text.split(', ').map((city, index) => ({
        type: 'tool-call' as const,
        toolCallId: `c${turn}-${index}`,
        toolName: 'book',
        input: JSON.stringify({ city }),
      }));
      return generated('tool-calls', calls);
    },
  });
  const book = tool({
    description: 'Books a flight.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      appendFileSync(join(folder, 'bookings'), `${city}\n`);
      while (has('hang')) await setTimeout(20);
      return { booked: city };
    },
  });
  return createAgent({
    model,
    store,
    tools: { book },
    toolApproval: {
      book: ({ city }) => {
        const expiresAfterMs = deadlines.get(city);
        const forOthers = city === 'Sofia' && { notRequester: true };
        return { type: 'user-approval', ...(expiresAfterMs && { expiresAfterMs }), ...forOthers };
      },
    },
    leaseMs: 2_000,
    maxRetries: 0,
  });
}
