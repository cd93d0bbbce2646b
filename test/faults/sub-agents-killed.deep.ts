import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AgentThread, ThreadEvent } from 'holdpoint';
import { expect, test, vi } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { subAgentFaults } from './audit-sub-agents.ts';
import { openLedger, openOffice, type PayingOffice } from './paying-office.ts';
import {
  answerOf,
  eventsOfEach,
  isPaid,
  type SubAgentScenario,
  threadsBelow,
} from './paying-staff.ts';
import { askingSiblings, scenarioNamed } from './sub-agent-scenarios.ts';

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
}

async function openSite(scenario: SubAgentScenario): Promise<Site> {
  const server = sharedPostgres();
  const database = await server.createDatabase();
  const pool = server.pool(database);
  await openLedger(pool);
  let count = 0;
  /* The server ends a statement that it has got before it sees that its client is dead. */
  const isGone = async (name: string): Promise<boolean> => {
    const left = 'select from pg_stat_activity where application_name = $1';
    return (await pool.query(left, [name])).rowCount === 0;
  };
  return {
    scenario,
    office: openOffice(pool, scenario),
    start(role, killAt = 0) {
      const name = `${role}-${(count += 1)}`;
      const address = `${server.connectionString(database)}?application_name=${name}`;
      const input = [address, scenario.name, role, String(killAt)];
      const child = spawn(process.execPath, ['--conditions=holdpoint-source', program, ...input], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      const dies = async (): Promise<string> => {
        const [said, [code]] = await Promise.all([text(child.stdout), exited]);
        expect(code === 0 || code === null, `${name} has failed`).toBe(true);
        await vi.waitUntil(async () => isGone(name), patience);
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
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

/** Kills a process at each boundary of a thread in turn. `onDeath` learns of each thread whose process died, and gets its number. */
async function killEverywhere(site: Site, onDeath: (threadId: string) => void): Promise<string[]> {
  const boundaries: string[] = [];
  let next = 1;
  let isOver = false;
  const killing = async (): Promise<void> => {
    while (!isOver) {
      const killAt = next++;
      const threadId = `t${killAt}`;
      const { child, death } = site.start('lead', killAt);
      child.stdin?.end(`${threadId}\n`);
      const boundary = await death;
      if (boundary === '') isOver = true;
      else boundaries.push(boundary);
      onDeath(threadId);
    }
  };
  await Promise.all([killing(), killing()]);
  return boundaries;
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
  const attending = vi.waitUntil(async () => {
    const wasOver = isOver;
    const left = await unfinished(site, threadIds);
    await Promise.all(left.map(async (threadId) => attend(site, threadId, wasOver)));
    return wasOver && left.length === 0;
  }, patience);
  const [result] = await Promise.all([working, attending]);
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
  await expect.poll(async () => unfinished(site, threadIds), patience).toEqual([]);
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

test.each([60, 300])(
  'two workers on 20 threads with siblings, one of them killed at its boundary %i: all is paid exactly once',
  async (killAt) => {
    await using site = await openSite(askingSiblings);
    const threadIds = Array.from({ length: fleetSize }, (_, index) => `t${index}`);
    /* It records the messages. */
    await using leader = site.start('lead', 2 * fleetSize + 1);
    leader.child.stdin?.end(threadIds.map((threadId) => `${threadId}\n`).join(''));
    await leader.death;
    await using mortal = site.start('work', killAt);
    await using heir = site.start('work-for-all');
    const boundary = await attendUntil(site, new Set(threadIds), mortal.death);
    expect(heir.child.exitCode).toBeNull();
    const ends = await expectSound(site, threadIds);
    console.log(`killed ${boundary}; ${ends.filter(({ lost }) => lost.length > 0).length} cut off`);
    expect(boundary).not.toBe('');
    expect(ends.filter(({ isAllPaid }) => !isAllPaid)).toEqual([]);
  },
);
