import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AgentThread, ThreadEvent } from 'holdpoint';
import { expect, test } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { subAgentFaults } from './audit-sub-agents.ts';
import { describeConnections, describeThreads } from './describe-threads.ts';
import { openLedger, openOffice, type PayingOffice } from './paying-office.ts';
import {
  answerOf,
  eventsOfEach,
  isPaid,
  type SubAgentScenario,
  threadsBelow,
} from './paying-staff.ts';
import { askingSiblings, scenarioNamed } from './sub-agent-scenarios.ts';
import { waitUntil } from '../support/waiting.ts';

const program = join(import.meta.dirname, '..', 'support', 'sub-agents-process.ts');
const patience = { timeout: 90_000, interval: 200 };
const fleetSize = 20;

type Role = 'lead' | 'work' | 'work-for-all';

/** A process, and the boundary at which it killed itself; empty if it did not. */
interface Staffed extends AsyncDisposable {
  child: ChildProcess;
  death: Promise<string>;
}

/** A database in which processes work, and people answer from this one. */
interface Site extends AsyncDisposable {
  scenario: SubAgentScenario;
  office: PayingOffice;
  start(role: Role, killAt?: number): Staffed;
  /** Where threads and those below them stand, and what each process does. */
  describe(threadIds: readonly string[]): Promise<string>;
}

