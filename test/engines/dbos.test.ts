import { DBOS } from '@dbos-inc/dbos-sdk';
import { tool } from 'ai';
import { type Agent, type AgentOptions, later, type ToolRunOptions } from 'holdpoint';
import { agentWorkflow, wakeWorkflow } from 'holdpoint/dbos';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { errorCode } from '../support/error-code.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { approvalIn, peopleIn } from './watched-threads.ts';
import { waitUntil } from '../support/waiting.ts';

const server = sharedPostgres();
const database = await server.createDatabase();
const openStore = () => postgresStore(server.pool(database), { onWake: wakeWorkflow() });

/** A world whose agent is a workflow of DBOS; each has a model of its own. */
function workflowWorld(
  name: string,
  script: ScriptedStep[],
  options: Partial<AgentOptions> = {},
  wrapped: (agent: Agent) => Parameters<typeof agentWorkflow>[0]['agent'] = (agent) => agent,
) {
  const played = scriptedModel(script);
  const world = travelWorld(played, openStore);
  const agent = world.agent(options);
  /* As a web server would have it. */
  const outside = world.agent(options);
  const workflow = agentWorkflow({ agent: wrapped(agent), store: openStore(), name });
  /** Resolves with the thread once it has an open request. */
  const asked = async (threadId: string) =>
    waitUntil(
      async () => {
        const thread = await outside.thread(threadId);
        return thread.activeRequests.length > 0 && thread.status === 'waiting' && thread;
      },
      { timeout: 20_000, interval: 5 },
    );
  return { ...world, played, outside, workflow, asked };
}

/* Its call has ended when its result comes, and what it started delivers that. */
const asleep = Promise.withResolvers<void>();
const render = tool({
  inputSchema: z.object({}),
  execute: async (_input, { threadId, toolCallId }: ToolRunOptions) => {
    const deliver = async (): Promise<void> => {
      await asleep.promise;
      const { outside } = worlds.delivered;
      const outcome = { status: 'succeeded', output: 'rendered' } as const;
      await outside.deliver(await outside.thread(threadId ?? ''), toolCallId, outcome);
    };
    void deliver();
    return later;
  },
});

const booking: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
const worlds = {
  answered: workflowWorld('answered', booking),
  elsewhere: workflowWorld('elsewhere', booking),
  shared: workflowWorld('shared', booking, {
    toolApproval: { book: { type: 'user-approval', notRequester: true } },
  }),
  failing: workflowWorld('failing', [{ fail: 'overloaded' }, { text: 'Hello.' }], {
    retry: { initialDelayMs: 50 },
  }),
  repeated: workflowWorld('repeated', [{ text: 'Hello.' }]),
  refused: workflowWorld('refused', booking),
  delivered: workflowWorld(
    'delivered',
    [{ calls: [{ id: 'c1', name: 'render', input: {} }] }, { text: 'Rendered.' }],
    { tools: { render }, toolApproval: {} },
  ),
  meanwhile: workflowWorld(
    'meanwhile',
    [{ calls: [{ id: 'c1', name: 'render', input: {} }] }, { text: 'Rendered.' }],
    {
      tools: { render: tool({ inputSchema: z.object({}), execute: () => later }) },
      toolApproval: {},
    },
    (agent) => ({
      name: agent.name,
      now: () => agent.now(),
      thread: async (...given) => agent.thread(...given),
      /* The run has ended, and its workflow does not sleep yet. */
      async run(...input) {
        const response = await agent.run(...input);
        const outcome = { status: 'succeeded', output: 'rendered' } as const;
        if (response.status === 'waiting')
          await agent.deliver(await agent.thread('clip'), 'c1', outcome);
        return response;
      },
    }),
  ),
};

beforeAll(async () => {
  DBOS.setConfig({
    name: 'travel',
    systemDatabaseUrl: server.connectionString(database),
    logLevel: 'error',
    runAdminServer: false,
  });
  await DBOS.launch();
});

afterAll(async () => {
  await DBOS.shutdown();
  await server[Symbol.asyncDispose]();
});

