import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { rechainedJson } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { answeredBy } from './office.ts';

const file = join(import.meta.dirname, '..', 'golden', 'policy-v1.json');
const later = [{ calls: [book('c6', 'Bern')] }, { text: 'Done.' }];
const script = [
  { calls: [book('c1', 'Paris'), book('c2', 'Rome')] },
  { calls: [book('c3', 'Paris'), book('c4', 'Oslo')] },
  { calls: [book('c5', 'Bonn')] },
];
const teams = { owners: ['ann', 'bob', 'cy'], managers: ['dee', 'eve'] };
const quorum = {
  type: 'user-approval',
  text: 'A flight',
  approvers: ['owners'],
  notRequester: true,
  quorum: 2,
  requireReason: true,
  editable: ['price'],
  remember: { scope: 'thread', match: ['city'], uses: 3, expiresAfterMs: 60_000_000 },
  risk: 'high',
  metadata: { budget: 7 },
  expiresAfterMs: 100_000,
  remindBeforeMs: 20_000,
  onExpiry: { type: 'escalate', approvers: ['managers'], expiresAfterMs: 50_000 },
} as const;

/** An agent in the office of a golden thread. */
function golden(steps: Parameters<typeof memoryWorld>[0], now: () => number) {
  const world = memoryWorld(steps);
  let ids = 0;
  const agent = world.agent({
    store: memoryStore(),
    tools: travelTools(world.ran),
    toolApproval: {
      book: ({ city }: { city: string }) =>
        city === 'Oslo'
          ? { type: 'user-approval', expiresAfterMs: 100_000, onExpiry: 'ask-again' }
          : city === 'Bern'
            ? { ...quorum, quorum: 3, expiresAfterMs: 5_000_000 }
            : quorum,
    },
    mayAnswer: answeredBy(teams),
    now,
    generateId: () => `golden-id-${String((ids += 1)).padStart(12, '0')}`,
  });
  return { world, agent };
}

test.runIf(process.env['WRITE_GOLDEN'] === '1')('writes the golden thread', async () => {
  let now = 1_795_000_000_000;
  const { agent } = golden([...script, ...later], () => now);
  const thread = await agent.thread('golden');
  const asked = (city: string) => {
    const found = thread.activeApprovalRequests.find(
      ({ toolCall }) => JSON.stringify(toolCall?.input) === JSON.stringify({ city }),
    );
    if (found === undefined) throw new Error(`Nothing is asked about ${city}.`);
    return found;
  };
  const reason = 'It is cheap.';
  const remember = { scope: 'thread', uses: 2 } as const;
  await agent.run('Book two', thread, { principal: 'ann' });
  /* A vote that is withdrawn, one on behalf of another, an edit, and a standing approval. */
  const { requestId } = asked('Paris');
  const web = { principal: 'bob', channel: 'web' };
  await agent.respond(asked('Paris').approve({ reason }), thread, web);
  await agent.withdraw(thread, requestId, web);
  await agent.reassign(thread, requestId, 'dee', web);
  const input = { city: 'Paris', price: 9 };
  const shown = () => {
    const found = thread.activeApprovalRequests.find((request) => request.requestId === requestId);
    if (found === undefined) throw new Error('It was decided by one.');
    return found;
  };
  await agent.respond(shown().approve({ reason, input }), thread, { principal: 'dee' });
  /* Only their own answers can be remembered. */
  await agent.respond(shown().approve({ reason, input, remember }), thread, web);
  await agent.respond(shown().approve({ reason, remember }), thread, { principal: 'cy' });
  /* Reminded, and escalated. */
  now += 80_000;
  await agent.run([], thread);
  now += 20_000;
  await agent.run([], thread);
  await agent.run(asked('Rome').reject('Too far.'), thread, { principal: 'eve' });
  /* The standing approval has decided c3. c4 is asked about twice. */
  now += 100_000;
  await agent.run([], thread);
  await agent.run(asked('Oslo').approve(), thread, { principal: 'bob' });
  await agent.run(asked('Bonn').reject('No.'), thread, {
    principal: 'bob',
  });
  const [grant] = thread.grants;
  if (grant === undefined) throw new Error('There is no standing approval.');
  await agent.revoke(grant, { principal: 'cy', channel: 'web' });
  await agent.respond(asked('Bern').approve({ reason }), thread, { principal: 'bob' });
  writeFileSync(file, `${JSON.stringify(thread)}\n`);
});

const newEvents = [
  'request-voted',
  'vote-withdrawn',
  'request-reassigned',
  'request-reminded',
  'grant-created',
  'grant-used',
  'grant-revoked',
] as const;

test('a thread with every event of a policy is read as it was written', async () => {
  const text = readFileSync(file, 'utf8').trim();
  const { world, agent } = golden([{ text: 'Done.' }], () => 1_795_000_300_000);
  const thread = await agent.restore(text);
  expect(JSON.stringify(thread)).toBe(text);
  const types = new Set<string>(thread.events.map(({ type }) => type));
  expect(newEvents.filter((type) => !types.has(type))).toEqual([]);
  expect(thread.calls.map(({ status }) => status)).toEqual([
    'succeeded',
    'denied',
    'succeeded',
    'succeeded',
    'denied',
    'waiting',
  ]);
  expect(thread.calls[0]).toMatchObject({
    input: { city: 'Paris', price: 9 },
    edit: { original: { city: 'Paris' }, person: 'dee' },
  });
  const follows = thread.events.flatMap((event) =>
    event.type === 'request-opened' && event.request.type === 'approval-request'
      ? (event.request.follows ?? [])
      : [],
  );
  expect(follows).toHaveLength(2);
  /* The vote counts: two more are needed, and the digest is the same. */
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  expect(request.votes?.map(({ person }) => person)).toEqual(['bob']);
  const yes = request.approve({ reason: 'Fine.' });
  await agent.respond(yes, thread, { principal: 'bob' });
  expect(await agent.run(yes, thread, { principal: 'cy' })).toMatchObject({ status: 'waiting' });
  expect(world.ran).toEqual([]);
});

test('a log in which too few people decided a request is refused', async () => {
  const text = readFileSync(file, 'utf8');
  const last = text.lastIndexOf('"type":"request-voted"');
  const forged = `${text.slice(0, last)}${text.slice(last).replace('request-voted', 'request-answered')}`;
  const { agent } = golden([], () => 1_795_000_300_000);
  expect(await errorCode(agent.restore(rechainedJson(forged)))).toBe('log-tampered');
});
