import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import {
  type Agent,
  type AgentThread,
  HoldpointError,
  type MayAnswer,
  type UserApproval,
} from 'holdpoint';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';

/** People, each as an app may pass them: one person in several forms, and nobody in several. */
const principals = [
  'ann',
  'bob',
  'BOB',
  { id: 'bob' },
  'cy',
  { sub: 'dee' },
  'eve',
  undefined,
  null,
  '',
  7,
] as const;

const teams = new Map([['owners', ['ann', 'bob', 'cy']]]);

/** Who may answer what. */
const mayAnswers = {
  /* Everybody: the agent has none. */
  nobodyAsks: undefined,
  byName: ({ principal, request }) => {
    if (request.type === 'question-request' || request.approvers === undefined) return true;
    const name =
      typeof principal === 'string' ? principal.toLowerCase() : JSON.stringify(principal);
    return request.approvers.some((each) => each === name || teams.get(each)?.includes(name));
  },
  onlyNo: ({ response }) => response.type === 'approval-response' && !response.approved,
  onlyYes: ({ response }) => response.type !== 'approval-response' || response.approved,
  notBob: ({ principal }) => principal !== 'bob',
  throwing: ({ principal }) => {
    if (principal === 'cy') throw new Error('The directory is down.');
    return true;
  },
} satisfies Record<string, MayAnswer | undefined>;

const who = fc.constantFrom(...principals);
const names = Object.keys(mayAnswers);

/** What is asked, of whom, and what was done with it before. */
const anyCases = fc.record({
  terms: fc.record(
    {
      approvers: fc.constantFrom(['owners'], ['dee']),
      notRequester: fc.constant(true as const),
      quorum: fc.constantFrom(2, 3),
      requireReason: fc.constant(true as const),
      editable: fc.constantFrom(true as const, ['to']),
      remember: fc.constantFrom(
        { scope: 'everyone', match: 'any' } as const,
        { scope: 'principal', match: 'exact' } as const,
        { scope: 'thread', match: ['to'] } as { scope: 'thread'; match: string[] },
      ),
    },
    { requiredKeys: [] },
  ),
  asker: fc.constantFrom('ann', 'bob', { id: 'bob' }, undefined),
  mayAnswer: fc.constantFrom(...names),
  isBelow: fc.boolean(),
  isNamed: fc.boolean(),
  before: fc.array(
    fc.record({
      type: fc.constantFrom(
        'approve' as const,
        'approve' as const,
        'edit' as const,
        'reassign' as const,
      ),
      who,
      to: fc.constantFrom('dee', 'eve'),
    }),
    { maxLength: 3 },
  ),
  who,
});

/** Those in which somebody can answer. */
export const cases = anyCases.filter(
  ({ terms, asker, mayAnswer }) =>
    (terms.approvers === undefined || mayAnswer !== 'nobodyAsks') &&
    (terms.notRequester === undefined || asker !== undefined),
);

type Case = typeof cases extends fc.Arbitrary<infer CASE> ? CASE : never;

/** The same request each time: the thread in which it waits, after what was done with it. `undefined` if nothing is asked. */
async function askedAgain({ terms, asker, isBelow, isNamed, before, ...rest }: Case) {
  const office = new AgentOffice();
  const mayAnswer = new Map<string, MayAnswer | undefined>(Object.entries(mayAnswers)).get(
    rest.mayAnswer,
  );
  const rule: UserApproval = { type: 'user-approval', ...terms };
  const people = {
    ...(mayAnswer && { mayAnswer }),
    ...(isNamed && {
      principalId: (principal: unknown) => {
        if (principal === 'eve') throw new Error('Nobody knows eve.');
        return typeof principal === 'string' ? principal : JSON.stringify(principal);
      },
    }),
  };
  const toolApproval = { pay: () => rule };
  const payer = office.payer('payer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Done.' }], {
    toolApproval,
    ...people,
  });
  const top = isBelow
    ? office.agent('manager', [{ calls: [ask('m1', 'payer', 'Pay Ann.')] }, { text: 'Done.' }], {
        tools: { payer: office.tool(payer) },
        ...people,
      })
    : payer;
  /* A directory that is down is reported. */
  for (const each of [payer, top]) each.on('setting-failed', () => {});
  const thread = await top.thread('t');
  await top.run('Pay Ann.', thread, { principal: asker });
  for (const { type, who: principal, to } of before) {
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) return undefined;
    const by = { principal };
    const yes = request.approve({ reason: 'Fine.', ...(type === 'edit' && { input: { to } }) });
    const done =
      type === 'reassign'
        ? top.reassign(thread, request.requestId, to, by)
        : top.respond(yes, thread, by);
    /* What is refused has not happened. */
    await done.catch(() => {});
  }
  const [request] = thread.activeApprovalRequests;
  return request && { agent: top, thread, request };
}

