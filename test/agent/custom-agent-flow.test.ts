import { tool } from 'ai';
import { type Agent, type AgentThread, memoryStore, type ThreadStore } from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { FaultPlan, MortalProcess } from '../faults/mortal-process.ts';

const leaseMs = 60_000;
const threadId = 'news';
const progressSchema = z.object({ draft: z.string() });

/** What outlives the processes: the store, the time, and the outside world. */
class Newsroom {
  readonly plan: FaultPlan;
  readonly searches: string[] = [];
  readonly published: string[] = [];
  readonly #store = memoryStore();
  #time = 1_000;
  #ids = 0;

  constructor(deadly: readonly number[] = []) {
    this.plan = new FaultPlan(deadly);
  }

  outwaitLease(): void {
    this.#time += 3 * leaseMs;
  }

  /**
   * The agent in a process of its own. It searches and drafts, asks whether the draft may be published, publishes it through a tool that
   * needs no further approval, and reports.
   */
  start(): { process: MortalProcess; agent: Agent } {
    const process = new MortalProcess(this.plan);
    const inputSchema = z.object({ text: z.string() });
    const effect = (list: string[]) =>
      tool({
        inputSchema,
        execute: async ({ text }) =>
          process.reach(async () => {
            list.push(text);
            return text;
          }),
      });
    const agent = createCustomAgent({
      name: 'publisher',
      store: this.#storeOf(process),
      now: () => process.call(() => (this.#time += 1)),
      generateId: () => process.call(() => `id-${String((this.#ids += 1)).padStart(22, '0')}`),
      leaseMs,
      tools: { search: effect(this.searches), publish: effect(this.published) },
      toolRecovery: {
        search: { reconcile: async () => ({ status: 'succeeded', output: 'found' }) },
        publish: { reconcile: async ({ input }) => this.#whatBecameOf(input) },
      },
      progressSchema,
      step: async ({ input, progress, decisions, toolCalls }) => {
        await process.reach(async () => {});
        if (input.length > 0) {
          return { toolCalls: [{ toolName: 'search', input: { text: 'release notes' } }] };
        }
        const [last] = toolCalls;
        if (last?.toolName === 'search') {
          const draft = 'We ship on Friday.';
          const text = `Publish "${draft}"?`;
          return {
            progress: { draft },
            requests: { publish: { type: 'approval-request', text } },
          };
        }
        if (last?.toolName === 'publish') return { text: 'Published: We ship on Friday.' };
        if (decisions.get('publish')?.status !== 'approved') return { text: 'Not published.' };
        const text = progress?.draft ?? '';
        return { toolCalls: [{ toolName: 'publish', input: { text } }] };
      },
    });
    return { process, agent };
  }

  #whatBecameOf(input: unknown) {
    const { text } = z.object({ text: z.string() }).parse(input);
    return this.published.includes(text)
      ? ({ status: 'succeeded', output: text } as const)
      : ({ status: 'failed', error: 'It was not published.' } as const);
  }

  #storeOf(process: MortalProcess): ThreadStore {
    const store = this.#store;
    return {
      ...store,
      read: async (...input) => process.reach(async () => store.read(...input)),
      head: async (...input) => process.reach(async () => store.head(...input)),
      append: async (...input) => process.reach(async () => store.append(...input)),
    };
  }
}

test('S3-40: request added to thread, agent executes steps, reaches a step needing approval, responds with the request', async () => {
  const newsroom = new Newsroom();
  const { agent } = newsroom.start();
  const thread = await agent.thread(threadId);
  const response = await agent.run('Announce the release.', thread);
  /* 1. User asks agent to perform a task and request is added to the thread. */
  expect(thread.messages[0]).toEqual({ role: 'user', content: 'Announce the release.' });
  /* 2. Agent executes various steps. */
  expect(thread.calls).toMatchObject([{ toolName: 'search', status: 'succeeded' }]);
  expect(thread.events.filter(({ type }) => type === 'step-finished')).toHaveLength(2);
  /* 3. and 4. It encounters a step that needs approval, and responds with an ApprovalRequestContent. */
  expect(response).toMatchObject({ status: 'waiting', text: '' });
  expect(response.approvalRequests).toMatchObject([
    { type: 'approval-request', key: 'publish', text: 'Publish "We ship on Friday."?' },
  ]);
  expect(newsroom.published).toEqual([]);
});

test('S3-41: agent saves its own progress state and adds the request to ActiveApprovalRequests', async () => {
  const newsroom = new Newsroom();
  const { agent } = newsroom.start();
  const { approvalRequests } = await agent.run(
    'Announce the release.',
    await agent.thread(threadId),
  );
  /* From the store, in another process. */
  const thread = await newsroom.start().agent.thread(threadId);
  expect(thread.progress).toEqual({ draft: 'We ship on Friday.' });
  expect(thread.activeApprovalRequests).toEqual(approvalRequests);
  /* Both are in one append. */
  const step = thread.events.findLastIndex(({ type }) => type === 'step-finished');
  expect(thread.events[step]).toMatchObject({ progress: { draft: 'We ship on Friday.' } });
  expect(thread.events[step + 1]).toMatchObject({ type: 'request-opened', step: 1 });
  const entry = JSON.stringify(thread.toJSON().entries.at(-1));
  expect(entry).toContain('step-finished');
  expect(entry).toContain('request-opened');
  /* It is not part of the history. */
  expect(JSON.stringify(thread.messages)).not.toContain('approval');
});

test('S3-42: user invokes with the response, agent loads progress and continues, removes the request, responds and updates the thread', async () => {
  const newsroom = new Newsroom();
  const first = newsroom.start().agent;
  await first.run('Announce the release.', await first.thread(threadId));
  const { agent } = newsroom.start();
  const thread = await agent.thread(threadId);
  /* 6. User (via caller) invokes the agent again with ApprovalResponseContent. */
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  const response = await agent.run(answers, thread, { principal: 'eve', channel: 'desk' });
  /* 7. Agent loads its progress from state and continues processing. */
  expect(newsroom.published).toEqual(['We ship on Friday.']);
  /* 8. Agent removes its ApprovalRequestContent from its AgentThread ActiveApprovalRequests. */
  expect(thread.activeApprovalRequests).toEqual([]);
  expect(response.decisions).toMatchObject([
    { status: 'approved', principal: 'eve', channel: 'desk', request: { key: 'publish' } },
  ]);
  /* 9. Agent responds to caller with result message and thread is updated with the result message. */
  expect(response).toMatchObject({ status: 'completed', text: 'Published: We ship on Friday.' });
  expect(thread.messages.at(-1)).toEqual({
    role: 'assistant',
    content: [{ type: 'text', text: 'Published: We ship on Friday.' }],
  });
});

/** Says it again until the story is over, in a new process after each crash, as a patient caller does. */
async function tellStory(newsroom: Newsroom, isApproved: boolean) {
  const asked = new Map<string, unknown>();
  let running = newsroom.start();
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { process, agent } = running;
    try {
      const ended = await process.survives(continueStory(agent, asked, isApproved));
      if (ended.status === 'completed') return { thread: ended.thread, text: ended.text, asked };
    } catch (error) {
      if (!process.isDead) throw error;
      running = newsroom.start();
    }
    newsroom.outwaitLease();
  }
  throw new Error('The story never ended.');
}

