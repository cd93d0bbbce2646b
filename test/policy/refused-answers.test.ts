import { type Agent, HoldpointError, type MayAnswer } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkedEvents } from '../ag-ui/checked-events.ts';
import { ofType, post as postToClient, runInput } from '../ag-ui/ag-ui-site.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { post } from '../ui/chat-page.ts';
import { pickCases } from '../support/sampling.ts';

const cities = ['Paris', 'Rome', 'Oslo', 'Wien'];
const asked: string[] = [];
const mayAnswer: MayAnswer = ({ request }) => {
  asked.push(request.requestId);
  return !JSON.stringify(request).includes('Oslo');
};

/** Four requests: nobody may answer that about Oslo, and `wrong` is no edit of that about Rome. */
async function fourRequests() {
  const calls = cities.map((city) => book(city, city));
  const world = memoryWorld([{ calls }, { text: 'Done.' }]);
  const toolApproval = { book: { type: 'user-approval', editable: ['price'] } } as const;
  const agent = world.agent({ toolApproval, mayAnswer });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book.', thread);
  const [paris, rome, oslo, wien] = approvalRequests;
  if (!paris || !rome || !oslo || !wien) throw new Error('Not all is asked.');
  const wrong = { ...rome.approve(), input: { city: 'Rome', price: 'dear' } };
  return { world, agent, thread, requests: { paris, rome, oslo, wien }, wrong };
}

type Four = Awaited<ReturnType<typeof fourRequests>>;
type Answers = Parameters<Agent['respond']>[0];

const ways: [string, (at: Four, answers: Answers) => Promise<unknown>][] = [
  ['run', async ({ agent, thread }, answers) => agent.run(answers, thread, { principal: 'ann' })],
  [
    'stream',
    async ({ agent, thread }, answers) =>
      agent.stream(answers, thread, { principal: 'ann' }).response,
  ],
  [
    'respond',
    async ({ agent, thread }, answers) => agent.respond(answers, thread, { principal: 'ann' }),
  ],
];

async function refusal(promise: Promise<unknown>): Promise<HoldpointError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!HoldpointError.isInstance(error)) throw error;
  return error;
}

describe.each(pickCases(ways))('an input of several answers that agent.%s refuses', (_, send) => {
  test('names each that would be refused by itself, whatever is wrong with it, and records nothing', async () => {
    const at = await fourRequests();
    const { paris, rome, oslo, wien } = at.requests;
    await at.agent.respond(wien.reject('No'), at.thread, { principal: 'ann' });
    const { revision } = at.thread;
    const unknown = { type: 'approval-response', requestId: 'another', approved: true } as const;
    const answers = [paris.approve(), at.wrong, wien.approve(), oslo.approve(), unknown];
    const refused = await refusal(send(at, answers));
    expect(refused).toMatchObject({ code: 'invalid-answer', requestId: rome.requestId });
    expect(refused.refusedAnswers).toMatchObject([
      { requestId: rome.requestId, code: 'invalid-answer', field: ['price'] },
      { requestId: wien.requestId, code: 'already-answered' },
      { requestId: oslo.requestId, code: 'not-allowed' },
      { requestId: 'another', code: 'not-found' },
    ]);
    expect(at.thread.revision).toBe(revision);
    expect(at.world.ran).toEqual([]);
    await send(at, paris.approve());
    expect(at.thread.activeRequests).toHaveLength(2);
  });

  test('has the app asked about each answer once', async () => {
    const at = await fourRequests();
    const { paris, oslo, wien } = at.requests;
    asked.length = 0;
    await refusal(send(at, [oslo.approve(), wien.reject('No'), paris.reject('No')]));
    expect(asked).toEqual([oslo, wien, paris].map(({ requestId }) => requestId));
  });

  test('names one whose form is wrong, and the others beside it', async () => {
    const at = await fourRequests();
    const { paris, oslo } = at.requests;
    const odd = { ...paris.approve(), sure: true };
    const { refusedAnswers } = await refusal(send(at, [oslo.approve(), odd]));
    expect(refusedAnswers.map(({ requestId, code }) => [requestId, code])).toEqual([
      [oslo.requestId, 'not-allowed'],
      [paris.requestId, 'invalid-answer'],
    ]);
  });

  test('names the only one, and none where a message is what is refused', async () => {
    const at = await fourRequests();
    const { oslo, paris } = at.requests;
    const alone = await refusal(send(at, oslo.approve()));
    expect(alone.refusedAnswers).toMatchObject([
      { requestId: oslo.requestId, code: 'not-allowed' },
    ]);
    const said = await refusal(at.agent.run([paris.approve(), 'Go on'], at.thread));
    expect([said.code, said.refusedAnswers]).toEqual(['requests-open', []]);
    const ending = { principal: 'ann', whilePending: 'cancel' } as const;
    const ended = await refusal(at.agent.run([paris.approve(), 'Go on'], at.thread, ending));
    expect(ended).toMatchObject({ code: 'not-allowed', requestId: oslo.requestId });
    expect(ended.refusedAnswers).toEqual([]);
  });
});

test('a client of AG-UI reads of each answer that was refused', async () => {
  const at = await fourRequests();
  const { paris, rome, oslo, wien } = at.requests;
  const handler = createAgUiHandler({
    agent: at.agent,
    authorize: () => ({ principal: 'ann' }),
    keepAliveMs: 0,
  });
  const resume = [
    { interruptId: paris.requestId, payload: { approved: true } },
    { interruptId: rome.requestId, payload: { approved: true, input: at.wrong.input } },
    { interruptId: oslo.requestId, payload: { approved: true } },
    { interruptId: wien.requestId, payload: { approved: false } },
  ].map((each) => ({ status: 'resolved', ...each }));
  const response = await handler(postToClient(runInput({ resume })));
  const events = checkedEvents(await response.text());
  expect(ofType(events, 'RUN_ERROR')[0]).toMatchObject({
    metadata: {
      refusedAnswers: [
        { requestId: rome.requestId, code: 'invalid-answer', field: ['price'] },
        { requestId: oslo.requestId, code: 'not-allowed' },
      ],
    },
  });
});

test('a page’s route asks once again for those that are left, and lists the others', async () => {
  const at = await fourRequests();
  const { paris, rome, oslo } = at.requests;
  const handler = createUiHandler({ agent: at.agent, authorize: () => ({ principal: 'ann' }) });
  const answers = [at.wrong, oslo.approve(), paris.approve()];
  const text = await (await handler(post({ id: 't', answers }))).text();
  const notice = text.split('\n').find((line) => line.includes('data-refused-answers')) ?? '';
  const { data } = z
    .object({ data: z.array(z.looseObject({ requestId: z.string() })) })
    .parse(JSON.parse(notice.replace('data: ', '')));
  expect(data.map(({ requestId }) => requestId)).toEqual([rome.requestId, oslo.requestId]);
  const thread = await at.agent.thread('t');
  expect(thread.activeRequests).toHaveLength(3);
});