/** What was recorded about a request by something that a person did, and the code of the error if it was refused. */
async function recordedBy(
  thread: AgentThread,
  agent: Agent,
  act: () => Promise<void>,
): Promise<{ types: string[]; refused: unknown }> {
  const before = (await agent.thread(thread.id)).revision;
  let refused: unknown;
  try {
    await act();
  } catch (error) {
    refused = error;
  }
  const { events } = await agent.thread(thread.id);
  return { types: events.slice(before).map(({ type }) => type), refused };
}

const changes = (types: readonly string[]) =>
  types.some((type) => type === 'request-answered' || type === 'request-voted');

/** What the question says that the answer does not do, or the other way round. */
export async function findLies(played: Case): Promise<string[]> {
  const asked = await askedAgain(played);
  if (asked === undefined) return [];
  const { agent, thread, request } = asked;
  const by = { principal: played.who };
  const { revision } = await agent.thread(thread.id);
  const [rights] = await agent.rights([request], by);
  if (rights === undefined) return ['no rights'];
  const lies: string[] = [];
  if ((await agent.thread(thread.id)).revision !== revision) lies.push('the question wrote');
  const { requests } = await agent.requests({ ...by, include: 'all' });
  const listed = requests.map((each) => each.rights);
  if (!isDeepStrictEqual(listed, [rights])) lies.push(`the row says ${JSON.stringify(listed)}`);
  const why = { reason: 'Fine.' };
  const allowed = request.remember;
  const acts = {
    approve: [rights.mayApprove, (now: typeof asked) => now.request.approve(why)],
    reject: [rights.mayReject, (now: typeof asked) => now.request.reject()],
    edit: [
      rights.mayEdit,
      (now: typeof asked) => now.request.approve({ ...why, input: { to: 'Zoe' } }),
    ],
    remember: [
      rights.mayRemember !== undefined,
      (now: typeof asked) =>
        now.request.approve({
          ...why,
          ...(allowed && { remember: rights.mayRemember ?? { ...allowed, scope: 'thread' } }),
        }),
    ],
  } as const;
  for (const [name, [says, answer]] of Object.entries(acts)) {
    if (name === 'remember' && allowed === undefined) continue;
    const now = await askedAgain(played);
    if (now === undefined) return ['it is not the same each time'];
    const { types, refused } = await recordedBy(now.thread, now.agent, async () =>
      now.agent.respond(answer(now), now.thread, by),
    );
    if (says && !changes(types)) lies.push(`${name}: it says yes; ${String(refused)}`);
    if (!says && changes(types))
      lies.push(`${name}: it says no, ${rights.refusal}; ${types.join()}`);
    if (says && HoldpointError.isInstance(refused)) lies.push(`${name}: yes, but ${refused.code}`);
  }
  const moves = {
    withdraw: [
      rights.mayWithdraw,
      (now: typeof asked) => now.agent.withdraw(now.thread, now.request.requestId, by),
    ],
    reassign: [
      rights.mayReassign,
      (now: typeof asked) => now.agent.reassign(now.thread, now.request.requestId, 'eve', by),
    ],
  } as const;
  for (const [name, [says, act]] of Object.entries(moves)) {
    const now = await askedAgain(played);
    if (now === undefined) return ['it is not the same each time'];
    const { refused } = await recordedBy(now.thread, now.agent, async () => act(now));
    if (says !== (refused === undefined)) lies.push(`${name}: ${says}, but ${String(refused)}`);
  }
  return lies;
}
