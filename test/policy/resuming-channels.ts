import { Chat } from '@ai-sdk/react';
import { streamText, tool, type UIMessage } from 'ai';
import {
  type AgentOptions,
  type ApprovalRequest,
  memoryStore,
  type RunInput,
  type RunOptions,
  type ThreadStore,
} from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler, ThreadChat, toUIMessages } from 'holdpoint/ui';
import { z } from 'zod';
import { poster, runInput, user } from '../ag-ui/ag-ui-site.ts';
import { heldWorld, ofThread } from '../middleware/held-world.ts';
import {
  type Answers,
  finishPart,
  type StreamPart,
  streamedModel,
  textParts,
} from '../support/streamed-model.ts';
import { call } from '../ui/streaming-site.ts';
import { chatPage, origin, urlOf } from '../ui/chat-page.ts';

/** The message that is sent through every channel. */
export const words = 'pay me 5000';

/** A model that says nothing until its run is stopped. */
export async function* silence(): AsyncGenerator<StreamPart, void> {
  yield { type: 'stream-start', warnings: [] };
  await new Promise(() => {});
}

/** A model that pays 5,000, and says so. */
export const paying: StreamPart[][] = [
  [...call('c1', 'pay', '{"euros":5000}'), finishPart('tool-calls')],
  [...textParts('0', 'Paid.'), finishPart()],
];

/** An agent that pays, for people who share its thread `t`. */
export function payDesk(
  answers: Answers,
  options: Partial<Pick<AgentOptions, 'toolApproval' | 'mayAnswer' | 'principalId'>> = {},
  store: ThreadStore = memoryStore(),
) {
  const paid: unknown[] = [];
  const pay = tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: async (input) => {
      paid.push(input);
      return 'Paid.';
    },
  });
  const { model, heard } = streamedModel(...answers);
  const at = heldWorld(
    { model },
    { name: 'desk', tools: { pay }, store, toolApproval: { pay: 'user-approval' }, ...options },
  );
  const thread = async () => at.agent.thread('t');
  return {
    ...at,
    paid,
    heard,
    thread,
    /** The model streams, and does nothing else. */
    run: async (...[input, by]: RunParameters) =>
      at.agent.stream(input, await thread(), by).response,
    /** Who said what, as it is recorded. */
    said: async () =>
      (await thread()).events.flatMap((event) =>
        event.type === 'message-added' ? [[event.principal, event.message.content]] : [],
      ),
    request: async (): Promise<ApprovalRequest> => {
      const [first] = (await thread()).activeRequests;
      if (first?.type !== 'approval-request') throw new Error('Nothing is asked.');
      return first;
    },
  };
}

type RunParameters = [input: RunInput, options: RunOptions];

export type PayDesk = ReturnType<typeof payDesk>;

/** How somebody writes to the desk, and how somebody has the reply written after all, when it was stopped. */
interface ResumingChannel {
  name: string;
  say(desk: PayDesk, principal: string): Promise<unknown>;
  resume(desk: PayDesk, principal: string): Promise<unknown>;
}

const handlerOf = ({ agent }: PayDesk, principal: string) =>
  createUiHandler({ agent, authorize: () => ({ principal }) });
const messageOf = async (desk: PayDesk): Promise<UIMessage[]> => toUIMessages(await desk.thread());

/** A page of the AI SDK's own chat; with its own transport it sends the whole history. */
function page(sendsHistory: boolean): Omit<ResumingChannel, 'name'> {
  return {
    async say(desk, principal) {
      await chatPage(handlerOf(desk, principal), { sendsHistory }).chat.sendMessage({
        text: words,
      });
    },
    async resume(desk, principal) {
      const messages = await messageOf(desk);
      const { chat } = chatPage(handlerOf(desk, principal), { sendsHistory, messages });
      await chat.regenerate();
    },
  };
}

/** Sends what a page of `ThreadChat` sends. */
async function tryAgain(desk: PayDesk, principal: string): Promise<void> {
  const handler = handlerOf(desk, principal);
  const opened = new ThreadChat((init) => new Chat<UIMessage>(init), {
    id: 't',
    api: '/chat',
    fetch: async (input, init) => handler(new Request(new URL(urlOf(input), origin), init)),
    wait: async () => new Promise(() => {}),
  });
  await opened.open();
  await opened.tryAgain();
  opened.close();
}

async function ask({ model }: PayDesk, principal: string): Promise<unknown> {
  const result = streamText({
    model,
    messages: [{ role: 'user', content: words }],
    onError() {},
    ...ofThread('t', { principal }),
  });
  return result.consumeStream();
}

async function sendRun({ agent }: PayDesk, principal: string, more: object): Promise<unknown> {
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal }), keepAliveMs: 0 });
  return poster(handler)(runInput({ messages: [user('m1', words)], ...more }));
}

export const resumingChannels: readonly ResumingChannel[] = [
  {
    name: 'agent.run',
    say: async ({ run }, principal) => run(words, { principal }),
    resume: async ({ run }, principal) => run([], { principal, resumeStopped: true }),
  },
  { name: 'a page of useChat', ...page(true) },
  { name: 'a page with our transport', ...page(false) },
  { name: 'ThreadChat', say: page(false).say, resume: tryAgain },
  { name: 'holdPoint', say: ask, resume: ask },
  {
    name: 'AG-UI',
    say: async (desk, principal) => sendRun(desk, principal, {}),
    resume: async (desk, principal) =>
      sendRun(desk, principal, { forwardedProps: { resumeStopped: true } }),
  },
];

/** Somebody writes, and the run is stopped before the model's first word. */
export async function sayAndStop(
  desk: PayDesk,
  { say }: ResumingChannel,
  principal: string,
): Promise<void> {
  const asking = desk.heard.requests + 1;
  const saying = say(desk, principal);
  while (desk.heard.requests < asking) await new Promise(setImmediate);
  await desk.agent.stop(await desk.thread(), { principal });
  await saying;
}
