import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Output, stepCountIs, tool } from 'ai';
import type { AgentOptions, AgentThread, ApprovalRequest } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { book, travelTools } from '../support/travel-world.ts';

const root = join(import.meta.dirname, '..', '..');
/* In the project, so that the built files find their packages. */
const cache = join(root, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'holdpoint-replaced-'));

let holdpoint: typeof import('holdpoint');
let tools: typeof import('holdpoint/tools');

/* As a deployment that replaces the package under a process that goes on. */
beforeAll(async () => {
  const bundler = join(root, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  const parameters = [bundler, '--config', 'rolldown.config.ts', '--no-sourcemap', '--dir', folder];
  execFileSync(process.execPath, parameters, { cwd: root, stdio: 'pipe' });
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  [holdpoint, tools] = await Promise.all([load('index.js'), load('tools/index.js')]);
  rmSync(folder, { recursive: true });
}, 60_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const two = { type: 'user-approval', quorum: 2, approvers: ['managers'] } as const;

/** An agent of the package that has been replaced, and a thread in which it has asked. */
async function asked(steps: ScriptedStep[], options: Partial<AgentOptions> = {}) {
  const clock = { now: 1_000_000 };
  const store = holdpoint.memoryStore();
  const ran: Parameters<typeof travelTools>[0] = [];
  const agent = holdpoint.createAgent({
    model: scriptedModel([...steps, { text: 'Done.' }]).model,
    name: 'office',
    tools: travelTools(ran),
    toolApproval: { book: 'user-approval' },
    mayAnswer: () => true,
    now: () => clock.now,
    maxRetries: 0,
    store,
    ...options,
  });
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: 'ann' });
  return { agent, thread, store, clock, ran, request: onlyRequest(thread) };
}

function onlyRequest({ activeApprovalRequests }: AgentThread): ApprovalRequest {
  const [request, other] = activeApprovalRequests;
  if (request === undefined || other !== undefined) throw new Error('Not one request.');
  return request;
}

const paris = { calls: [book('c1', 'Paris')] };
const bob = { principal: 'bob' };
const cy = { principal: 'cy' };

test('a vote is counted, taken back, and given again', async () => {
  const { agent, thread, request, ran } = await asked([paris], { toolApproval: { book: two } });
  await agent.respond(holdpoint.approve(request), thread, bob);
  await agent.withdraw(thread, request.requestId, bob);
  await agent.reassign(thread, request.requestId, 'eve', bob);
  await agent.respond(holdpoint.approve(onlyRequest(thread)), thread, bob);
  await agent.run(holdpoint.approve(onlyRequest(thread)), thread, cy);
  expect(ran).toHaveLength(1);
});

test('an answer is remembered, used and revoked', async () => {
  const { agent, thread, request, ran } = await asked(
    [paris, { calls: [book('c2', 'Paris')] }, { text: 'Done.' }, { calls: [book('c3', 'Paris')] }],
    { toolApproval: { book: { type: 'user-approval', remember: { scope: 'everyone' } } } },
  );
  await agent.run(holdpoint.approve(request, { remember: true }), thread, bob);
  expect(ran).toHaveLength(2);
  const [grant] = await agent.grants();
  if (grant === undefined) throw new Error('Nothing was remembered.');
  await agent.revoke(grant, bob);
  await agent.run('Again', thread, { principal: 'ann' });
  expect(onlyRequest(thread).toolCall?.toolCallId).toBe('c3');
});

test('an approved edit runs, unless the rule demands more for it', async () => {
  const { agent, thread, request, ran } = await asked([paris], {
    toolApproval: {
      book: ({ price }: { price?: number }) => ({
        type: 'user-approval',
        editable: true,
        ...(price === 9 && { quorum: 2 }),
      }),
    },
  });
  const input = { city: 'Paris', price: 9 };
  await agent.run(holdpoint.approve(request, { input }), thread, bob);
  expect(ran).toEqual([]);
  await agent.respond(holdpoint.approve(onlyRequest(thread)), thread, bob);
  await agent.run(holdpoint.approve(onlyRequest(thread)), thread, cy);
  expect(ran).toMatchObject([{ input }]);
});

test('an expired request is asked again, and cancelled', async () => {
  const status = { type: 'user-approval', expiresAfterMs: 1_000, onExpiry: 'ask-again' } as const;
  const { agent, thread, request, clock } = await asked([paris], {
    toolApproval: { book: status },
  });
  clock.now += 1_000;
  await agent.run([], thread);
  expect(onlyRequest(thread).follows).toBe(request.requestId);
  const { status: ended } = await agent.cancel(thread, 'No.', bob);
  expect(ended).toBe('cancelled');
});

test('a lost call is settled, and the thread is resumed', async () => {
  const lost = new Promise<string>(() => {});
  const { agent, thread, request } = await asked([paris], {
    tools: {
      book: tool({ inputSchema: z.object({ city: z.string() }), execute: async () => lost }),
    },
    timeout: { toolMs: 1 },
    abortGraceMs: 5,
  });
  await agent.run(holdpoint.approve(request), thread, bob);
  expect(thread.status).toBe('indeterminate');
  await agent.settle(thread, 'c1', { status: 'succeeded', output: 'booked' }, bob);
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
});
test('a sub-agent counts votes, and takes them back', async () => {
  const ran: Parameters<typeof travelTools>[0] = [];
  const below = holdpoint.createAgent({
    model: scriptedModel([paris, { text: 'Booked.' }]).model,
    name: 'booker',
    tools: travelTools(ran),
    toolApproval: { book: two },
    mayAnswer: () => true,
  });
  const { agent, thread } = await asked(
    [{ calls: [{ id: 'd1', name: 'booker', input: '{"prompt":"Book"}' }] }],
    {
      tools: { booker: tools.agentTool(below, { description: 'Books flights.' }) },
      toolApproval: {},
    },
  );
  await agent.respond(holdpoint.approve(onlyRequest(thread)), thread, bob);
  await agent.withdraw(thread, onlyRequest(thread).requestId, bob);
  await agent.respond(holdpoint.approve(onlyRequest(thread)), thread, bob);
  await agent.run(holdpoint.approve(onlyRequest(thread)), thread, cy);
  expect(ran).toHaveLength(1);
});

test('each option of an agent and of a run works', async () => {
  const ended: string[] = [];
  const { agent, thread, request } = await asked([paris, { text: '{"city":"Paris"}' }], {
    output: Output.object({ schema: z.object({ city: z.string() }) }),
    prepareStep: () => ({ temperature: 0 }),
    stopWhen: stepCountIs(9),
    onStepEnd: ({ finishReason }) => void ended.push(finishReason),
  });
  const response = await agent.run(holdpoint.approve(request), thread, {
    ...bob,
    timeout: 60_000,
  });
  expect(response.output).toEqual({ city: 'Paris' });
  expect(ended).toHaveLength(2);
});

test('a thread is verified, restored and imported, and an app asks in it', async () => {
  const { agent, thread } = await asked([paris]);
  await thread.verify();
  const { agent: other } = await asked([paris]);
  const json: unknown = JSON.parse(JSON.stringify(thread).replaceAll('"t"', '"u"'));
  await expect(other.restore(json)).rejects.toThrow(holdpoint.HoldpointError);
  expect((await agent.restore(JSON.parse(JSON.stringify(thread)))).revision).toBe(thread.revision);
  const messages = [{ role: 'user' as const, content: 'Hi.' }];
  const imported = await agent.thread('imported', { messages });
  await agent.requestApproval(imported, { text: 'Publish?', key: 'k' });
  expect(onlyRequest(imported).text).toBe('Publish?');
});
