import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  approve,
  createAgent,
  memoryStore,
  reject,
  type ThreadStore,
} from 'holdpoint';
import { createInboxHandler, type InboxHandlerOptions } from 'holdpoint/inbox';
import type { ScriptedStep } from 'holdpoint/testing';
import { z } from 'zod';
import {
  inboxCountsSchema,
  type InboxEntry,
  inboxOutcomesSchema,
  inboxPageSchema,
  inboxRequestSchema,
} from '../../src/apps/inbox/inbox-api.ts';
import { scriptedModel } from '../support/scripted-model.ts';

export const origin = 'https://app.example';

/** Who is in which team. */
const teams = new Map([
  ['finance', ['ben', 'cleo']],
  ['boss', ['dora']],
]);

/** What a person answers for: their name, and their teams. */
const rolesOf = (name: string): string[] => [
  name,
  ...[...teams].flatMap(([team, who]) => (who.includes(name) ? [team] : [])),
];

/** Team members answer for their teams. */
export const mayAnswer: AgentOptions['mayAnswer'] = ({ principal, request }) =>
  request.type === 'question-request' ||
  (request.approvers ?? []).some((name) => rolesOf(String(principal)).includes(name));

const payInput = z.object({
  to: z.string(),
  euros: z.number(),
  due: z.iso.datetime().optional(),
  pin: z.string().meta({ format: 'password' }).optional(),
});

/** The office's tools, and what they did. */
function officeTools(paid: unknown[]) {
  return {
    pay: tool({
      description: 'Pays somebody.',
      inputSchema: payInput,
      execute: async (input) => {
        paid.push(input);
        return 'Paid.';
      },
    }),
  };
}

export type Pay = z.infer<typeof payInput>;

/** A model's call of `pay`. */
export const pay = (id: string, input: Pay) => ({ id, name: 'pay', input });

const payRule = {
  type: 'user-approval',
  text: ({ to, euros, pin }: Pay) =>
    `Pay ${euros} EUR to ${to}?${pin === undefined ? '' : ` The pin is ${pin}.`}`,
  approvers: ['finance'],
  notRequester: true,
  editable: ['euros'],
} as const;

/** The options of an office's agent that a test may change. */
type OfficeOptions = Partial<AgentOptions>;

/** An agent that pays after the approval of finance. */
export function office(
  script: ScriptedStep[],
  { store = memoryStore(), ...options }: OfficeOptions = {},
) {
  const paid: unknown[] = [];
  const clock = { now: 1_000_000 };
  const { model } = scriptedModel(script);
  const agent = createAgent({
    model,
    name: 'office',
    store,
    tools: officeTools(paid),
    toolApproval: { pay: payRule },
    mayAnswer,
    now: () => (clock.now += 1),
    maxRetries: 0,
    ...options,
  });
  /** Somebody asks in a thread. */
  const ask = async (threadId: string, principal: unknown = 'eve') =>
    agent.run('Pay.', await agent.thread(threadId), { principal });
  return { agent, store, paid, clock, ask };
}

/** A person's browser: the cookie says who is signed in, and everything goes through the handler. */
export function inboxOf(
  agents: Agent | readonly Agent[] | { store: ThreadStore },
  options: Partial<InboxHandlerOptions> = {},
) {
  const listed = 'length' in agents ? agents : [agents];
  const shared = 'store' in agents ? { store: agents.store, mayAnswer } : {};
  const errors: unknown[] = [];
  const handler = createInboxHandler({
    ...('store' in agents ? shared : { agents: listed.filter((each) => 'run' in each) }),
    authorize: ({ request }) => {
      const name = request.headers.get('cookie');
      return name === null ? undefined : { principal: name, as: rolesOf(name) };
    },
    onError: (error) => {
      errors.push(error);
      return 'Something failed.';
    },
    ...options,
  });
  const send = async (name: string | null, path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (name !== null) headers.set('cookie', name);
    return handler(new Request(`${origin}/inbox${path}`, { ...init, headers }));
  };
  const get = async (name: string, path: string): Promise<unknown> =>
    (await send(name, path)).json();
  const list = async (name: string, query = '') =>
    inboxPageSchema.parse(await get(name, `/api/requests?${query}`));
  const show = async (name: string, requestId: string) =>
    inboxRequestSchema.parse(await get(name, `/api/requests/${encodeURIComponent(requestId)}`));
  const counts = async (name: string) => inboxCountsSchema.parse(await get(name, '/api/counts'));
  const post = async (name: string, path: string, body: unknown) =>
    send(name, path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  const viewerOf = async (name: string) => (await list(name)).viewer;
  /** Sends answers to entries as they were shown. */
  const answer = async (
    name: string,
    answers: readonly { entry: InboxEntry; answer: object }[],
    viewer?: string,
  ) => {
    const body = {
      viewer: viewer ?? (await viewerOf(name)),
      answers: answers.map((each) => ({ ...shownOf(each.entry), answer: each.answer })),
    };
    return inboxOutcomesSchema.parse(await (await post(name, '/api/answers', body)).json())
      .outcomes;
  };
  const outcomeSchema = inboxOutcomesSchema.shape.outcomes.element;
  /** Does something else about an entry. */
  const act = async (name: string, entry: InboxEntry, action: object) => {
    const body = { viewer: await viewerOf(name), ...shownOf(entry), action };
    return outcomeSchema.parse(await (await post(name, '/api/actions', body)).json());
  };
  return { handler, send, get, list, show, counts, post, answer, act, viewerOf, errors };
}

/** What an answer repeats of an entry. */
export const shownOf = ({ requestId, threadId, digest }: InboxEntry) => ({
  requestId,
  threadId,
  digest,
});

/** The answers to an entry's approval request, as the page makes them: without the call, which may be masked. */
export function yes({ request }: InboxEntry, more: object = {}) {
  if (request?.type !== 'approval-request') throw new Error('It is no approval request.');
  const { toolCall: _shown, ...answer } = approve(request);
  return { ...answer, ...more };
}

export function no({ request }: InboxEntry, reason = 'Too dear.') {
  if (request?.type !== 'approval-request') throw new Error('It is no approval request.');
  const { toolCall: _shown, ...answer } = reject(request, reason);
  return answer;
}

/** The only entry of a list. */
export function only<EACH>(entries: readonly EACH[]): EACH {
  const [entry, ...more] = entries;
  if (entry === undefined || more.length > 0) {
    throw new Error(`There are ${entries.length} entries.`);
  }
  return entry;
}
