import { jsonSchema, tool, type Tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { book } from '../support/travel-world.ts';

/** A process that asks about `book`, and another that is given the answer; both use `tools`. */
async function twoProcesses(toolOf: () => Tool, between: () => void = () => {}) {
  const store = memoryStore();
  const played = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const process = () =>
    createAgent({
      model: played.model,
      store,
      tools: { book: toolOf() },
      toolApproval: { book: 'user-approval' },
    });
  const first = process();
  const { approvalRequests } = await first.run('Book', await first.thread('t'));
  between();
  const second = process();
  const answers = approvalRequests.map((request) => request.approve());
  const response = await second.run(answers, await second.thread('t'));
  return { response, played };
}

const execute = async (): Promise<string> => 'Booked.';

test('what a provider changes in the schema of a tool reaches no other agent', async () => {
  const inputSchema = z.object({ city: z.string() });
  const shared = tool({ description: 'Books.', inputSchema, execute });
  const seen: unknown[] = [];
  for (let agents = 0; agents < 3; agents += 1) {
    const { model } = scriptedModel([{ text: 'Hello.' }]);
    if (typeof model === 'string' || model.specificationVersion !== 'v4') throw new Error('Which?');
    const doGenerate: typeof model.doGenerate = async (options) => {
      const schema: unknown = Reflect.get(options.tools?.[0] ?? {}, 'inputSchema');
      seen.push(structuredClone(schema));
      Reflect.set(Object(schema), 'properties', {});
      return model.doGenerate(options);
    };
    const agent = createAgent({ model: { ...model, doGenerate }, tools: { book: shared } });
    await agent.run('Hi', await agent.thread());
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
  expect(seen[1]).toMatchObject({ properties: { city: { type: 'string' } } });
});

test('each tool is sent with a schema of its own', async () => {
  const { model } = scriptedModel([{ text: 'Hello.' }, { text: 'Hello.' }]);
  if (typeof model === 'string' || model.specificationVersion !== 'v4') throw new Error('Which?');
  const seen: unknown[] = [];
  const doGenerate: typeof model.doGenerate = async (options) => {
    seen.push(...(options.tools ?? []).map((each) => Reflect.get(each, 'inputSchema')));
    return model.doGenerate(options);
  };
  for (const name of ['city', 'amount']) {
    const inputSchema = z.object({ [name]: z.string() });
    const named = tool({ description: 'Books.', inputSchema, execute });
    const agent = createAgent({ model: { ...model, doGenerate }, tools: { named } });
    await agent.run('Hi', await agent.thread());
  }
  expect(seen).toMatchObject([{ properties: { city: {} } }, { properties: { amount: {} } }]);
});

test('a schema object that the app changes is another definition: the person is asked again', async () => {
  const schema = { type: 'object' as const, properties: { city: { type: 'string' as const } } };
  const inputSchema = jsonSchema<{ city: string }>(schema);
  const changed = tool({ description: 'Books.', inputSchema, execute });
  const { response } = await twoProcesses(
    () => changed,
    () => Reflect.set(schema.properties, 'price', { type: 'number' }),
  );
  expect(response.status).toBe('waiting');
});

test('two tools that share a schema are two definitions', async () => {
  const inputSchema = z.object({ city: z.string() });
  let description = 'Books.';
  const { response } = await twoProcesses(
    () => tool({ description, inputSchema, execute }),
    () => {
      description = 'Books for a year.';
    },
  );
  expect(response.status).toBe('waiting');
});

test('another process that makes the same schema anew approves the same definition', async () => {
  const { response } = await twoProcesses(() =>
    tool({ description: 'Books.', inputSchema: z.object({ city: z.string() }), execute }),
  );
  expect(response.text).toBe('Done.');
});
