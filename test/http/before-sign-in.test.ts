import { createPostHandler } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createInboxHandler } from 'holdpoint/inbox';
import { createUiHandler } from 'holdpoint/ui';
import { approvalResponseSchema, questionResponseSchema } from 'holdpoint/schemas';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { memoryWorld } from '../support/travel-world.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

type Handler = (request: Request) => Promise<Response>;
/** Makes a handler that asks this about each request. */
type MakeHandler = (authorize: () => Promise<{ principal: string } | undefined>) => Handler;

/** JSON that notes which of its fields and items are read. */
function watchReads(json: unknown, reads: string[]): unknown {
  if (typeof json !== 'object' || json === null) return json;
  return new Proxy(json, {
    get(target, key, receiver) {
      if (typeof key === 'string') reads.push(key);
      return watchReads(Reflect.get(target, key, receiver), reads);
    },
    ownKeys(target) {
      reads.push('all keys');
      return Reflect.ownKeys(target);
    },
  });
}

/** What a handler reads of a body in all, for a stranger or somebody whom it lets in, and its response. */
async function send(make: MakeHandler, body: object, principal?: string) {
  const reads: string[] = [];
  const sent = JSON.stringify(body);
  const parse = JSON.parse.bind(JSON);
  vi.spyOn(JSON, 'parse').mockImplementation((text: string) =>
    text === sent ? watchReads(parse(text), reads) : parse(text),
  );
  const authorize = vi.fn<() => Promise<{ principal: string } | undefined>>(async () =>
    principal === undefined ? undefined : { principal },
  );
  const request = new Request('http://agent.example/inbox/api/answers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: sent,
  });
  const response = await make(authorize)(request);
  expect(authorize).toHaveBeenCalledTimes(1);
  return { reads, status: response.status, text: await response.text() };
}

const agent = () => memoryWorld([]).agent();
const answer = z.discriminatedUnion('type', [approvalResponseSchema, questionResponseSchema]);
const handle = async () => {};
const zeros = Array(100).fill(0);
const answers = [{ type: 'question-response', requestId: 'r', status: 'answered', answers: zeros }];

const chat: MakeHandler = (authorize) => createUiHandler({ agent: agent(), authorize });
const agUi: MakeHandler = (authorize) => createAgUiHandler({ agent: agent(), authorize });
const inbox: MakeHandler = (authorize) => createInboxHandler({ agents: [agent()], authorize });
const ownRoute: MakeHandler = (authorize) =>
  createPostHandler({ authorize, handle, schema: z.object({ threadId: z.string(), answer }) });
const ownChat: MakeHandler = (authorize) =>
  createPostHandler({
    authorize,
    handle,
    threadIdField: 'id',
    schema: z
      .object({ id: z.string(), messages: z.array(z.looseObject({ id: z.string() })) })
      .transform(({ id, messages }) => ({ threadId: id, messages })),
  });

test.each<[string, string, MakeHandler, object]>([
  ['a page', 'id', chat, { id: 't', messages: zeros, answers, outputs: zeros }],
  ['an AG-UI client', 'threadId', agUi, { threadId: 't', runId: 'r', messages: zeros }],
  ['an AG-UI client', 'threadId', agUi, { threadId: 't', messages: [], resume: zeros }],
  ['an inbox', 'viewer', inbox, { viewer: 'v', answers: zeros }],
  ['a route of your own', 'threadId', ownRoute, { threadId: 't', answer: answers[0] }],
  ['a chat route of your own', 'id', ownChat, { id: 't', messages: zeros }],
])('of the body of %s only its %s is read for a stranger', async (_, field, make, body) => {
  const { reads, status } = await send(make, body);
  expect(status).toBe(403);
  expect(reads).toEqual([field]);
});

const ada = 'ada@example.com';
const tooMany = Array.from({ length: 10_001 }, () => ({}));
const forms = (count: number) => [
  { ...answers[0], answers: Array.from({ length: count }, () => ({})) },
];
const inInbox = ([given]: object[]) => ({
  answers: [{ requestId: 'r', threadId: 't', digest: 'd', answer: given }],
});

