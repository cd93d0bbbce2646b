import { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { approve, type MayAnswer, reject, type UserApproval } from 'holdpoint';
import { approvalRequestSchema, requestRightsSchema } from 'holdpoint/schemas';
import { createUiHandler, ThreadChat } from 'holdpoint/ui';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { book, memoryWorld } from '../support/travel-world.ts';
import { only, desk } from '../tools/payment-desk.ts';
import { chunksOf, type Handler, origin, post, urlOf } from './chat-page.ts';

const loadedSchema = z.looseObject({
  rights: z.unknown().optional(),
  messages: z.array(z.unknown()),
});
const two: UserApproval = { type: 'user-approval', quorum: 2, editable: ['price'] };

function readPerson({ request }: { request: Request }) {
  return { principal: request.headers.get('x-person') ?? '' };
}

/** A thread that several people look at, each through the same route. */
function office(rule: UserApproval = two, mayAnswer: MayAnswer = () => true) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const agent = world.agent({ toolApproval: { book: rule }, mayAnswer });
  const asked = async () =>
    approvalRequestSchema.parse((await agent.thread('t')).activeApprovalRequests[0]);
  const handler = createUiHandler({ agent, authorize: readPerson });
  return { agent, handler, asked, as: (person: string) => visitor(handler, person) };
}

/** The lists of rights in a stream. */
async function readStreamed(response: Response): Promise<unknown[]> {
  return (await chunksOf(response))
    .filter(({ type }) => type === 'data-request-rights')
    .map(({ data }) => data);
}

/** What a person gets from the route. */
function visitor(handler: Handler, person: string) {
  const headers = { 'x-person': person };
  const get = async (more = '') => handler(new Request(`${origin}/chat?id=t${more}`, { headers }));
  const load = async () => loadedSchema.parse(await (await get()).json());
  const send = async (body: object) =>
    readStreamed(await handler(post({ id: 't', ...body }, headers)));
  const say = (text: string) =>
    send({ message: { id: 'm1', role: 'user', parts: [{ type: 'text', text }] } });
  const resume = async () => readStreamed(await get('&stream'));
  return { get, load, send, say, resume };
}

/** A person's page. */
function open(handler: Handler, person: string) {
  return new ThreadChat((init) => new Chat<UIMessage>(init), {
    id: 't',
    api: '/chat',
    headers: { 'x-person': person },
    fetch: async (input, init) => handler(new Request(new URL(urlOf(input), origin), init)),
  });
}

