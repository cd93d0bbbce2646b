import { setTimeout } from 'node:timers/promises';
import { Chat } from '@ai-sdk/react';
import { tool, type UIMessage } from 'ai';
import { type Agent, createAgent, memoryStore } from 'holdpoint';
import { createUiHandler, type ShownRequest, ThreadChat } from 'holdpoint/ui';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { waitUntil } from '../support/waiting.ts';
import { limitPrice, memoryWorld, travelTools } from '../support/travel-world.ts';
import { type Handler, origin, urlOf } from './chat-page.ts';

export type Page = ThreadChat<Chat<UIMessage>>;

/** A page without a browser, of somebody who is signed in. */
export function openPage(
  handler: Handler,
  person: string,
  wait: (milliseconds: number) => Promise<unknown> = async () => {},
) {
  return new ThreadChat((init) => new Chat<UIMessage>(init), {
    id: 't',
    api: '/chat',
    headers: { 'x-person': person },
    fetch: async (input, init) => handler(new Request(new URL(urlOf(input), origin), init)),
    wait,
  });
}

export function serve(agent: Agent): Handler {
  return createUiHandler({
    agent,
    authorize: ({ request }) => ({ principal: request.headers.get('x-person') ?? '' }),
  });
}

/** Renders the page, and waits until its buttons work. */
export async function rest(page: Page): Promise<void> {
  await waitUntil(() => {
    page.settle();
    return page.requests.every(({ isReady, isSending }) => isReady || isSending);
  });
}

export async function say(page: Page, text: string): Promise<void> {
  await page.open();
  await page.chat.sendMessage({ text });
  await rest(page);
}

export const fieldOf = (request: ShownRequest | undefined, label: string) =>
  request?.fields.find((field) => field.label === label);
export const run = (request: ShownRequest | undefined, name: string): void =>
  request?.actions.find((action) => action.name === name)?.run();
export const errorsOf = (request: ShownRequest | undefined) =>
  request?.fields.filter(({ error }) => error !== undefined).map(({ label }) => label);

const editable = { type: 'user-approval', editable: ['price'] } as const;

export function bookingWorld(count: number) {
  const cities = ['Paris', 'Rome'].slice(0, count);
  const calls = cities.map((city) => ({ id: city, name: 'book', input: { city, price: 420 } }));
  const world = memoryWorld([{ calls }, { text: 'Done.' }]);
  const tools = limitPrice(travelTools(world.ran));
  return { world, agent: world.agent({ tools, toolApproval: { book: editable } }) };
}

/* A clock a hundred times as fast: a stream that is silent is looked after again and again. */
export const hurry = async (milliseconds: number): Promise<void> => setTimeout(milliseconds / 100);

/** An agent whose call of `slow` runs until it is let go, beside one of `pay` that waits for people. */
export function slowWorld(rule: { type: 'user-approval'; editable?: true; quorum?: number }) {
  const gate = Promise.withResolvers<void>();
  const paid: unknown[] = [];
  const calls = [
    { id: 's', name: 'slow', input: {} },
    { id: 'p', name: 'pay', input: { euros: 9000 } },
  ];
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }]);
  const agent = createAgent({
    model,
    store: memoryStore(),
    tools: {
      slow: tool({ inputSchema: z.object({}), execute: async () => gate.promise }),
      pay: tool({
        inputSchema: z.object({ euros: z.number() }),
        execute: async (input) => void paid.push(input),
      }),
    },
    toolApproval: { slow: 'user-approval', pay: rule },
  });
  const handler = createUiHandler({
    agent,
    authorize: ({ request }) => ({ principal: request.headers.get('x-person') ?? '' }),
    pollMs: 20,
  });
  return { agent, handler, paid, letGo: () => gate.resolve() };
}

export const toolOf = ({ request }: ShownRequest) => request.toolCall?.toolName;
