import { memoryStore } from 'holdpoint';
import { createCustomAgent, type CustomStep, type CustomStepInput } from 'holdpoint/custom-agent';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../support/waiting.ts';

type Progress = { draft: string };
const progressSchema = z.object({ draft: z.string() });

/** A custom agent that writes a draft, asks whether it may be published, and says what it did. */
function publisher(store = memoryStore(), taken: CustomStepInput<Progress>[] = []) {
  return createCustomAgent({
    name: 'publisher',
    store,
    progressSchema,
    step: (input): CustomStep<Progress> => {
      taken.push(input);
      const { progress, decisions } = input;
      if (progress === undefined) {
        const draft = 'We ship on Friday.';
        const text = `Publish "${draft}"?`;
        return { progress: { draft }, requests: { publish: { type: 'approval-request', text } } };
      }
      const isApproved = decisions.get('publish')?.status === 'approved';
      return { text: isApproved ? `Published: ${progress.draft}` : 'Nothing was published.' };
    },
  });
}

test('S3-40 to S3-42: a custom agent takes steps, asks, saves its progress, and continues when the answer arrives', async () => {
  const store = memoryStore();
  const agent = publisher(store);
  const thread = await agent.thread('news');
  const asked = await agent.run('Announce the release.', thread);
  expect(asked.status).toBe('waiting');
  expect(asked.approvalRequests).toMatchObject([
    { key: 'publish', text: 'Publish "We ship on Friday."?', threadId: 'news' },
  ]);
  expect(thread.progress).toEqual({ draft: 'We ship on Friday.' });
  expect(thread.activeApprovalRequests).toEqual(asked.approvalRequests);

  const later = publisher(store);
  const reopened = await later.thread('news');
  const answers = reopened.activeApprovalRequests.map((request) => request.approve());
  const response = await later.run(answers, reopened, { principal: 'eve' });
  expect(response).toMatchObject({ status: 'completed', text: 'Published: We ship on Friday.' });
  expect(response.decisions).toMatchObject([
    { status: 'approved', principal: 'eve', request: { key: 'publish' } },
  ]);
  expect(reopened.activeRequests).toEqual([]);
  expect(reopened.progress).toBeUndefined();
  expect(reopened.messages).toEqual([
    { role: 'user', content: 'Announce the release.' },
    { role: 'assistant', content: [{ type: 'text', text: 'Published: We ship on Friday.' }] },
  ]);
});

test('a worker takes the next step when an answer was recorded elsewhere', async () => {
  const store = memoryStore();
  const agent = publisher(store);
  const thread = await agent.thread('news');
  const asked = await agent.run('Announce the release.', thread);
  await agent.respond(
    asked.approvalRequests.map((request) => request.reject('Not yet.')),
    thread,
  );
  const stop = new AbortController();
  const working = runWorker({ agent, store, signal: stop.signal, pollMs: 10 });
  await waitFor(async () => {
    expect((await agent.thread('news')).messages.at(-1)).toMatchObject({
      content: [{ text: 'Nothing was published.' }],
    });
  });
  stop.abort();
  await working;
  expect((await agent.thread('news')).decisions).toMatchObject([
    { status: 'rejected', response: { reason: 'Not yet.' } },
  ]);
});
