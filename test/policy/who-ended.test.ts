import { createAgent, memoryStore } from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { askConfirmation } from 'holdpoint/tools';
import { toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { custom, runInput, site, user } from '../ag-ui/ag-ui-site.ts';
import { errorCode } from '../support/error-code.ts';
import { lostCalls } from '../support/lost-call.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { spanOf } from '../telemetry/traces.ts';
import { traced, tracingTests } from '../telemetry/tracing.ts';

tracingTests();

const question = [{ id: 'q1', name: 'ask', input: { question: 'Sure?' } }];
const script = [{ calls: question }, { text: 'Fine.' }];
const who = { email: 'ben@corp.test', token: 's3cret' };
const principalId = (principal: unknown): string =>
  typeof principal === 'string' ? principal : who.email;

function office() {
  return createAgent({
    model: scriptedModel(script).model,
    tools: { ask: askConfirmation() },
    store: memoryStore(),
    principalId,
  });
}

test('the page says who closed a request, and tells nothing else of them', async () => {
  const agent = office();
  const thread = await agent.thread('t');
  await agent.requestApproval(thread, { text: 'Sign the contract?' });
  await agent.cancel(thread, 'Enough.', { principal: who, channel: 'desk' });
  const parts = (await toUIMessages(thread)).flatMap((message) => message.parts);
  expect(parts).toContainEqual(
    expect.objectContaining({
      type: 'data-approval-request',
      data: expect.objectContaining({ closed: 'cancelled', closedBy: who.email }),
    }),
  );
  expect(JSON.stringify(parts)).not.toContain(who.token);
});

test('AG-UI says who cancelled a question with a message, and tells nothing else of them', async () => {
  const at = site(script, { tools: { ask: askConfirmation() }, toolApproval: {}, principalId });
  await at.post(runInput({ messages: [user('m1')] }));
  const ben = at.worker({ authorize: () => ({ principal: who }) });
  const { events, text } = await ben.post(
    runInput({
      runId: 'r2',
      messages: [user('m2', 'Never mind.')],
      forwardedProps: { whilePending: 'cancel' },
    }),
  );
  expect(custom(events, 'interaction_cancelled')).toMatchObject([{ cancelledBy: who.email }]);
  expect(text).not.toContain(who.token);
});

test.each([
  [{}, undefined],
  [{ recordPrincipals: true }, JSON.stringify(who)],
] as const)(
  'with %j a trace of a cancelled question has the principal %j who ended it',
  async (options, principal) => {
    const { spans } = traced(options);
    const agent = office();
    const thread = await agent.thread('t');
    await agent.run('Go', thread, { principal: 'ada' });
    await agent.cancel(thread, 'Enough.', { principal: who });
    expect(spanOf(spans(), 'question_closed ask').attributes['holdpoint.principal']).toBe(
      principal,
    );
  },
);

test('a call that Ann wants to run again is still hers: somebody else approves it', async () => {
  const rule = { type: 'user-approval', notRequester: true } as const;
  const options = { toolApproval: { book: rule } };
  const { agent: make } = await lostCalls(['t'], options, memoryStore(), ['bob'], 'ann');
  const { agent, ran } = make();
  const thread = await agent.thread('t');
  await agent.settle(thread, 'c1', { status: 'retry' }, { principal: 'ann' });
  const again = thread.activeApprovalRequests.map((request) => request.approve());
  expect(await errorCode(agent.run(again, thread, { principal: 'ann' }))).toBe('not-allowed');
  await agent.run(again, thread, { principal: 'eve' });
  const told = thread.events.flatMap((event) => {
    if (event.type === 'request-opened') return [['for', event.request.requesters]];
    return event.type === 'request-answered' ? [['by', event.principal]] : [];
  });
  expect(told).toEqual([
    ['for', ['ann']],
    ['by', 'bob'],
    ['for', ['ann']],
    ['by', 'eve'],
  ]);
  expect(ran).toHaveLength(1);
});

test('a custom agent’s turn that was stopped before its first step is resumed as its author’s', async () => {
  const stop = new AbortController();
  const seen: unknown[] = [];
  const agent = createCustomAgent({
    name: 'publisher',
    store: memoryStore(),
    step: async ({ input }) => {
      seen.push(input.map((message) => JSON.stringify(message)));
      if (seen.length === 1) {
        stop.abort();
        await new Promise(() => {});
      }
      return { text: 'Done.' };
    },
  });
  const thread = await agent.thread('t');
  await agent
    .run('Publish', thread, { principal: 'ada', abortSignal: stop.signal })
    .catch(() => {});
  await agent.stop(thread, { principal: 'ada' });
  expect(await agent.run([], thread, { principal: 'ben' })).toMatchObject({ text: '' });
  await agent.run([], thread, { principal: 'ben', resumeStopped: true });
  const said = thread.events.flatMap((event) =>
    event.type === 'message-added' ? [event.principal] : [],
  );
  expect(said).toEqual(['ada']);
  expect(thread.events.findLast(({ type }) => type === 'run-started')).toMatchObject({
    principal: 'ben',
    resumesStopped: true,
  });
});
