import { tool } from 'ai';
import { createAgent, memoryStore, type ToolRunOptions } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import type { ScriptedStep } from '../support/script.ts';

const calls: ScriptedStep[] = [
  { calls: [{ id: 'c', name: 'note', input: {} }] },
  { text: 'Noted.' },
];

/** What a tool gets of whom its call is made for, when people have written one after the other. */
async function originFor(people: readonly unknown[], principalId?: (principal: unknown) => string) {
  const origins: Pick<ToolRunOptions, 'requester' | 'requesters'>[] = [];
  const note = tool({
    inputSchema: z.object({}),
    execute: (_input, { requester, requesters }: ToolRunOptions) => {
      origins.push({
        ...(requester === undefined ? {} : { requester }),
        requesters: structuredClone(requesters),
      });
      for (const each of requesters ?? []) {
        if (typeof each === 'object' && each !== null) Reflect.set(each, 'id', 'changed');
      }
      return 'ok';
    },
  });
  const fails = people.slice(1).map((): ScriptedStep => ({ fail: 'overloaded' }));
  const { model } = scriptedModel([...fails, ...calls]);
  const named = principalId === undefined ? {} : { principalId };
  const agent = createAgent({
    model,
    tools: { note },
    store: memoryStore(),
    maxRetries: 0,
    ...named,
  });
  const thread = await agent.thread('t');
  for (const principal of people) {
    const options = principal === null ? {} : { principal };
    await agent.run('Note this.', thread, options).catch(() => {});
  }
  await agent.thread('t').then((read) => read.verify());
  return { origins, thread };
}

test.each<[string, readonly unknown[], string | undefined]>([
  ['Ada alone', ['ada'], 'ada'],
  ['Ada and Ben', ['ada', 'ben'], undefined],
  ['Ada and somebody unknown', ['ada', null], undefined],
  ['nobody known', [null], undefined],
  ['an object', [{ id: 'ada' }], undefined],
])('a tool reads for whom it runs: %s', async (_who, requesters, requester) => {
  const { origins } = await originFor(requesters);
  expect(origins).toEqual([{ requesters, ...(requester === undefined ? {} : { requester }) }]);
});

test('what a tool does to its requesters stays with it', async () => {
  const { origins, thread } = await originFor([{ id: 'ada' }], () => 'Ada');
  expect(origins).toEqual([{ requesters: [{ id: 'ada' }], requester: 'Ada' }]);
  expect(JSON.stringify(thread.events)).not.toContain('changed');
});
