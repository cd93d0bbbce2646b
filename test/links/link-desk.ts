import { tool } from 'ai';
import {
  type AgentOptions,
  createAgent,
  type MayAnswer,
  memoryStore,
  type UserApproval,
  type UserInputRequestContent,
} from 'holdpoint';
import { createLinks, type LinkKey } from 'holdpoint/links';
import { questionTools } from 'holdpoint/tools';
import { z } from 'zod';
import type { ScriptedCall } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';

type LinksOptions = Parameters<typeof createLinks>[0];

/** A secret of links; each name gives another one. */
export function secretKey(kid: string): LinkKey {
  return {
    kty: 'oct',
    kid,
    alg: 'HS256',
    k: Buffer.from(kid.padEnd(32, '.')).toString('base64url'),
  };
}

export const url = 'https://app.example/answer';
const start = Date.UTC(2026, 10, 26, 12);

interface DeskOptions {
  rule?: Partial<Exclude<UserApproval, string>>;
  mayAnswer?: MayAnswer;
  calls?: ScriptedCall[];
  agent?: Partial<AgentOptions>;
  links?: Partial<LinksOptions>;
}

/** The input of the payment that the desk's agent asks about. */
export const asked = { to: 'ACME', euros: 500 };

/** A desk at which an agent asks about a payment, and whose people answer by links. */
export async function openDesk({ rule, mayAnswer, calls, agent: more, links }: DeskOptions = {}) {
  const clock = { now: start };
  const paid: unknown[] = [];
  const errors: unknown[] = [];
  const { model } = scriptedModel([
    { calls: calls ?? [{ id: 'c1', name: 'pay', input: asked }] },
    { text: 'Done.' },
  ]);
  const pay = tool({
    description: 'Pays somebody.',
    inputSchema: z.looseObject({ to: z.string(), euros: z.number() }),
    execute: async (input) => {
      paid.push(input);
      return 'paid';
    },
  });
  const agent = createAgent({
    model,
    name: 'desk',
    tools: { pay, ...questionTools() },
    toolApproval: {
      pay: {
        type: 'user-approval',
        text: ({ to, euros }) => `Pay ${euros} EUR to ${to}?`,
        ...rule,
      },
    },
    ...(mayAnswer && { mayAnswer }),
    store: memoryStore(),
    now: () => clock.now,
    maxRetries: 0,
    ...more,
  });
  const options: LinksOptions = {
    agents: [agent],
    url,
    keys: [secretKey('one')],
    onError: (error) => {
      errors.push(error);
      return 'Try again later.';
    },
    ...links,
  };
  const made = createLinks(options);
  const thread = await agent.thread('invoice-7');
  await agent.run('Pay the invoice.', thread, { principal: 'zoe' });
  const [request] = thread.activeRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  /** A link for a person, and what they see and send with it. */
  const invite = async (principal: unknown, about: UserInputRequestContent = request) =>
    new Visitor(made.handler, await made.create(about, { principal }));
  /** What the log has of answers. */
  const answers = async () =>
    (await agent.thread('invoice-7')).events
      .filter((event) => event.type === 'request-answered' || event.type === 'request-voted')
      .map(({ response, principal, channel }) => ({
        said:
          response.type === 'approval-response'
            ? [response.approved ? 'yes' : 'no', response.reason].filter(Boolean).join(': ')
            : response,
        principal,
        channel,
      }));
  /** A worker takes the thread on. */
  const work = async () => agent.run([], await agent.thread('invoice-7'), { onlyWhenDue: true });
  return {
    agent,
    thread,
    request,
    clock,
    paid,
    errors,
    options,
    links: made,
    invite,
    answers,
    work,
  };
}

type Handler = (request: Request) => Promise<Response>;

/** A page as its person meets it. */
export interface SeenPage {
  status: number;
  headers: Headers;
  markup: string;
  /** What can be read: without tags, and with each character as it is shown. */
  text: string;
  /** The names and values of hidden fields. */
  hidden: Record<string, string>;
  buttons: string[];
}

/** Somebody with a link. */
export class Visitor {
  readonly link: string;
  readonly #handler: Handler;

  constructor(handler: Handler, link: string) {
    this.#handler = handler;
    this.link = link;
  }

  /** Sends a request to the link. */
  async send(init: RequestInit = {}, link = this.link): Promise<SeenPage> {
    const response = await this.#handler(new Request(link, init));
    const markup = await response.text();
    const hidden = [...markup.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const text = unescape(markup.replace(/<style>.*?<\/style>/s, '').replaceAll(/<[^>]*>/g, ' '));
    return {
      status: response.status,
      headers: response.headers,
      markup: markup.replaceAll(/\s+/g, ' '),
      text: text.replaceAll(/\s+/g, ' '),
      hidden: Object.fromEntries(
        hidden.map(([, name = '', value = '']) => [name, unescape(value)]),
      ),
      buttons: [...markup.matchAll(/<button[^>]* value="(\w+)"/g)].map(([, value = '']) => value),
    };
  }

  /** Sends a form as a browser does that shows the page of the link. */
  async post(
    fields: Record<string, string> | [string, string][],
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin', origin: 'null' },
  ): Promise<SeenPage> {
    return this.send({ method: 'POST', body: new URLSearchParams(fields), headers });
  }

  /** Opens the link, and presses a button of its page. */
  async press(action: string, fields: Record<string, string> = {}): Promise<SeenPage> {
    const { hidden } = await this.send();
    return this.post({ ...hidden, ...fields, action });
  }
}

function unescape(markup: string): string {
  return markup.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