/** Answers through an agent of another process. */
async function approveAll(world: (typeof worlds)['answered'], threadId: string): Promise<void> {
  const thread = await world.asked(threadId);
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await world.outside.respond(answers, thread);
}

test('a workflow sleeps while a person is asked, and the recorded answer wakes it', async () => {
  const world = worlds.answered;
  const handle = await world.workflow.start({ threadId: 'trip', message: 'Book' });
  await approveAll(world, 'trip');
  expect(await handle.getResult()).toEqual({
    threadId: 'trip',
    status: 'completed',
    text: 'Booked.',
  });
  expect(world.ran).toHaveLength(1);
});

test('a workflow ends when somebody else has run its thread to the end', async () => {
  const world = worlds.elsewhere;
  const handle = await world.workflow.start({ threadId: 'page', message: 'Book' });
  const thread = await world.asked('page');
  await world.outside.run(
    thread.activeApprovalRequests.map((request) => request.reject('too dear')),
    thread,
  );
  expect(await handle.getResult()).toMatchObject({ status: 'completed', text: 'Booked.' });
  expect(world.ran).toEqual([]);
});

test('a run that failed is retried at the time in the log, and the workflow goes on', async () => {
  const { workflow, played } = worlds.failing;
  const handle = await workflow.start({ threadId: 'failing', message: 'Hello' });
  expect(await handle.getResult()).toMatchObject({ status: 'completed', text: 'Hello.' });
  expect(played.requests).toBe(2);
});

test('the same workflow id is one turn', async () => {
  const { workflow, played } = worlds.repeated;
  const start = async () =>
    workflow.start({ threadId: 'repeated', message: 'Hello' }, { workflowID: 'order-7' });
  const [one, other] = [await start(), await start()];
  expect(await one.getResult()).toEqual(await other.getResult());
  expect(played.requests).toBe(1);
});

test('a message that is refused fails its workflow at once', async () => {
  const world = worlds.refused;
  await world.workflow.start({ threadId: 'refused', message: 'Book' });
  await world.asked('refused');
  const handle = await world.workflow.start({ threadId: 'refused', message: 'Something else' });
  await expect(handle.getResult()).rejects.toThrow('waits for 1 answer');
});

test('a result that a tool of the workflow delivers after its run wakes the workflow', async () => {
  const { workflow, outside } = worlds.delivered;
  const handle = await workflow.start({ threadId: 'film', message: 'Render' });
  await waitUntil(
    async () =>
      (await DBOS.listWorkflowSteps(handle.workflowID))?.some(({ name }) => name === 'run'),
    { timeout: 20_000, interval: 5 },
  );
  expect(await outside.thread('film')).toMatchObject({ status: 'waiting' });
  asleep.resolve();
  expect(await handle.getResult()).toMatchObject({ status: 'completed', text: 'Rendered.' });
});

test('a result that is delivered while a run is just ending is not slept through', async () => {
  const { workflow } = worlds.meanwhile;
  const handle = await workflow.start({ threadId: 'clip', message: 'Render' });
  expect(await handle.getResult()).toMatchObject({ status: 'completed', text: 'Rendered.' });
});

test('a message keeps its sender on the way through a workflow: Ada can’t approve her own booking, Ben can', async () => {
  const { workflow, outside, asked, ran } = worlds.shared;
  const input = { threadId: 'shared', message: 'Book', principal: 'ada', channel: 'web' };
  const handle = await workflow.start(input, { workflowID: 'shared' });
  const thread = await asked('shared');
  const yes = approvalIn(thread);
  const own = outside.respond(yes, thread, { principal: 'Ada' });
  expect(await errorCode(own)).toBe('not-allowed');
  await outside.respond(yes, thread, { principal: 'ben', channel: 'slack' });
  expect((await handle.getResult()).text).toBe('Booked.');
  expect(ran).toHaveLength(1);
  expect(peopleIn(await outside.thread('shared'))).toEqual([
    ['message-added', 'ada', 'web'],
    ['request-answered', 'ben', 'slack'],
  ]);
});