test.each<[string, MakeHandler, object]>([
  ['messages of a page', chat, { id: 't', messages: tooMany }],
  ['answers of a page', chat, { id: 't', answers: Array.from({ length: 1_001 }, () => ({})) }],
  ['outputs of a page', chat, { id: 't', outputs: Array.from({ length: 1_001 }, () => ({})) }],
  ['fields of an answer of a page', chat, { id: 't', answers: forms(1_001) }],
  ['messages of an AG-UI client', agUi, { threadId: 't', runId: 'r', messages: tooMany }],
  [
    'calls in a message of an AG-UI client',
    agUi,
    {
      threadId: 't',
      runId: 'r',
      messages: [
        { id: 'm', role: 'assistant', toolCalls: Array.from({ length: 1_001 }, () => ({})) },
      ],
    },
  ],
  [
    'interrupts of an AG-UI client',
    agUi,
    { threadId: 't', runId: 'r', messages: [], resume: Array.from({ length: 1_001 }, () => ({})) },
  ],
  ['answers in an inbox', inbox, { answers: Array.from({ length: 201 }, () => ({})) }],
  ['fields of an answer in an inbox', inbox, inInbox(forms(1_001))],
  [
    'fields of an answer on a route of your own',
    ownRoute,
    { threadId: 't', answer: forms(1_001)[0] },
  ],
])('too many %s are refused before one of them is read', async (_, make, body) => {
  const { reads, status, text } = await send(make, body, ada);
  expect(status).toBe(400);
  expect(JSON.parse(text).error.message).toContain('Too big: expected array to have <=');
  expect(reads.filter((key) => Number(key) > 0)).toEqual([]);
});

const badOptions = (count: number) => [
  { ...answers[0], answers: [{ key: 'k', optionIds: Array(count).fill(0) }] },
];

test.each<[string, MakeHandler, object]>([
  ['a page', chat, { id: 't', answers: badOptions(50_000) }],
  ['an inbox', inbox, inInbox(badOptions(50_000))],
  ['a route of your own', ownRoute, { threadId: 't', answer: badOptions(50_000)[0] }],
])('of a long list in the answer of %s nothing is read behind its fault', async (_, make, body) => {
  const { reads, status } = await send(make, body, ada);
  expect(status).toBe(400);
  expect(reads.filter((key) => Number(key) > 0)).toEqual([]);
});

const manyKeys = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 0]));

test.each<[string, MakeHandler, object]>([
  ['a page with 20,000 unknown fields', chat, { id: 't', answers: [manyKeys] }],
  ['a page with a long role', chat, { id: 't', message: { role: 'x'.repeat(100_000) } }],
  ['an AG-UI client', agUi, { threadId: 't', runId: 'x'.repeat(100_000), messages: [manyKeys] }],
  ['an inbox', inbox, { ...manyKeys, answers: [] }],
  ['a route of your own', ownRoute, { threadId: 't', answer: { ...answers[0], ...manyKeys } }],
])('the text of a fault of %s is short', async (_, make, body) => {
  const { status, text } = await send(make, body, ada);
  expect(status).toBe(400);
  expect(text.length).toBeLessThan(3_000);
});

const said = Array.from({ length: 1_002 }, (_, index) => {
  const parts = [{ type: 'text', text: 'Hello.' }];
  return { id: `m${index}`, role: 'user', content: 'Hello.', parts };
});

test.each<[string, MakeHandler, object]>([
  ['a page', chat, { id: 't', messages: said }],
  ['an AG-UI client', agUi, { threadId: 't', runId: 'r', messages: said }],
])('%s sends at most 1000 new messages at once', async (_, make, body) => {
  expect((await send(make, body, ada)).text).toContain('at most 1000 at once');
});

test('a message of a page has at most 1000 answers', async () => {
  const parts = Array.from({ length: 1_001 }, (_, index) => ({
    type: 'tool-pay',
    state: 'approval-responded',
    approval: { id: `r${index}`, approved: true },
  }));
  const body = { id: 't', messages: [{ id: 'm', role: 'assistant', parts }] };
  const { status, text } = await send(chat, body, ada);
  expect([status, text]).toEqual([400, expect.stringContaining('at most 1000 at once')]);
});
