import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';

const bodySchema = z.object({
  messages: z.array(z.object({ tool_calls: z.array(z.unknown()).optional() })),
});
const callSchema = z.object({
  id: z.string(),
  extra_content: z.object({ google: z.object({ thought_signature: z.string() }) }),
});

/** A gateway to Gemini whose responses have these call ids, and what it was last asked. */
function gateway(ids: readonly string[]) {
  const bodies: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const index = bodies.push(await new Request(url, init).json()) - 1;
    const id = ids[index];
    const google = { thought_signature: `sig${index}` };
    const named = { name: 'pay', arguments: `{"to":"${index}"}` };
    const called = { id, type: 'function', function: named, extra_content: { google } };
    const message =
      id === undefined
        ? { role: 'assistant', content: 'Done.' }
        : { role: 'assistant', content: null, tool_calls: [called] };
    const choices = [
      { index: 0, finish_reason: id === undefined ? 'stop' : 'tool_calls', message },
    ];
    return Response.json({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices });
  };
  const provider = createOpenAICompatible({
    name: 'gemini',
    baseURL: 'http://gateway.test/v1',
    apiKey: 'k',
    fetch,
  });
  return { model: provider('gemini-3'), bodies };
}

test.each([
  ['that differ', ['a', 'b']],
  ['that each response counts anew', ['call_0', 'call_0']],
])('calls with ids %s go back with the signatures that came with them', async (_what, ids) => {
  const { model, bodies } = gateway(ids);
  const pay = tool({ inputSchema: z.object({ to: z.string() }), execute: async () => 'Paid.' });
  const agent = createAgent({ model, store: memoryStore(), tools: { pay } });
  const { text } = await agent.run('Pay both.', await agent.thread('t'));
  expect(text).toBe('Done.');
  const { messages } = bodySchema.parse(bodies.at(-1));
  const sent = messages.flatMap(({ tool_calls = [] }) => callSchema.array().parse(tool_calls));
  const signatures = sent.map(({ extra_content: { google } }) => google.thought_signature);
  expect(signatures).toEqual(['sig0', 'sig1']);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
});
