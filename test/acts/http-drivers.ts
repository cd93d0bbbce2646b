import { approve, reject } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler } from 'holdpoint/ui';
import { z } from 'zod';
import { endOf, poster, runInput, user } from '../ag-ui/ag-ui-site.ts';
import { type Do, type Driver, type Person, principalOf } from './acts.ts';
import { pickFirst } from './agent-driver.ts';
import { callOf, openScene, questionOf, remember, requestOf, type World } from './scenes.ts';

/** Who may use the thread: all but Mallory. */
export function letIn(person: Person): { principal: unknown } | undefined {
  return person === 'mallory' ? undefined : { principal: principalOf(person) };
}

/** A JSON request to a route. */
export function postJson(url: string, body: object): Request {
  const headers = { 'content-type': 'application/json' };
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

const refusalSchema = z.object({ error: z.object({ code: z.string() }) });

/** The code of a response that refuses; `undefined` for another one. */
export async function readCode(response: Response): Promise<string | undefined> {
  const text = await response.text();
  return response.ok ? undefined : refusalSchema.parse(JSON.parse(text)).error.code;
}

const clientTools = ['ship'];

async function sendToPage({ agent }: World, by: Person, body: object): Promise<string | undefined> {
  const authorize = () => letIn(by);
  const handler = createUiHandler({ agent, authorize, clientTools });
  return readCode(await handler(postJson('http://site.test/', { id: 't', ...body })));
}

/** An act by what a page posts. */
function page(makeBody: (world: World) => object | Promise<object>): Do {
  return async (world, by) => sendToPage(world, by, await makeBody(world));
}

const message = (id: string, text: string) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

/** What `useThreadChat` sends. */
export const uiDriver: Driver = {
  channel: 'ui',
  open: openScene,
  ways: {
    approve: page(async (world) => ({ answers: [approve(await requestOf(world))] })),
    reject: page(async (world) => ({ answers: [reject(await requestOf(world), 'Too dear.')] })),
    'answer-question': page(async (world) => ({ answers: [await pickFirst(world)] })),
    withdraw: page(async (world) => ({ withdraw: (await requestOf(world)).requestId })),
    reassign: page(async (world) => ({
      reassign: { requestId: (await requestOf(world)).requestId, to: 'dora' },
    })),
    remember: page(async (world) => ({
      answers: [approve(await requestOf(world), { remember })],
    })),
    send: page(() => ({ message: message('m2', 'Never mind.'), whilePending: 'cancel' })),
    retract: page(() => ({ message: message('m1', 'Pay ACME twice.') })),
    deliver: page(async (world) => ({
      outputs: [{ toolCallId: await callOf(world), output: 'Sent.' }],
    })),
    stop: page(() => ({ stop: true })),
    resume: page(() => ({ resume: true })),
  },
  force: async (act, world, by) => sendToPage(world, by, { [act]: true }),
};

async function sendToAgUi({ agent }: World, by: Person, more: object): Promise<string | undefined> {
  const authorize = () => letIn(by);
  const handler = createAgUiHandler({ agent, authorize, clientTools, keepAliveMs: 0 });
  const { status, events, text } = await poster(handler)(runInput(more));
  if (status !== 200) return refusalSchema.parse(JSON.parse(text)).error.code;
  const end = endOf(events);
  return typeof end === 'string' ? end : undefined;
}

/** An act by what a client of AG-UI sends. */
function client(makeInput: (world: World) => object | Promise<object>): Do {
  return async (world, by) => sendToAgUi(world, by, await makeInput(world));
}

/** An answer to the approval that a client shows. */
function resolving(payload: object): Do {
  return client(async (world) => {
    const { requestId: interruptId, digest } = await requestOf(world);
    return { resume: [{ interruptId, status: 'resolved', payload: { digest, ...payload } }] };
  });
}

/** What a client of AG-UI sends. */
export const agUiDriver: Driver = {
  channel: 'ag-ui',
  open: openScene,
  ways: {
    approve: resolving({ approved: true }),
    reject: resolving({ approved: false, reason: 'Too dear.' }),
    'answer-question': client(async (world) => {
      const { requestId: interruptId, fields } = await questionOf(world);
      const payload = { selectedOptionId: fields[0]?.options[0]?.id };
      return { resume: [{ interruptId, status: 'resolved', payload }] };
    }),
    remember: resolving({ approved: true, remember: true }),
    send: client(() => ({
      messages: [user('m2', 'Never mind.')],
      forwardedProps: { whilePending: 'cancel' },
    })),
    deliver: client(async (world) => ({
      messages: [{ id: 'r1', role: 'tool', toolCallId: await callOf(world), content: '"Sent."' }],
    })),
    resume: client(() => ({ forwardedProps: { resumeStopped: true } })),
  },
  force: async (act, world, by) => sendToAgUi(world, by, { forwardedProps: { [act]: true } }),
};
