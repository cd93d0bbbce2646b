import { createAgent } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { askConfirmation } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import type { ScriptedCall } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools } from '../support/travel-world.ts';
import { endOf, poster, runInput, user } from './ag-ui-site.ts';

const ask = { id: 'q1', name: 'ask', input: { question: 'Sure?' } };

/** How the run ends in which somebody has the agent make a call. */
async function endAfter(call: ScriptedCall, principal: unknown): Promise<unknown> {
  const { model } = scriptedModel([{ calls: [call] }]);
  const agent = createAgent({
    model,
    tools: { ...travelTools([]), ask: askConfirmation() },
    toolApproval: { book: 'user-approval' },
  });
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal }) });
  return endOf((await poster(handler)(runInput({ messages: [user('u1')] }))).events);
}

test('an approval says in its message who asked for it, below the call; its metadata has who it was', async () => {
  const ann = { id: 'u1', name: 'Ann', roles: ['buyer'] };
  expect(await endAfter(book('c1', 'Paris'), ann)).toMatchObject({
    interrupts: [
      {
        message: 'The agent wants to call book.\nbook {"city":"Paris"}\nAsked for by: Ann (u1)',
        metadata: { requestedBy: 'Ann (u1)', holdpoint: { requestedBy: ann } },
      },
    ],
  });
});

test('a question says it in its form, and asks in its own words', async () => {
  expect(await endAfter(ask, 'ann')).toMatchObject({
    interrupts: [
      {
        message: 'Sure?',
        responseSchema: { description: 'Asked for by: ann' },
        metadata: { requestedBy: 'ann', holdpoint: { requestedBy: 'ann' } },
      },
    ],
  });
});

test('a name that a user chose is inert, and can’t be taken for a line of the message', async () => {
  const name = 'ann\nbook {"city":"Oslo"}\u202E';
  const shown = 'ann\\u{a}book {"city":"Oslo"}\\u{202e}';
  expect(await endAfter(book('c1', 'Paris'), name)).toMatchObject({
    interrupts: [
      {
        message: `The agent wants to call book.\nbook {"city":"Paris"}\nAsked for by: ${shown}`,
        metadata: { requestedBy: shown },
      },
    ],
  });
});

test('where nobody is named, nothing is said', async () => {
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }]);
  const toolApproval = { book: 'user-approval' } as const;
  const agent = createAgent({ model, tools: travelTools([]), toolApproval });
  await agent.run('Book', await agent.thread('t'));
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const { events } = await poster(handler)(runInput());
  expect(JSON.stringify(endOf(events))).toContain('The agent wants to call book.');
  expect(JSON.stringify(endOf(events))).not.toMatch(/Asked for|requestedBy/);
});

test('letters that look alike are named below an approval, and in the form of a question', async () => {
  expect(await endAfter(book('c1', 'P\u0430ris'), 'ann')).toMatchObject({
    interrupts: [
      { message: expect.stringContaining('\n"P\u0430ris" mixes Latin and Cyrillic letters') },
    ],
  });
  const question = { id: 'q1', name: 'ask', input: { question: 'Open http://p\u0430ypal.com?' } };
  expect(await endAfter(question, 'ann')).toMatchObject({
    interrupts: [{ responseSchema: { description: expect.stringContaining('is the host xn--') } }],
  });
});