async function openSite(scenario: SubAgentScenario): Promise<Site> {
  const server = sharedPostgres();
  const database = await server.createDatabase();
  const pool = server.pool(database);
  await openLedger(pool);
  const office = openOffice(pool, scenario);
  const started = new Map<string, ChildProcess>();
  /* The server ends a statement that it has got before it sees that its client is dead. */
  const isGone = async (name: string): Promise<boolean> => {
    const left = 'select from pg_stat_activity where application_name = $1';
    return (await pool.query(left, [name])).rowCount === 0;
  };
  return {
    scenario,
    office,
    start(role, killAt = 0) {
      const name = `${role}-${started.size + 1}`;
      const address = `${server.connectionString(database)}?application_name=${name}`;
      const input = [address, scenario.name, role, String(killAt)];
      const child = spawn(process.execPath, ['--conditions=holdpoint-source', program, ...input], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      started.set(name, child);
      const exited = once(child, 'exit');
      const dies = async (): Promise<string> => {
        const [said, [code]] = await Promise.all([text(child.stdout), exited]);
        expect(code === 0 || code === null, `${name} has failed`).toBe(true);
        await waitUntil(async () => isGone(name), patience);
        return said.trim();
      };
      const death = dies();
      return {
        child,
        death,
        async [Symbol.asyncDispose]() {
          child.kill('SIGKILL');
          await death;
        },
      };
    },
    async describe(threadIds) {
      const alive = [...started].filter(([, child]) => isAlive(child));
      for (const [, child] of alive) child.kill('SIGUSR2');
      return [
        `Threads that have not ended: ${threadIds.length}. ${await describeThreads(office, threadIds)}`,
        `Live processes: ${alive.map(([name, { pid }]) => `${name} (${pid})`).join(', ')}.`,
        await describeConnections(pool),
      ].join('\n');
    },
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/**
 * Kills a process at each boundary of a thread in turn. `onDeath` learns of each thread whose process died. On a busy machine threads have a boundary
 * more or less than others, which moves those after it: where a place was missed, the boundaries are gone through again.
 */
async function killEverywhere(site: Site, onDeath: (threadId: string) => void): Promise<string[]> {
  const boundaries: string[] = [];
  let count = 0;
  const killAtBoundary = async (killAt: number): Promise<string> => {
    count += 1;
    const threadId = `t${count}`;
    const { child, death } = site.start('lead', killAt);
    child.stdin?.end(`${threadId}\n`);
    const boundary = await death;
    if (boundary !== '') boundaries.push(boundary);
    onDeath(threadId);
    return boundary;
  };
  let next = 1;
  const killing = async (): Promise<void> => {
    while ((await killAtBoundary(next++)) !== '');
  };
  await Promise.all([killing(), killing()]);
  const most = boundaries.length;
  for (let again = 1; again <= most && hasMissed(site.scenario, boundaries); again += 1)
    await killAtBoundary(again);
  return boundaries;
}

function hasMissed(scenario: SubAgentScenario, boundaries: readonly string[]): boolean {
  return placesOf(boundaries).length < placesWith(scenario).length;
}

/** Those of the threads that have not come to their end. */
async function unfinished({ office }: Site, threadIds: Iterable<string>): Promise<string[]> {
  const heads = new Map(
    (await office.store.list({ agent: 'manager', limit: 1_000 })).map((head) => [
      head.threadId,
      head,
    ]),
  );
  return [...threadIds].filter((threadId) => {
    const { status, openRequests, nextDeadline } = heads.get(threadId) ?? {};
    return status !== 'idle' || openRequests !== 0 || nextDeadline !== undefined;
  });
}

/**
 * What a person does about a thread: sends the message that was not recorded, answers what is asked, and settles what is lost, once
 * no process is left that may still pay.
 */
async function attend(
  { office, scenario }: Site,
  threadId: string,
  isOver: boolean,
): Promise<void> {
  const { outermost, agents } = office;
  const thread = await outermost.thread(threadId);
  if (thread.revision === 0) await outermost.run('Go.', thread, { messageId: 'm' });
  const lost = isOver ? thread.calls.flatMap(({ agent }) => agent?.lostCalls ?? []) : [];
  const payments = lost.length === 0 ? [] : await office.payments();
  for (const { agent: name, threadId: childId, toolCallId } of lost) {
    const agent = agents.get(name);
    const outcome = isPaid(payments, childId, toolCallId)
      ? ({ status: 'succeeded', output: 'paid' } as const)
      : ({ status: 'retry' } as const);
    await agent?.settle(await agent.thread(childId), toolCallId, outcome);
  }
  if (lost.length > 0) await outermost.run([], thread);
  for (const request of thread.activeApprovalRequests) {
    await outermost.respond(answerOf(scenario, request), thread);
  }
}

/** Waits for threads to end. If they don't, the error says where they stand and what the processes do. */
async function orDescribe<RESULT>(
  site: Site,
  threadIds: Iterable<string>,
  waiting: Promise<RESULT>,
): Promise<RESULT> {
  try {
    return await waiting;
  } catch (cause) {
    const { message } = cause instanceof Error ? cause : { message: String(cause) };
    const found = await site.describe(await unfinished(site, threadIds));
    throw new Error(`${message}\n${found}`, { cause });
  }
}

/** Attends to the threads until the work elsewhere and all of them have ended. */
async function attendUntil<RESULT>(
  site: Site,
  threadIds: ReadonlySet<string>,
  work: Promise<RESULT>,
): Promise<RESULT> {
  let isOver = false;
  const working = work.finally(() => {
    isOver = true;
  });
  const attending = waitUntil(async () => {
    const wasOver = isOver;
    const left = await unfinished(site, threadIds);
    await Promise.all(left.map(async (threadId) => attend(site, threadId, wasOver)));
    return wasOver && left.length === 0;
  }, patience);
  const [result] = await orDescribe(site, threadIds, Promise.all([working, attending]));
  return result;
}

/** What is wrong with a thread that has ended and those below it, and how often which city was paid for it. */
async function verdict({ office, scenario }: Site, threadId: string) {
  const threads = await threadsBelow(office, threadId);
  const events = await eventsOfEach(office.store, threads);
  const payments = (await office.payments()).filter((paid) => events.has(paid.threadId));
  const due = Object.values(scenario.agents)
    .flat()
    .filter(([name, city]) => name === 'pay' && scenario.approves(city));
  return {
    threadId,
    isAllPaid: payments.length === due.length,
    lost: threads.flatMap((thread) => lostIn(thread, events.get(thread.id) ?? [])),
    faults: [
      ...subAgentFaults({ scenario, payments }, events),
      ...threads.flatMap((thread) => endFaults(thread, events.get(thread.id) ?? [])),
    ],
  };
}

/** The tools of the calls whose outcome was unknown for a time. */
function lostIn({ calls }: AgentThread, events: readonly ThreadEvent[]): string[] {
  const lost = events.filter((event) => event.type === 'call-lost');
  return calls
    .filter(({ step, index }) => lost.some((at) => at.step === step && at.index === index))
    .map(({ toolName }) => toolName);
}

/** A thread has ended: nothing is open, and each call has ended once. A delegated call has its agent's reply. */
function endFaults({ id, status, activeRequests, calls }: AgentThread, events: ThreadEvent[]) {
  const ends = events.flatMap((event) =>
    event.type === 'call-ended' ? [`${event.step}.${event.index}`] : [],
  );
  const replies = calls.filter(({ agent }) => agent !== undefined);
  const listed = events.flatMap((event) =>
    event.type === 'call-deferred' ? (event.agent?.lostCalls ?? []) : [],
  );
  return [
    /* The others are resumed without a person. */
    ...listed
      .filter(({ toolName }) => toolName !== 'pay')
      .map(({ toolName }) => `Thread ${id} has listed a call of ${toolName} as lost.`),
    ...(status === 'idle' ? [] : [`Thread ${id} is ${status}.`]),
    ...(activeRequests.length === 0 ? [] : [`Thread ${id} still asks.`]),
    ...(new Set(ends).size === ends.length ? [] : [`A call of thread ${id} has ended twice.`]),
    ...(ends.length === calls.length ? [] : [`A call of thread ${id} has not ended.`]),
    ...replies
      .filter(({ outcome }) => outcome?.status !== 'succeeded' || outcome.output !== 'Done.')
      .map(({ toolCallId }) => `Call ${toolCallId} of thread ${id} has no reply.`),
  ];
}

/** The boundaries without the events that they were passed with. */
function placesOf(boundaries: readonly string[]): string[] {
  return [...new Set(boundaries.map((boundary) => boundary.replace(/:.*/, '')))].toSorted();
}

function placesWith({ agents }: SubAgentScenario): string[] {
  const places = [...Object.keys(agents), 'the payment'];
  return places.flatMap((place) => [`before ${place}`, `after ${place}`]).toSorted();
}

/** What became of threads, when all is over. */
async function expectSound(site: Site, threadIds: Iterable<string>) {
  const ends = await Promise.all([...threadIds].map(async (id) => verdict(site, id)));
  expect(ends.filter(({ faults }) => faults.length > 0)).toEqual([]);
  return ends;
}

test('a process is killed at each boundary of a thread and its sub-agent, and another one that leads it on pays at most once', async () => {
  const scenario = scenarioNamed(
    'an agent that makes two payments for another, one of them rejected',
  );
  await using site = await openSite(scenario);
  await using heir = site.start('lead');
  const threadIds: string[] = [];
  const boundaries = await killEverywhere(site, (threadId) => {
    threadIds.push(threadId);
    heir.child.stdin?.write(`${threadId}\n`);
  });
  const ended = waitUntil(async () => (await unfinished(site, threadIds)).length === 0, patience);
  await orDescribe(site, threadIds, ended);
  const ends = await expectSound(site, threadIds);
  const settled = ends.filter(({ isAllPaid }) => !isAllPaid);
  console.log(`${boundaries.length} kills, ${settled.length} not paid`);
  /* After the start was recorded, and before the payment. */
  expect(settled.length).toBeLessThanOrEqual(2);
  expect(settled.filter(({ lost }) => !lost.includes('pay'))).toEqual([]);
  expect(placesOf(boundaries)).toEqual(placesWith(scenario));
});

test('a process is killed at each boundary of three levels, and with a worker of the outermost agent all is paid exactly once', async () => {
  const scenario = scenarioNamed('three levels');
  await using site = await openSite(scenario);
  await using worker = site.start('work');
  const dead = new Set<string>();
  const killing = killEverywhere(site, (threadId) => dead.add(threadId));
  const boundaries = await attendUntil(site, dead, killing);
  expect(worker.child.exitCode).toBeNull();
  const ends = await expectSound(site, dead);
  console.log(`${boundaries.length} kills`);
  expect(ends.filter(({ isAllPaid }) => !isAllPaid)).toEqual([]);
  expect(placesOf(boundaries)).toEqual(placesWith(scenario));
});

/** Adds threads. The process that sends their messages dies right after. */
async function addThreads(site: Site, threadIds: Set<string>): Promise<void> {
  const added = Array.from({ length: fleetSize }, (_, index) => `t${threadIds.size + index}`);
  await using leader = site.start('lead', 2 * fleetSize + 1);
  leader.child.stdin?.end(added.map((threadId) => `${threadId}\n`).join(''));
  await leader.death;
  for (const threadId of added) threadIds.add(threadId);
}

/** Adds threads whenever all have ended, until a worker is dead: another worker may do so much of the work that this one has too little to die. */
async function addThreadsUntilDeath(
  site: Site,
  threadIds: Set<string>,
  { child, death }: Staffed,
): Promise<string> {
  while (isAlive(child)) {
    await waitUntil(
      async () => !isAlive(child) || (await unfinished(site, threadIds)).length === 0,
      patience,
    );
    if (isAlive(child)) await addThreads(site, threadIds);
  }
  return death;
}

test.each([60, 300])(
  'two workers on fleets of 20 threads with siblings, one of them killed at its boundary %i: all is paid exactly once',
  async (killAt) => {
    await using site = await openSite(askingSiblings);
    const threadIds = new Set<string>();
    await addThreads(site, threadIds);
    await using mortal = site.start('work', killAt);
    await using heir = site.start('work-for-all');
    const dying = addThreadsUntilDeath(site, threadIds, mortal);
    const boundary = await attendUntil(site, threadIds, dying);
    expect(heir.child.exitCode).toBeNull();
    const ends = await expectSound(site, threadIds);
    const cutOff = ends.filter(({ lost }) => lost.length > 0);
    console.log(`killed ${boundary}; ${cutOff.length} of ${threadIds.size} threads cut off`);
    expect(boundary).not.toBe('');
    expect(ends.filter(({ isAllPaid }) => !isAllPaid)).toEqual([]);
  },
);