async function continueStory(agent: Agent, asked: Map<string, unknown>, isApproved: boolean) {
  const thread: AgentThread = await agent.thread(threadId);
  const isSaid = thread.messages.length > 0;
  for (const request of thread.activeApprovalRequests) asked.set(request.requestId, request.key);
  const answers = thread.activeApprovalRequests.map((request) =>
    isApproved ? request.approve() : request.reject('Not yet.'),
  );
  return agent.run(isSaid ? answers : 'Announce the release.', thread);
}

describe('a kill at every line of the story, and the next process continues:', () => {
  test.each([true, false])('approved: %s', async (isApproved) => {
    const whole = new Newsroom();
    await tellStory(whole, isApproved);
    const { points } = whole.plan;
    expect(points).toBeGreaterThan(60);
    for (let deadly = 1; deadly <= points; deadly += 1) {
      const newsroom = new Newsroom([deadly]);
      const { thread, text, asked } = await tellStory(newsroom, isApproved);
      /* The request that was asked is the same one for everybody, and nothing is asked twice. */
      expect([...asked.values()], `killed at ${deadly}`).toEqual(['publish']);
      expect(thread.events.filter(({ type }) => type === 'request-opened')).toHaveLength(1);
      expect(thread.events.filter(({ type }) => type === 'request-answered')).toHaveLength(1);
      expect(thread.decisions).toMatchObject([{ status: isApproved ? 'approved' : 'rejected' }]);
      /* Tools start at most once. */
      expect(newsroom.searches.length).toBeLessThanOrEqual(1);
      expect(newsroom.published.length).toBeLessThanOrEqual(isApproved ? 1 : 0);
      for (const { toolName } of thread.calls) {
        const starts = thread.events.filter(
          (event) =>
            event.type === 'call-started' && thread.calls[event.step]?.toolName === toolName,
        );
        expect(starts.length).toBeLessThanOrEqual(1);
      }
      expect(text).toBe(isApproved ? 'Published: We ship on Friday.' : 'Not published.');
      expect(thread.activeRequests).toEqual([]);
    }
  });
});
