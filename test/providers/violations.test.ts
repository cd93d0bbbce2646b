import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { anthropicViolations, goodMessages } from './anthropic-violations.ts';
import { openaiChat, openaiCompatibleChat } from './chat-completions.ts';
import {
  chatViolations,
  compatibleChatViolations,
  goodChat,
  openaiChatViolations,
} from './chat-violations.ts';
import type { ProviderProtocol } from './provider-protocol.ts';
import { openaiResponses } from './responses.ts';
import { goodItems, responsesViolations } from './responses-violations.ts';
import { type ScriptServer, startScriptServer } from './script-server.ts';
import { givenParts, type ViolationRow } from './violation-row.ts';
import { pickCases } from '../support/sampling.ts';

interface Api {
  name: string;
  protocol: () => ProviderProtocol;
  /** A request body around a conversation. */
  body(conversation: readonly object[]): object;
  good: object[];
  rows: ViolationRow[];
  /** Where the parts of an answer are. */
  parts: (answer: Record<string, unknown>) => unknown;
  /** The body of its HTTP 400, down to the message. */
  refusal: z.ZodType<string>;
}

const chatBody = (messages: readonly object[]) => ({ model: 'm', messages });
const openaiError = z
  .strictObject({
    error: z.strictObject({
      message: z.string(),
      type: z.literal('invalid_request_error'),
      param: z.string().nullable(),
      code: z.null(),
    }),
  })
  .transform(({ error }) => error.message);
const compatibleError = z
  .looseObject({ error: z.looseObject({ message: z.string(), code: z.literal(400) }) })
  .transform(({ error }) => error.message);
const anthropicError = z
  .strictObject({
    type: z.literal('error'),
    error: z.strictObject({ type: z.literal('invalid_request_error'), message: z.string() }),
    request_id: z.string(),
  })
  .transform(({ error }) => error.message);

const apis: Api[] = [
  {
    name: 'OpenAI chat completions',
    protocol: openaiChat,
    body: chatBody,
    good: goodChat,
    rows: [...chatViolations, ...openaiChatViolations],
    parts: () => [],
    refusal: openaiError,
  },
  {
    name: 'OpenAI-compatible chat completions',
    protocol: openaiCompatibleChat,
    body: chatBody,
    good: goodChat,
    rows: [...chatViolations, ...compatibleChatViolations],
    parts: () => [],
    refusal: compatibleError,
  },
  {
    name: 'OpenAI Responses',
    protocol: openaiResponses,
    body: (input) => ({ model: 'm', input }),
    good: goodItems,
    rows: responsesViolations,
    parts: (answer) => answer['output'],
    refusal: openaiError,
  },
  {
    name: 'Anthropic messages',
    protocol: anthropicMessages,
    body: (messages) => ({ model: 'm', max_tokens: 100, messages }),
    good: goodMessages,
    rows: anthropicViolations,
    parts: (answer) => answer['content'],
    refusal: anthropicError,
  },
];

const answerSchema = z.record(z.string(), z.unknown());
const headers = {
  'content-type': 'application/json',
  'x-api-key': 'test',
  'anthropic-version': '2023-06-01',
};

/** A server that answers the script's steps first and then what it is asked. */
async function serve(api: Api, script: ScriptedStep[]): Promise<ScriptServer> {
  return startScriptServer(api.protocol(), [...script, { text: 'Hello.' }]);
}

async function post({ baseURL }: ScriptServer, api: Api, body: string | object, path?: string) {
  const url = new URL(path ?? api.protocol().path, baseURL);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', headers, body: text });
  return { status: response.status, answer: answerSchema.parse(await response.json()) };
}

describe.each(pickCases(apis))('a server of $name', (api) => {
  test('answers a conversation without a fault', async () => {
    await using server = await serve(api, []);
    expect(await post(server, api, api.body(api.good))).toMatchObject({ status: 200 });
    expect(server.violations).toEqual([]);
  });

  test.each(api.rows)('refuses $name', async ({ script, settings, conversation, expected }) => {
    await using server = await serve(api, script === undefined ? [] : [script]);
    const first = script && (await post(server, api, { ...api.body(api.good), ...settings }));
    expect(first?.status ?? 200).toBe(200);
    const given = givenParts.parse(first === undefined ? [] : api.parts(first.answer));
    const told = typeof conversation === 'function' ? conversation(given) : conversation;
    const { status, answer } = await post(server, api, { ...api.body(told), ...settings });
    expect(status).toBe(400);
    expect(api.refusal.parse(answer)).toMatch(expected);
    for (const violation of server.violations) expect(violation).toMatch(expected);
    expect(server.violations).not.toEqual([]);
  });

  test('refuses a request that the script has no step for', async () => {
    await using server = await startScriptServer(api.protocol(), []);
    expect(await post(server, api, api.body(api.good))).toMatchObject({ status: 400 });
    expect(server.violations).toEqual(['The script has no step 1.']);
  });

  test('refuses what is no JSON, and another path', async () => {
    await using server = await serve(api, [{ text: 'Hello.' }]);
    expect(await post(server, api, '{"model":')).toMatchObject({ status: 400 });
    expect(await post(server, api, api.body(api.good), '/v1/other')).toMatchObject({ status: 400 });
    expect(server.violations).toEqual(['The body is not JSON.', 'POST /v1/other is not served.']);
  });

  test('fails as the script says, which is no violation', async () => {
    await using server = await startScriptServer(api.protocol(), [{ fail: 'No credit.' }]);
    const { status, answer } = await post(server, api, api.body(api.good));
    expect(status).toBe(400);
    expect(api.refusal.parse(answer)).toBe('No credit.');
    expect(server.violations).toEqual([]);
  });
});
