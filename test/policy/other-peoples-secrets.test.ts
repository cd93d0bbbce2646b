import { type Agent, createAgent, hidePrincipals, type MayAnswer, memoryStore } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createInboxHandler } from 'holdpoint/inbox';
import { agentTool } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools } from '../support/travel-world.ts';

const person = (name: string) => ({ id: name, name, token: `secret-of-${name}` });
const [ada, ben, cy] = [person('ada'), person('ben'), person('cy')];
const threadId = 'cy.t';
const origin = 'http://page.test';
const approvers = ['ada', 'ben', 'cy', 'dee'];
const mayAnswer: MayAnswer = ({ principal }) =>
  approvers.includes(typeof principal === 'string' ? principal : String(Object(principal).id));
const status = {
  type: 'user-approval',
  quorum: 3,
  editable: true,
  remember: { scope: 'thread', match: 'exact' },
} as const;

/** An agent that books, and an agent that lets it book. */
function agents() {
  const store = memoryStore();
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const tools = travelTools([]);
  const own = { store, mayAnswer };
  const worker = createAgent({
    ...own,
    model,
    tools,
    toolApproval: { book: status },
    name: 'worker',
  });
  const above = scriptedModel([
    { calls: [{ id: 'd1', name: 'travel', input: { prompt: 'Book Paris.' } }] },
    { text: 'Done.' },
  ]);
  const travel = agentTool(worker, { description: 'Books.' });
  const manager = createAgent({ ...own, model: above.model, tools: { travel }, name: 'manager' });
  return { store, worker, manager };
}

/** Ada has edited and approved what Eve, or somebody else, asked for, Ben has let Dee answer instead, and both wait for others. */
async function voted(agent: Agent, asker: unknown = { id: 'eve' }) {
  const thread = await agent.thread(threadId);
  await agent.run('Book Paris.', thread, { principal: asker });
  const request = () => {
    const [first] = thread.activeApprovalRequests;
    if (first === undefined) throw new Error('Nothing is asked.');
    return first;
  };
  const { requestId } = request();
  await agent.run(request().approve({ input: { city: 'Rome' } }), thread, { principal: ada });
  await agent.reassign(thread, requestId, 'dee', { principal: ben });
  await agent.run(request().approve(), thread, { principal: person('dee') });
  return { thread, request, requestId };
}

/** Every byte of what Cy's browser is sent. */
function browserOf(agent: Agent) {
  const page = createUiHandler({ agent, authorize: () => ({ principal: cy }) });
  const agUi = createAgUiHandler({ agent, authorize: () => ({ principal: cy }), keepAliveMs: 0 });
  const sent = async (handler: typeof page, path: string, body?: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`${origin}${path}`, {
      ...(body && { method: 'POST', headers, body: JSON.stringify(body) }),
    });
    return (await handler(request)).text();
  };
  return {
    get: async (query = '') => sent(page, `/chat?id=${threadId}${query}`),
    post: async (body: object) => sent(page, '/chat', { id: threadId, ...body }),
    run: async (more: object = {}) =>
      sent(agUi, '/run', {
        threadId,
        runId: 'r',
        protocolVersion: '1.0',
        messages: [],
        tools: [],
        context: [],
        ...more,
      }),
  };
}

describe.each(['worker', 'manager'] as const)(
  'of the request of a call that the %s has open',
  (which) => {
    test("no byte that Cy's browser gets has another voter's token, and the people are named", async () => {
      const agent = agents()[which];
      const { requestId } = await voted(agent);
      const browser = browserOf(agent);
      const yes = { type: 'approval-response', requestId, approved: true };
      const mine = { answers: [{ ...yes, digest: 'another' }] };
      const open = {
        page: await browser.get(),
        stream: await browser.get('&stream'),
        refused: await browser.post(mine),
        message: await browser.post({
          message: { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'And?' }] },
        }),
        interrupts: await browser.run(),
      };
      for (const [name, text] of Object.entries(open))
        expect([name, text]).toEqual([name, expect.not.stringContaining('secret-of')]);
      for (const text of [open.page, open.stream, open.interrupts]) {
        expect(text).toMatch(/"person":"ada"/);
        expect(text).toMatch(/"person":"dee"/);
        expect(text).toMatch(/"from":"ben","to":"dee"/);
        expect(text).toMatch(/"edit":\{"original"/);
        expect(text).toContain('eve');
      }
      const ended = [
        await browser.post({ answers: [yes] }),
        await browser.get(),
        await browser.get('&stream'),
        await browser.run(),
      ];
      expect(ended.join()).not.toContain('secret-of');
      expect(ended[1]).toContain('Rome');
    });
  },
);

test("no byte that Cy's inbox gets has another voter's token, and the people are named", async () => {
  const { worker } = agents();
  const { thread, request, requestId } = await voted(worker);
  const handle = createInboxHandler({
    agents: [worker],
    authorize: () => ({ principal: cy }),
    maySee: () => true,
  });
  const read = async (): Promise<string> => {
    const paths = ['list=mine', 'list=all', 'list=decided'].map((query) => `requests?${query}`);
    const all = [...paths, `requests/${requestId}`, 'counts'].map(async (path) =>
      (await handle(new Request(`${origin}/inbox/api/${path}`))).text(),
    );
    return (await Promise.all(all)).join('\n');
  };
  const open = await read();
  expect(open).toContain('"person":"ada"');
  expect(open).toContain('"from":"ben","to":"dee"');
  expect(open).not.toContain('secret-of');
  await worker.run(request().approve(), thread, { principal: cy });
  const ended = await read();
  expect(ended).toContain('"decidedBy":"cy"');
  expect(ended).not.toContain('secret-of');
});

test('the server keeps the principals: the log and its requests have them, a copy for browsers does not', async () => {
  const { thread, request } = await voted(agents().worker);
  expect(request().votes).toMatchObject([{ principal: ada }, { principal: person('dee') }]);
  const shown = hidePrincipals(request());
  expect(JSON.stringify(shown)).not.toContain('secret-of');
  expect(shown).toMatchObject({
    digest: request().digest,
    votes: [{ person: 'ada' }, { person: 'dee' }],
  });
  expect(JSON.stringify(thread.events)).toContain('secret-of-ada');
});
