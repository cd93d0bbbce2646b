import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateText, wrapLanguageModel } from 'ai';
import {
  type Agent,
  type AgentThread,
  type Grant,
  HoldpointError,
  type HoldpointErrorCode,
  memoryStore,
  type ThreadSummary,
} from 'holdpoint';
import { holdPoint, resumeMessage } from 'holdpoint/middleware';
import { expect, test } from 'vitest';
import { lostCalls } from '../support/lost-call.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import type { LogEnd } from '../../src/thread/thread-store.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');

test('docs/errors.md has every code of HoldpointError, and no other', () => {
  const source = readFileSync(join(root, 'src/errors.ts'), 'utf8');
  const codes = new Set([...source.matchAll(/^  \| '([\w-]+)'/gm)].map(([, code]) => code));
  const documented = [...page.matchAll(/^### `([\w-]+)`$/gm)].map(([, code]) => code);
  expect(codes.size).toBeGreaterThan(15);
  expect(new Set(documented)).toEqual(codes);
  expect(documented).toHaveLength(codes.size);
});

/** A thread `trip-42` that waits for the approval of a flight, with request `r2`. */
async function waitingThread() {
  let ids = 0;
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const options = { generateId: () => `r${(ids += 1)}` };
  const agent = world.agent(options);
  const thread = await agent.thread('trip-42');
  const { approvalRequests } = await agent.run('Book a flight to Paris.', thread);
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  return { world, agent, thread, request, options };
}

type Waiting = Awaited<ReturnType<typeof waitingThread>>;
type Failure = (waiting: Waiting) => Promise<unknown>;

async function lostThread(): Promise<{ agent: Agent; thread: AgentThread }> {
  const { agent } = (await lostCalls(['trip-42'])).agent();
  return { agent, thread: await agent.thread('trip-42') };
}

const grant: Grant = {
  grantId: 'g9',
  decision: 'approved',
  scope: 'thread',
  toolName: 'book',
  definition: '',
  terms: '',
  match: { type: 'any' },
  threadId: 'trip-42',
  requestId: 'r2',
  createdAt: 0,
};

function summaryOf(end: LogEnd): ThreadSummary {
  const counts = { openRequests: 0, failures: 0, updatedAt: 0 };
  return { threadId: 'trip-42', ...end, status: 'idle', ...counts };
}

/** What makes each error, on a thread that waits. */
const failures: Record<HoldpointErrorCode, Failure | Failure[]> = {
  'not-found': [
    async ({ agent, thread }) =>
      agent.respond({ type: 'approval-response', requestId: 'r9', approved: true }, thread),
    async ({ agent, thread }) => agent.deliver(thread, 'c9', { status: 'succeeded', output: 1 }),
    async ({ agent, thread }) => agent.revoke({ ...grant, threadId: thread.id }),
    async ({ world, thread }) =>
      generateText({
        model: wrapLanguageModel({
          model: world.played.model,
          middleware: holdPoint({ store: memoryStore() }),
        }),
        messages: [resumeMessage()],
        maxRetries: 0,
        providerOptions: { holdpoint: { threadId: thread.id } },
      }),
  ],
  'grant-ended': async ({ world, thread }) => {
    const end = { revision: thread.revision, hash: thread.toJSON().entries.at(-1)?.hash ?? '' };
    const change = { type: 'use', grantId: 'g9', at: 0 } as const;
    await world.store.append('trip-42', end, [], summaryOf(end), { grants: [change] });
  },
  async 'already-answered'({ agent, thread, request }) {
    await agent.respond(request.approve(), thread);
    await agent.respond(request.reject(), thread);
  },
  async 'request-closed'({ agent, thread, request }) {
    await agent.cancel(thread);
    await agent.respond(request.approve(), thread);
  },
  'answer-mismatch': async ({ agent, thread, request }) =>
    agent.respond({ ...request.approve(), digest: 'another' }, thread),
  'invalid-answer': async ({ agent, thread, request }) =>
    agent.respond([request.approve(), request.reject()], thread),
  'invalid-input': async ({ agent, thread }) => agent.run('', thread),
  'requests-open': async ({ agent, thread }) => agent.run('And a hotel.', thread),
  async 'thread-busy'({ world, agent, thread, request, options }) {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const execute = async (): Promise<void> => {
      started.resolve();
      await ended.promise;
    };
    const slow = world.agent({ ...options, tools: { book: { ...travelTools([]).book, execute } } });
    const run = slow.run(request.approve(), await slow.thread('trip-42'));
    await started.promise;
    try {
      await agent.run('And a hotel.', thread);
    } finally {
      ended.resolve();
      await run;
    }
  },
  async 'thread-indeterminate'() {
    const { agent, thread } = await lostThread();
    await agent.run('And a hotel.', thread);
  },
  async 'wrong-agent'({ world, request }) {
    const other = world.agent({ name: 'sales' });
    await other.respond(request.approve(), await other.thread('trip-42'));
  },
  async 'missing-tool'({ world, request }) {
    const agent = world.agent({ tools: {}, toolApproval: {} });
    await agent.run(request.approve(), await agent.thread('trip-42'));
  },
  async 'thread-deleted'({ agent, thread }) {
    await agent.delete(thread);
    await agent.run([], thread);
  },
  async 'thread-diverged'({ agent, thread }) {
    const { agent: elsewhere, thread: twin } = await waitingThread();
    await elsewhere.cancel(twin, 'Another past.');
    await agent.cancel(thread);
    await agent.restore(JSON.stringify(twin));
  },
  'revision-conflict': async ({ world, thread }) =>
    world.store.append(
      'trip-42',
      { revision: 0, hash: '' },
      [],
      summaryOf({ revision: thread.revision, hash: '' }),
    ),
  'log-tampered': async ({ agent, thread }) =>
    agent.restore(JSON.stringify(thread).replaceAll('Paris', 'Tokyo')),
  'unsupported-version': async ({ agent, thread }) =>
    agent.restore({ ...thread.toJSON(), version: 9 }),
  'not-allowed': async ({ agent, thread }) =>
    agent.settle(thread, 'c1', { status: 'failed', error: 'No.' }),
};

function sortedLines(failed: (string | undefined)[][]): string[] {
  return failed.map((each) => each.join(': ')).toSorted();
}

/** What a call fails with: its code and message. */
async function failureOf(code: string, fail: Failure) {
  const error: unknown = await fail(await waitingThread()).catch((reason: unknown) => reason);
  return HoldpointError.isInstance(error) ? [error.code, error.message] : [code, String(error)];
}

test('docs/errors.md shows for each code a message that the package throws', async () => {
  const thrown = await Promise.all(
    Object.entries(failures).flatMap(([code, fails]) =>
      [fails].flat().map(async (fail) => failureOf(code, fail)),
    ),
  );
  const shown = page.split(/^##+ /m).flatMap((section) => {
    const [, code] = /^`([\w-]+)`$/m.exec(section) ?? [];
    return [...section.matchAll(/^> `(.+)`$/gm)].map(([, message]) => [code, message]);
  });
  expect(sortedLines(shown)).toEqual(sortedLines(thrown));
});
