import type { AgentOptions } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { questionTools } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import type { ScriptedStep } from '../support/script.ts';
import { client, endOf, ofType } from './ag-ui-site.ts';

const asking: ScriptedStep[] = [
  {
    calls: [{ id: 'q', name: 'user_choice', input: { question: 'Which?', options: '["A", "B"]' } }],
  },
  { text: 'It is A.' },
];

/** A client of an agent that has another pay, whose calls have the ids of its own. */
function site(
  script: ScriptedStep[] = [{ calls: [pay('c1', 'Ann\u202E')] }, { text: 'Paid.' }],
  options: Partial<AgentOptions> = {},
) {
  const office = new AgentOffice();
  const tools = { pay: office.pay, ...questionTools() };
  const buyer = office.payer('buyer', script, { tools, ...options });
  const calls = [ask('c1', 'buy', 'Pay her.')];
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], {
    tools: { buy: office.tool(buyer) },
  });
  const handler = createAgUiHandler({
    agent: manager,
    authorize: () => ({ principal: 'ann' }),
    keepAliveMs: 0,
  });
  return { office, manager, ...client(handler) };
}

test('an approval of a sub-agent is an interrupt with who asks and the inner call, about no call that the client has', async () => {
  const { say, agent } = site();
  const { interrupts } = Object(endOf(await say('Pay Ann.')));
  expect(interrupts).toHaveLength(1);
  expect(interrupts).toMatchObject([
    {
      reason: 'confirmation',
      message:
        'The agent wants to call pay.\npay {"to":"Ann\\u{202e}"}\nAsked by: buyer\nAsked for by: ann',
      metadata: {
        requestedBy: 'ann',
        holdpoint: { path: [{ agent: 'buyer', toolCallId: 'c1', toolName: 'buy' }] },
      },
    },
  ]);
  /* A client would show the arguments of its own call of that id as those to approve. */
  expect(interrupts[0]).not.toHaveProperty('toolCallId');
  const called = agent.messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  );
  expect(called.map((call) => call.function.name)).toEqual(['buy']);
  expect(agent.messages.some(({ role }) => role === 'tool')).toBe(false);
});

test("an edit of a sub-agent's call has the schema of the tool below, not that of the client's agent", async () => {
  const rule = { pay: { type: 'user-approval', editable: true } } as const;
  const { say } = site(undefined, { toolApproval: rule });
  const { interrupts } = Object(endOf(await say('Pay Ann.')));
  expect(interrupts).toMatchObject([
    { responseSchema: { properties: { input: { properties: { to: { type: 'string' } } } } } },
  ]);
});

test('the answer reaches the sub-agent, and its reply is the result of the call', async () => {
  const { office, say, answer } = site();
  await say('Pay Ann.');
  const events = await answer({ approved: true });
  expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
    { toolCallId: 'c1', content: 'Paid.' },
  ]);
  expect(endOf(events)).toMatchObject({ type: 'success' });
  expect(office.payments).toHaveLength(1);
});

test('an answer about something else than was shown is refused', async () => {
  const { office, say, answer } = site();
  await say('Pay Ann.');
  expect(endOf(await answer({ approved: true, digest: 'another' }))).toBe('answer-mismatch');
  expect(office.payments).toEqual([]);
});

test('a question of a sub-agent says who asks, and is answered', async () => {
  const { say, answer } = site(asking);
  expect(endOf(await say('Which?'))).toMatchObject({
    interrupts: [
      {
        reason: 'input_required',
        message: 'Which?',
        responseSchema: { description: 'Asked by: buyer\nAsked for by: ann' },
        metadata: { holdpoint: { path: [{ agent: 'buyer' }] } },
      },
    ],
  });
  const events = await answer({ selectedOptionId: '1' });
  expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: 'It is A.' }]);
});
