import { setImmediate } from 'node:timers/promises';
import { tool } from 'ai';
import { type AgentOptions, createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { createInboxHandler } from 'holdpoint/inbox';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';
import { serveFetch } from '../../examples/serve-fetch.ts';
import type { ScriptedCall } from '../support/script.ts';

/* What no JSON Schema says, only the server finds out. */
const mail = z.object({
  to: z.string(),
  body: z.string().refine((text) => !text.includes('cheap'), { error: 'must not say cheap' }),
});
type Mail = z.infer<typeof mail>;

const transfer = z.object({
  to: z.string(),
  amount: z
    .number()
    .meta({ 'x-holdpoint-format': { type: 'money', currency: 'EUR', unit: 'minor' } }),
  starts: z.iso.datetime({ offset: true }),
  ends: z.iso.datetime({ offset: true }),
  day: z.iso.date(),
  lasts: z.iso.duration(),
  waits: z.number().meta({ 'x-holdpoint-format': { type: 'duration', unit: 'seconds' } }),
});

/** What a request is asked on, beside its arguments. Requests with another `topic` are not alike. */
interface Asked {
  to: string;
  /** For whom. Default: eve. */
  requester?: string;
  body?: string;
  topic?: string;
  risk?: 'high' | 'critical';
  mayBeRemembered?: true;
  approvers?: string[];
  quorum?: number;
  /** The call is a transfer instead of a mail, with these arguments. */
  transfer?: Omit<z.infer<typeof transfer>, 'to'>;
  expiresAfterMs?: number;
}

export interface OfficeOptions {
  /** Where its clock stands, in milliseconds since 1970, until something was asked: each time it goes on by a second. Default: it goes. */
  now?: number | undefined;
}

/** How a request was answered. */
export interface Answered {
  status: 'approved' | 'rejected';
  by: unknown;
  reason: string | undefined;
  input: unknown;
}

/** An office, as scenes have it. What passes is JSON, as the office may be in another process. */
export interface Office {
  /** The inbox. Ada is signed in, unless the cookie `person` says who is: `nobody` is led to a sign-in, `stranger` to one at another origin. */
  url: string;
  /** The agent asks for one more mail. */
  ask(asked: Asked): Promise<void>;
  /** The agent dies in the call that was approved. */
  loseCall(asked: Asked): Promise<void>;
  /** The model fails, until it is `repaired`, so that a thread is stuck. */
  getStuck(to: string): Promise<void>;
  repair(): Promise<void>;
  /** What was approved or settled goes on, as a worker would have it. */
  goOn(to: string): Promise<void>;
  /** Somebody answers elsewhere what is asked about these people. */
  answerElsewhere(by: string, approved: boolean, to: string[]): Promise<void>;
  /** What the log says of each request that was answered, by the person written to. */
  readLog(): Promise<[to: string, answered: Answered][]>;
  /** What happened in the thread of a request: what, and by whom. */
  readEvents(to: string): Promise<[type: string, by: string | undefined][]>;
  /** The call of a thread, and the status of the thread. */
  readCall(to: string): Promise<{ thread: string; call: unknown }>;
  readGrants(): Promise<unknown[]>;
  /** Takes back all standing approvals. */
  revokeGrants(by: string): Promise<void>;
  /** To whom mails went. */
  readSent(): Promise<string[]>;
}

const leaseMs = 1_000;

/** An office whose agent asks before each mail, and its inbox, on a real server. Calls are not run: a worker elsewhere would go on. */
export async function openOffice({ now: startsAt }: OfficeOptions = {}): Promise<
  Office & { close: () => void }
> {
  let now = startsAt;
  const readClock = (): number => now ?? Date.now();
  const script: ScriptedCall[] = [];
  const topics = new Map<string, Asked>();
  const threads = new Map<string, string>();
  const sent: string[] = [];
  let isDown = false;
  const rule = (text: string, { to }: { to: string }) => {
    const {
      topic = 'news',
      mayBeRemembered,
      risk,
      approvers,
      quorum,
      expiresAfterMs,
    } = topics.get(to) ?? {};
    return {
      type: 'user-approval' as const,
      text,
      metadata: { topic },
      ...(risk && { risk }),
      ...(approvers && { approvers }),
      ...(quorum && { quorum }),
      ...(expiresAfterMs && { expiresAfterMs }),
      ...(mayBeRemembered && {
        remember: { scope: 'everyone' as const, match: 'any' as const },
      }),
    };
  };
  const store = memoryStore();
  const options: AgentOptions = {
    model: scriptedModel(() => {
      if (isDown) throw new Error('The provider is down.');
      const call = script.shift();
      return call === undefined ? { text: 'Done.' } : { calls: [call] };
    }).model,
    name: 'office',
    store,
    tools: makeTools(async (to) => {
      sent.push(to);
    }),
    toolApproval: {
      send_mail: (input: Mail) => ({
        ...rule(`Send a mail to ${input.to}?`, input),
        editable: ['body'],
      }),
      transfer: (input: z.infer<typeof transfer>) => rule(`Transfer it to ${input.to}?`, input),
    },
    mayAnswer: ({ principal, request }) =>
      request.type !== 'approval-request' ||
      (request.approvers?.includes(String(principal)) ?? true),
    now: readClock,
    maxRetries: 0,
    retry: { maxAttempts: 1 },
  };
  const agent = createAgent(options);
  const threadOf = async (to: string) => agent.thread(threads.get(to) ?? '');
  const plan = (asked: Asked): string => {
    const { to, body = 'Hello', transfer: amounts } = asked;
    const threadId = `thread ${threads.size + 1}`;
    topics.set(to, asked);
    threads.set(to, threadId);
    const id = `call ${threads.size}`;
    script.push(
      amounts === undefined
        ? { id, name: 'send_mail', input: { to, body } }
        : { id, name: 'transfer', input: { to, ...amounts } },
    );
    return threadId;
  };
  const { url, close } = await serveInbox(
    createInboxHandler({
      agents: [agent],
      authorize: ({ request }) => {
        const [, person = 'ada'] = /person=(\w+)/.exec(request.headers.get('cookie') ?? '') ?? [];
        return findSignIn(person, request) ?? { principal: person };
      },
      maySettle: () => true,
      pollMs: 50,
    }),
  );
  return {
    url,
    close,
    ask: async (asked) => {
      const threadId = plan(asked);
      const { requester: principal = 'eve' } = asked;
      await agent.run('Write.', await agent.thread(threadId), { principal });
      if (now === undefined) await passMillisecond();
      else now += 1_000;
    },
    loseCall: async (asked) => {
      const threadId = plan(asked);
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const mortal = makeMortal(store);
      /* The process that dies: its tool never comes back, it writes nothing more, and its leases are over. */
      const dying = createAgent({
        ...options,
        store: mortal.store,
        tools: makeTools(async () => {
          mortal.die();
          begin();
          await new Promise(() => {});
        }),
        leaseMs,
        now: () => readClock() - 10 * leaseMs,
      });
      const thread = await dying.thread(threadId);
      const { approvalRequests } = await dying.run('Write.', thread, { principal: 'eve' });
      const answers = approvalRequests.map((request) => request.approve());
      void dying.run(answers, thread, { principal: 'cleo' });
      await begun;
      await agent.thread(threadId);
    },
    getStuck: async (to) => {
      threads.set(to, `thread ${threads.size + 1}`);
      isDown = true;
      await agent.run('Write.', await threadOf(to), { principal: 'eve' }).catch(() => {});
    },
    repair: async () => {
      isDown = false;
    },
    goOn: async (to) => {
      await agent.run([], await threadOf(to));
    },
    answerElsewhere: async (by, approved, people) => {
      for (const to of people) {
        const thread = await threadOf(to);
        const answers = thread.activeApprovalRequests.map((request) =>
          approved ? request.approve() : request.reject('No.'),
        );
        await agent.respond(answers, thread, { principal: by });
      }
    },
    readLog: async () => {
      const log: [string, Answered][] = [];
      for (const to of threads.keys()) {
        const { events, calls } = await threadOf(to);
        const answered = events.find((event) => event.type === 'request-answered');
        if (answered?.response.type !== 'approval-response') continue;
        const { approved, reason } = answered.response;
        const status = approved ? 'approved' : 'rejected';
        log.push([to, { status, by: answered.principal, reason, input: calls[0]?.input }]);
      }
      return log;
    },
    readEvents: async (to) => {
      const { events } = await threadOf(to);
      return events.map((event) => [
        event.type,
        'principal' in event ? String(event.principal) : undefined,
      ]);
    },
    readCall: async (to) => {
      const { status, calls } = await threadOf(to);
      return { thread: status, call: calls[0] };
    },
    readGrants: async () => agent.grants(),
    revokeGrants: async (by) => {
      for (const grant of await agent.grants()) await agent.revoke(grant, { principal: by });
    },
    readSent: async () => sent,
  };
}

/** Waits for the next millisecond: of two requests of one, lists have either first. */
async function passMillisecond(): Promise<void> {
  const at = Date.now();
  while (Date.now() === at) await setImmediate();
}

/** A store as a process has it that dies: after that, nothing of it is written. Else it would take its thread up again. */
function makeMortal(store: ThreadStore): { store: ThreadStore; die: () => void } {
  let isDead = false;
  const { requests, grants } = store;
  return {
    store: {
      read: async (...read) => store.read(...read),
      head: async (threadId) => store.head(threadId),
      list: async (query) => store.list(query),
      count: async (...count) => store.count(...count),
      claim: async (claim) => store.claim(claim),
      delete: async (...deleted) => store.delete(...deleted),
      append: async (...appended) => {
        if (isDead) await new Promise(() => {});
        await store.append(...appended);
      },
      ...(requests && { requests }),
      ...(grants && { grants }),
    },
    die: () => {
      isDead = true;
    },
  };
}

function makeTools(send: (to: string) => Promise<void>) {
  return {
    send_mail: tool({
      description: 'Sends a mail.',
      inputSchema: mail,
      execute: async ({ to }) => {
        await send(to);
        return 'Sent.';
      },
    }),
    transfer: tool({
      description: 'Transfers money.',
      inputSchema: transfer,
      execute: () => 'Transferred.',
    }),
  };
}

function findSignIn(person: string, { url }: Request): Response | undefined {
  const signIn = new URL('/sign-in', url);
  if (person === 'stranger') signIn.hostname = '127.0.0.1';
  else if (person !== 'nobody') return undefined;
  return new Response(null, { status: 302, headers: { location: signIn.href } });
}

const signInPage = { headers: { 'content-type': 'text/html' } };

async function serveInbox(handle: (request: Request) => Promise<Response>) {
  const server = await serveFetch(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/favicon.ico') return new Response(null, { status: 204 });
    return pathname === '/sign-in' ? new Response('<h1>Sign in</h1>', signInPage) : handle(request);
  }, 0);
  const address = server.address();
  const url = `http://localhost:${typeof address === 'object' ? address?.port : ''}/inbox`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, close };
}
