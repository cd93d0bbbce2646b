import { tool } from 'ai';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, look, memoryWorld, travelWorld } from '../support/travel-world.ts';

test('a thread that was deleted is gone, and its id begins anew', async () => {
  const world = memoryWorld([{ text: 'Hello.' }, { text: 'Who are you?' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Hi', thread);
  await agent.delete(thread);
  expect(await world.store.list({})).toEqual([]);
  const fresh = await agent.thread('t');
  expect([fresh.revision, fresh.messages]).toEqual([0, []]);
  expect(await agent.run('Hi', fresh)).toMatchObject({ text: 'Who are you?' });
});

test('handles on a thread that was deleted say so, here and in other processes', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const elsewhere = world.agent();
  const handle = await elsewhere.thread('t');
  await agent.delete(thread);
  const answers = approvalRequests.map((request) => request.approve());
  const works = [
    elsewhere.run(answers, handle),
    elsewhere.run([], handle),
    elsewhere.run('Hello?', handle, { whilePending: 'cancel' }),
    elsewhere.respond(answers, handle),
    elsewhere.cancel(handle),
    elsewhere.delete(handle),
    agent.run(answers, thread),
  ];
  expect(await Promise.all(works.map(errorCode))).toEqual(works.map(() => 'thread-deleted'));
  expect(world.ran).toEqual([]);
  expect(await world.store.list({})).toEqual([]);
});

test('a thread that is being run is not deleted; once the run has ended it is', async () => {
  const store = memoryStore();
  const world = travelWorld(
    scriptedModel([{ calls: [look('c1', 'Paris')] }, { text: 'Done.' }]),
    () => store,
  );
  const refused: unknown[] = [];
  const execute = async () => {
    const other = world.agent();
    refused.push(await errorCode(other.delete(await other.thread('t'))));
    return 'found';
  };
  const tools = { look: tool({ inputSchema: cityInput, execute }) };
  const agent = world.agent({ tools, toolApproval: {} });
  const thread = await agent.thread('t');
  expect(await agent.run('Look', thread)).toMatchObject({ status: 'completed' });
  expect(refused).toEqual(['thread-busy']);
  await agent.delete(thread);
  expect(await store.list({})).toEqual([]);
});

test('an answer that is recorded at the same moment wins, or the deletion does: nothing is half there', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const other = world.agent();
  const handle = await other.thread('t');
  const answers = approvalRequests.map((request) => request.approve());
  const outcomes = await Promise.all([
    errorCode(other.respond(answers, handle)),
    errorCode(agent.delete(thread)),
  ]);
  expect(outcomes[1]).toBe('no error');
  expect(['no error', 'thread-deleted']).toContain(outcomes[0]);
  expect(await world.store.list({})).toEqual([]);
  expect(await errorCode(other.run([], handle))).toBe('thread-deleted');
});

test('threads that nobody has touched for long are found by age, and deleted', async () => {
  const clock = { now: 0 };
  const world = memoryWorld([{ text: 'Hello.' }, { text: 'Hello.' }, { text: 'Hello.' }]);
  const agent = world.agent({ now: () => clock.now });
  for (const id of ['old', 'older', 'new']) {
    clock.now = { old: 20, older: 10, new: 1_000 }[id] ?? 0;
    await agent.run('Hi', await agent.thread(id));
  }
  const old = { updatedBefore: 500, order: 'oldest', status: 'idle' } as const;
  expect(await world.store.count({ updatedBefore: 500 })).toBe(2);
  for (
    let page = await world.store.list(old);
    page.length > 0;
    page = await world.store.list(old)
  ) {
    for (const { threadId } of page) await agent.delete(await agent.thread(threadId));
  }
  expect(await world.store.list({})).toMatchObject([{ threadId: 'new' }]);
});

test('a run that stalled past its lease writes nothing into a new thread of the same id', async () => {
  const store = memoryStore();
  const clock = { now: 0 };
  const answer = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { model } = scriptedModel([{ text: 'Of old.' }]);
  const slowModel = new Proxy(Object(model), {
    get: (target, name) =>
      name === 'doGenerate'
        ? async (options: unknown) => {
            asked.resolve();
            await answer.promise;
            return Reflect.apply(target.doGenerate, target, [options]);
          }
        : Reflect.get(target, name),
  });
  const options = { now: () => clock.now, leaseMs: 1_000 };
  const stalled = travelWorld({ model: slowModel, requests: 0 }, () => store).agent(options);
  const old = await stalled.thread('t');
  const running = errorCode(stalled.run('Hi', old));
  await asked.promise;
  clock.now += 1_000;
  const world = travelWorld(scriptedModel([{ text: 'Of new.' }]), () => store);
  const agent = world.agent(options);
  await agent.delete(await agent.thread('t'));
  const fresh = await agent.thread('t');
  agent.on('run-started', () => answer.resolve());
  expect(await agent.run('Hi', fresh)).toMatchObject({ status: 'completed', text: 'Of new.' });
  expect(await running).toBe('thread-deleted');
  expect((await world.agent(options).thread('t')).messages).toHaveLength(2);
});

test('a call that waits only when its thread is being deleted is cancelled with its agent', async () => {
  const base = memoryStore();
  const office = new AgentOffice(base);
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
  const tools = { buy: office.tool(buyer) };
  const buys = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }];
  const manager = office.agent('manager', [{ calls: [], text: 'Hello.' }, ...buys], { tools });
  await manager.run('Hello.', await manager.thread('t'));
  let callId: string | undefined;
  const slow = office.agent('manager', [], {
    tools,
    store: {
      ...base,
      delete: async (...input) => {
        if (callId === undefined) {
          const thread = await manager.thread('t');
          await manager.run('Go.', thread);
          callId = thread.calls[0]?.agent?.threadId;
        }
        await base.delete(...input);
      },
    },
  });
  await slow.delete(await slow.thread('t'));
  const inner = await buyer.thread(callId ?? '');
  expect([inner.status, inner.activeRequests]).toEqual(['idle', []]);
  expect((await manager.thread('t')).revision).toBe(0);
});
