import { tool, type ToolSet } from 'ai';
import type { ToolApprovalStatus } from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cityInput, travelTools } from '../support/travel-world.ts';
import { source } from '../tools/seed-interactions.ts';
import { client, custom, endOf, type Handler, ofType, site } from './ag-ui-site.ts';
import { olderClient } from './older-client.ts';

const rome = { city: 'Rome' };
const oslo = { city: 'Oslo' };
const script = [
  { calls: [{ id: 'c1', name: 'pick', input: rome }] },
  { text: 'Seated.' },
  { text: 'Bye.' },
];
const pick: ToolSet[string] = tool({ description: 'picks a seat', inputSchema: cityInput });
const clientTools = ['pick'];
const named = { type: 'success', pendingToolCallIds: ['c1'] };
const editable: ToolApprovalStatus = { type: 'user-approval', editable: true };

/** A thread whose model calls a tool of the client, and a client for each person. */
function picking(toolApproval: ToolApprovalStatus = editable, tools: ToolSet = { pick }) {
  const at = site(script, {
    tools: { ...travelTools([]), ...tools },
    toolApproval: { pick: toolApproval },
  });
  const handlerOf = (principal: string, now: ToolSet = tools): Handler =>
    at.worker(
      { clientTools, authorize: () => ({ principal }) },
      { tools: { ...travelTools([]), ...now } },
    ).handler;
  return { ...at, handlerOf, as: (principal: string) => client(handlerOf(principal)) };
}

/** The inputs of the calls that a client has in its messages. */
function inputsOf({ agent }: Pick<ReturnType<typeof client>, 'agent'>): unknown[] {
  return agent.messages.flatMap((message) =>
    message.role === 'assistant'
      ? (message.toolCalls ?? []).map(({ function: called }): unknown =>
          JSON.parse(called.arguments),
        )
      : [],
  );
}

/** What the interrupts of a client show of their calls: what is carried, and what is said. */
function askedOf({ agent }: ReturnType<typeof client>) {
  return agent.pendingInterrupts.map(({ message, metadata }) => ({ message, ...metadata }));
}

describe('a call that the client runs after an edit has the edited input', () => {
  test('in the run that approves it, and the tool call is not sent twice', async () => {
    const ann = picking().as('ann');
    await ann.say('Seat me');
    expect(inputsOf(ann)).toEqual([rome]);
    const events = await ann.answer({ approved: true, input: oslo });
    expect(endOf(events)).toEqual(named);
    expect(ofType(events, 'TOOL_CALL_ARGS')).toEqual([]);
    expect(inputsOf(ann)).toEqual([oslo]);
    ann.agent.addMessage({ id: 'x1', role: 'tool', toolCallId: 'c1', content: '12A' });
    const next = await ann.run();
    expect(ofType(next, 'MESSAGES_SNAPSHOT')).toEqual([]);
    expect(inputsOf(ann)).toEqual([oslo]);
  });

  test('after a reload, before and after its result', async () => {
    const at = picking();
    const ann = at.as('ann');
    await ann.say('Seat me');
    await ann.answer({ approved: true, input: oslo });
    const again = at.as('ann');
    expect(endOf(await again.run())).toEqual(named);
    expect(again.agent.messages).toEqual(ann.agent.messages);
    expect(inputsOf(again)).toEqual([oslo]);
    again.agent.addMessage({ id: 'x1', role: 'tool', toolCallId: 'c1', content: '12A' });
    await again.run();
    const last = at.as('ann');
    await last.run();
    expect(inputsOf(last)).toEqual([oslo]);
  });

  test('on a client that still has the earlier one, as somebody else has edited it', async () => {
    const at = picking();
    const ann = at.as('ann');
    await ann.say('Seat me');
    const ben = at.as('ben');
    await ben.run();
    await ben.answer({ approved: true, input: oslo });
    expect(inputsOf(ann)).toEqual([rome]);
    ann.agent.pendingInterrupts = [];
    expect(endOf(await ann.run())).toEqual(named);
    expect(inputsOf(ann)).toEqual([oslo]);
  });

  test('on a client of before 1.0', async () => {
    const at = picking();
    const ann = olderClient(at.handlerOf('ann'));
    await ann.say('Seat me');
    const { result } = await ann.answer({ approved: true, input: oslo });
    expect(result).toEqual({ status: 'waiting', pendingToolCallIds: ['c1'] });
    expect(JSON.stringify(ann.agent.messages)).toContain(JSON.stringify(JSON.stringify(oslo)));
    expect(JSON.stringify(ann.agent.messages)).not.toContain('Rome');
  });

  test('and an approval without an edit sends no snapshot', async () => {
    const ann = picking().as('ann');
    await ann.say('Seat me');
    const events = await ann.answer({ approved: true });
    expect(endOf(events)).toEqual(named);
    expect(ofType(events, 'MESSAGES_SNAPSHOT')).toEqual([]);
    expect(inputsOf(ann)).toEqual([rome]);
  });
});

