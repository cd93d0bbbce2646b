import {
  type AssistantContent,
  type ContentPart,
  type ModelMessage,
  tool,
  type ToolContent,
  type ToolResultPart,
  type ToolSet,
  type UserContent,
} from 'ai';
import { z } from 'zod';
import type { Change } from './programs.ts';
import type { ModelPart } from './recorded-providers.ts';

type PartOf<CONTENT> = CONTENT extends readonly (infer PART)[] ? PART : never;

/** A part of a message: how a program sends it or gets it. */
interface PartRow {
  program: Change;
  /** The same without the part. */
  without: Change;
  /** The ways that are not the same, and what the docs say of that. */
  differs?: { [way: string]: string };
}

type Rows<PART extends { type: string }> = Record<PART['type'], PartRow>;

const png = 'iVBORw0KGgo=';
const done = { text: 'All done.' };
const result: ToolResultPart = {
  type: 'tool-result',
  toolCallId: 'call00001',
  toolName: 'look',
  output: { type: 'json', value: { flights: 2 } },
};
const ran: ModelMessage = { role: 'tool', content: [result] };
const asked = {
  type: 'tool-call',
  toolCallId: 'call00001',
  toolName: 'look',
  input: { city: 'Paris' },
} as const;

/** A program whose user sends a part. */
function sends(part: PartOf<UserContent>): PartRow {
  return { program: say(part), without: say() };
}

function say(...parts: PartOf<UserContent>[]): Change {
  const content = [...parts, { type: 'text', text: 'Look.' } as const];
  return () => ({ turns: [[{ role: 'user', content }]], script: [done] });
}

/** A program that goes on from a history with this content of an assistant, and the results of its calls. */
function remembers(content: PartOf<AssistantContent>[], results: ModelMessage[] = []): PartRow {
  return { program: resume(content, results), without: resume(content.slice(1), []) };
}

function resume(content: PartOf<AssistantContent>[], results: ModelMessage[]): Change {
  const turn: ModelMessage[] = [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content },
    ...results,
    { role: 'user', content: 'And then?' },
  ];
  return () => ({ turns: [turn], script: [done] });
}

/** A program whose model returns parts, and reads them again in the next turn. */
function returns(...parts: ModelPart[]): PartRow {
  return { program: answer(...parts), without: answer() };
}

function answer(...parts: ModelPart[]): Change {
  const script = [{ parts: [...parts, { type: 'text', text: 'Look.' } as const] }, done, done];
  return () => ({ turns: ['Look at Paris', 'And then?'], script });
}

/** The parts of a user's message. */
export const userParts: Rows<PartOf<UserContent>> = {
  text: sends({
    type: 'text',
    text: 'Hi',
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  }),
  image: sends({ type: 'image', image: png, mediaType: 'image/png' }),
  file: sends({ type: 'file', data: new Uint8Array([37, 80]), mediaType: 'application/pdf' }),
};

/** The parts of an assistant's message in a history. */
export const assistantParts: Rows<PartOf<AssistantContent>> = {
  text: remembers([{ type: 'text', text: 'I look.' }]),
  reasoning: remembers([
    {
      type: 'reasoning',
      text: 'Paris it is.',
      providerOptions: { anthropic: { signature: 'signed' }, google: { thoughtSignature: 's' } },
    },
    { type: 'text', text: 'I look.' },
  ]),
  'reasoning-file': remembers([
    { type: 'reasoning-file', data: png, mediaType: 'image/png' },
    { type: 'text', text: 'I look.' },
  ]),
  custom: remembers([
    { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { itemId: 'cmp_1' } } },
    { type: 'text', text: 'I look.' },
  ]),
  file: remembers([
    { type: 'file', data: png, mediaType: 'image/png' },
    { type: 'text', text: 'I look.' },
  ]),
  'tool-call': remembers([asked], [ran]),
  'tool-result': remembers([
    { ...asked, toolName: 'web_search', providerExecuted: true },
    { ...result, toolName: 'web_search' },
    { type: 'text', text: 'Found.' },
  ]),
  'tool-approval-request': remembers(
    [asked, { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'call00001' }],
    [
      {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId: 'a1', approved: true }],
      },
      ran,
    ],
  ),
};

/** The parts of a tool's message in a history. */
export const toolParts: Rows<PartOf<ToolContent>> = {
  'tool-result': remembers(
    [asked],
    [
      {
        role: 'tool',
        content: [
          {
            ...result,
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'A map.' },
                { type: 'file', data: { type: 'data', data: png }, mediaType: 'image/png' },
              ],
            },
          },
        ],
      },
    ],
  ),
  'tool-approval-response': remembers(
    [asked, { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'call00001' }],
    [
      {
        role: 'tool',
        content: [
          { type: 'tool-approval-response', approvalId: 'a1', approved: false, reason: 'No.' },
        ],
      },
      { role: 'tool', content: [{ ...result, output: { type: 'execution-denied' } }] },
    ],
  ),
};

/** The parts of a model's response. */
export const modelParts: Rows<ModelPart> = {
  text: returns({ type: 'text', text: 'I see.', providerMetadata: { openai: { itemId: 'm1' } } }),
  reasoning: returns({
    type: 'reasoning',
    text: 'Paris it is.',
    providerMetadata: { anthropic: { signature: 'signed' }, google: { thoughtSignature: 's' } },
  }),
  custom: returns({
    type: 'custom',
    kind: 'openai.compaction',
    providerMetadata: { openai: { itemId: 'cmp_1', encryptedContent: 'sealed' } },
  }),
  'reasoning-file': returns({
    type: 'reasoning-file',
    mediaType: 'image/png',
    data: { type: 'data', data: png },
  }),
  file: returns({ type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } }),
  source: returns({ type: 'source', sourceType: 'url', id: 's1', url: 'https://paris.test/' }),
  'tool-call': returns({
    type: 'tool-call',
    toolCallId: 'call00001',
    toolName: 'look',
    input: '{"city":"Paris"}',
    providerMetadata: { google: { thoughtSignature: 'signed' } },
  }),
  'tool-result': returns(
    {
      type: 'tool-call',
      toolCallId: 'call00001',
      toolName: 'web_search',
      input: '{"query":"Paris"}',
      providerExecuted: true,
      dynamic: true,
    },
    {
      type: 'tool-result',
      toolCallId: 'call00001',
      toolName: 'web_search',
      result: { found: 2 },
      dynamic: true,
    },
  ),
  'tool-approval-request': returns(
    {
      type: 'tool-call',
      toolCallId: 'call00001',
      toolName: 'mcp.pay',
      input: '{"euros":5}',
      providerExecuted: true,
      dynamic: true,
    },
    { type: 'tool-approval-request', approvalId: 'mcpr_1', toolCallId: 'call00001' },
  ),
};

function failToBook(_input: object): string {
  throw new RangeError('No flight.');
}

const named = 'without the name of the error';

/** The parts that the AI SDK adds to a step's. */
export const stepParts: Record<
  Exclude<ContentPart<ToolSet>['type'], ModelPart['type']>,
  PartRow
> = {
  'tool-error': {
    program: () => ({
      settings: { tools: { book: tool({ inputSchema: z.object({}), execute: failToBook }) } },
    }),
    without: () => ({}),
    differs: {
      'an agent': named,
      'an agent, asked': named,
      'behind holdPoint': named,
      'behind holdPoint, asked': named,
    },
  },
  'tool-approval-response': {
    program: () => ({
      settings: { toolApproval: () => ({ type: 'denied', reason: 'Too far.' }) },
    }),
    without: () => ({}),
  },
};