describe('what a person may do', () => {
  test('comes with the page, for this viewer and each open request, as the agent says it', async () => {
    const at = office({ type: 'user-approval', notRequester: true, editable: true });
    expect(await at.as('ada').load()).toMatchObject({ rights: [] });
    expect(await at.as('ada').say('Book')).toMatchObject([
      [{ mayAnswer: false, refusal: 'requester', mayEdit: false }],
    ]);
    const thread = await at.agent.thread('t');
    for (const principal of ['ada', 'ben']) {
      const { rights } = await at.as(principal).load();
      expect(rights).toEqual(await at.agent.rights(thread, { principal, channel: 'ui' }));
      expect(requestRightsSchema.array().parse(rights)).toEqual(rights);
    }
    expect(await at.as('ben').load()).toMatchObject({
      rights: [{ mayAnswer: true, mayApprove: true, mayReject: true, mayEdit: true }],
    });
  });

  test('comes again in each stream that changes what is open, and is empty once nothing is', async () => {
    const at = office();
    await at.as('ada').say('Book');
    const request = await at.asked();
    const yes = { answers: [approve(request)] };
    expect(await at.as('ada').send(yes)).toMatchObject([
      [{ mayAnswer: false, refusal: 'already-voted', mayReject: true, mayWithdraw: true }],
    ]);
    expect(await at.as('ben').resume()).toMatchObject([[{ mayAnswer: true, mayWithdraw: false }]]);
    expect(await at.as('ben').send(yes)).toEqual([[]]);
    expect(await at.as('ada').load()).toMatchObject({ rights: [] });
  });

  test('is nobody else’s: two people who follow one run get each their own', async () => {
    const at = office({ type: 'user-approval', approvers: ['ben'] }, ({ principal, request }) =>
      'approvers' in request ? request.approvers?.includes(String(principal)) === true : true,
    );
    await at.as('ada').say('Book');
    const [ada, ben] = await Promise.all([at.as('ada').resume(), at.as('ben').resume()]);
    expect(ada).toMatchObject([[{ mayAnswer: false, refusal: 'not-approver' }]]);
    expect(ben).toMatchObject([[{ mayAnswer: true }]]);
    expect((await at.as('ben').get()).headers.get('cache-control')).toBe('no-store');
  });

  test('costs a page without open requests, and one that has seen the thread, nothing', async () => {
    const at = office({ type: 'user-approval' });
    await at.as('ada').load();
    const rights = vi.spyOn(at.agent, 'rights');
    await at.as('ada').say('Book');
    expect(rights).toHaveBeenCalledTimes(1);
    const { revision, status } = await at.agent.thread('t');
    expect((await at.as('ada').get(`&seen=${revision}.${status}`)).status).toBe(204);
    expect(rights).toHaveBeenCalledTimes(1);
    await at.as('ben').load();
    expect(rights).toHaveBeenCalledTimes(2);
    const request = await at.asked();
    await at.as('ben').send({ answers: [reject(request)] });
    await at.as('ben').load();
    await at.as('ben').resume();
    expect(rights).toHaveBeenCalledTimes(2);
  });

  test('is asked for once for all requests of a step', async () => {
    const calls = ['a', 'b', 'c'].map((id) => book(id, id));
    const world = memoryWorld([{ calls }, { text: 'Booked.' }]);
    const agent = world.agent({ toolApproval: { book: 'user-approval' } });
    const rights = vi.spyOn(agent, 'rights');
    const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ada' }) });
    const [listed, ...more] = await visitor(handler, 'ada').say('Book');
    expect(requestRightsSchema.array().parse(listed)).toHaveLength(3);
    expect(more).toEqual([]);
    expect(rights).toHaveBeenCalledTimes(1);
  });

  test('includes the requests of sub-agents, as the sub-agent says it', async () => {
    const at = await desk({ payer: { mayAnswer: only(new Set(['Ada'])) } });
    const load = async (principal: unknown) =>
      visitor(createUiHandler({ agent: at.clerk, authorize: () => ({ principal }) }), '').load();
    expect(await load('Ada')).toMatchObject({ rights: [{ mayAnswer: true }] });
    expect(await load('Eve')).toMatchObject({
      rights: [{ mayAnswer: false, refusal: 'not-approver' }],
    });
  });

  test('is left out where it can’t be found out, and the page is shown', async () => {
    const at = office();
    await at.as('ada').say('Book');
    vi.spyOn(at.agent, 'rights').mockRejectedValue(new Error('The tools are away.'));
    const { rights, messages } = await at.as('ben').load();
    expect(rights).toBeUndefined();
    expect(messages).toHaveLength(2);
    expect(await at.as('ben').resume()).toEqual([]);
  });
});

describe('a page', () => {
  test('keeps them by request, from its load and from its streams', async () => {
    const at = office();
    const [ada, ben] = [open(at.handler, 'ada'), open(at.handler, 'ben')];
    await ada.open();
    expect(ada.state.rights.size).toBe(0);
    await ada.chat.sendMessage({ text: 'Book' });
    const request = await at.asked();
    const { requestId } = request;
    expect(ada.state.rights.get(requestId)).toMatchObject({ mayAnswer: true });
    await ben.open();
    expect(ben.state.rights.get(requestId)).toMatchObject({ mayAnswer: true, mayWithdraw: false });
    await ben.answer(approve(request));
    await vi.waitFor(() =>
      expect(ben.state.rights.get(requestId)).toMatchObject({ refusal: 'already-voted' }),
    );
    await ben.withdraw(requestId);
    expect(ben.state.rights.get(requestId)).toMatchObject({ mayAnswer: true, mayWithdraw: false });
    for (const page of [ada, ben]) page.close();
  });

  test('keeps none of the person before it, and none that it can’t read', async () => {
    const at = office();
    await at.as('ada').say('Book');
    const loaded = await at.as('ada').load();
    const replies = [
      { ...loaded, rights: [{ requestId: 'r', mayFly: true }, ...[loaded.rights].flat()] },
      { error: { code: 'other-viewer', message: 'No.' } },
    ];
    let sent = 0;
    const page = open(async () => {
      /* It would read again and again. */
      if (sent > 1) return new Promise<Response>(() => {});
      const status = sent === 0 ? 200 : 403;
      const reply = Response.json(replies[sent], { status });
      sent += 1;
      return reply;
    }, 'ada');
    await page.open();
    expect([...page.state.rights.values()]).toEqual(loaded.rights);
    await page.refresh();
    expect(page.state.rights.size).toBe(0);
    page.close();
  });
});