describe('the call beside an interrupt has the input that is asked about', () => {
  test('after an edit that more people must approve, and the earlier one after a rejection', async () => {
    const at = picking({ type: 'user-approval', editable: true, quorum: 2 });
    const ann = at.as('ann');
    await ann.say('Seat me');
    await ann.answer({ approved: true, input: oslo });
    const ben = at.as('ben');
    await ben.run();
    for (const each of [ann, ben]) {
      expect(askedOf(each)).toMatchObject([{ holdpoint: { toolCall: { input: oslo } } }]);
      expect(inputsOf(each)).toEqual([oslo]);
    }
    await ben.answer({ approved: false });
    expect(inputsOf(ben)).toEqual([rome]);
  });

  test.each([
    ['the server', async () => 'picked'],
    ['the client', undefined],
  ])(
    'where the schema makes another value after the yes, of a tool that %s runs',
    async (_who, execute) => {
      const makePick = (seats: string): ToolSet => {
        const inputSchema = z.object({ city: z.string().transform((city) => `${city} ${seats}`) });
        return {
          pick: execute === undefined ? tool({ inputSchema }) : tool({ inputSchema, execute }),
        };
      };
      const at = picking('user-approval', makePick('1A'));
      const ann = at.as('ann');
      await ann.say('Seat me');
      expect(inputsOf(ann)).toEqual([{ city: 'Rome 1A' }]);
      ann.at.address = at.handlerOf('ann', makePick('2B'));
      await ann.answer({ approved: true });
      const again = client(at.handlerOf('ann', makePick('2B')));
      await again.run();
      for (const each of [ann, again]) {
        expect(askedOf(each)).toMatchObject([
          {
            message: expect.stringContaining('Rome 2B'),
            holdpoint: { toolCall: { input: { city: 'Rome 2B' } } },
          },
        ]);
        expect(inputsOf(each)).toEqual([{ city: 'Rome 2B' }]);
        expect(JSON.stringify([each.agent.messages, askedOf(each)])).not.toContain('1A');
      }
    },
  );
});

test('an answered question is told also where a rejected call, which was edited, is shown again', async () => {
  const calls = [
    { id: 'c1', name: 'pick', input: { city: 'Rome' } },
    { id: 'q1', name: 'ask_question', input: source },
  ];
  const at = site([{ calls }, { text: 'So be it.' }], {
    tools: { ...travelTools([]), ...questionTools(), pick: tool({ inputSchema: cityInput }) },
    toolApproval: { pick: { type: 'user-approval', editable: true, quorum: 2 } },
  });
  const as = (principal: string) =>
    client(at.worker({ clientTools: ['pick'], authorize: () => ({ principal }) }).handler);
  await as('ann').say('Seat me');
  const thread = await at.agent.thread('t');
  const edits = thread.activeApprovalRequests.map((request) =>
    request.approve({ input: { city: 'Oslo' } }),
  );
  await at.agent.respond(edits, thread, { principal: 'ann' });
  const ben = as('ben');
  await ben.run();
  const answers = ben.agent.pendingInterrupts.map(({ reason }) =>
    reason === 'input_required' ? { selectedOptionId: 'postgres' } : { approved: false },
  );
  const events = await ben.answer(...answers);
  expect(ofType(events, 'MESSAGES_SNAPSHOT')).not.toEqual([]);
  expect(custom(events, 'interaction_resolved')).toHaveLength(1);
});
