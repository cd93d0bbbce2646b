import { tool, type ToolResultPart } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import type { ScriptedStep } from '../support/script.ts';
import { modes } from '../support/streaming-agent.ts';
import { book, cityInput } from '../support/travel-world.ts';
import { providerKits } from './model-kits.ts';
import { pickCases } from '../support/sampling.ts';

const done: ScriptedStep = { text: 'All done.' };
const note = 'A person edited the input of this call before approving it. It ran with:';

const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = { type: 'text', text: 'the ticket T-17' } as const;
const picture = {
  type: 'file',
  mediaType: 'image/png',
  data: { type: 'data', data: image },
} as const;

/** What a tool returns, what the model receives of it if that differs, and what the request to the provider must have of it. */
interface Result {
  name: string;
  execute: () => unknown;
  modelOutput?: ToolResultPart['output'];
  wire: string;
}

const results: readonly Result[] = [
  { name: 'an object', execute: () => ({ ticket: 'T-17' }), wire: 'T-17' },
  { name: 'an array', execute: () => ['T-17', null, 3], wire: 'T-17' },
  { name: 'null', execute: () => null, wire: '"output":null' },
  { name: 'text', execute: () => 'the ticket T-17', wire: 'the ticket T-17' },
  { name: 'an empty text', execute: () => '', wire: note },
  {
    name: 'an error',
    execute: () => {
      throw new Error('no seat T-17');
    },
    wire: 'no seat T-17',
  },
  {
    name: 'an error as JSON',
    execute: () => '',
    modelOutput: { type: 'error-json', value: { code: 'T-17' } },
    wire: 'T-17',
  },
  {
    name: 'content',
    execute: () => '',
    modelOutput: { type: 'content', value: [text] },
    wire: text.text,
  },
  {
    name: 'content with an image',
    execute: () => '',
    modelOutput: { type: 'content', value: [text, picture] },
    wire: text.text,
  },
];

/** A tool with such a result. */
function bookTool({ execute, modelOutput }: Result) {
  const made = { inputSchema: cityInput, execute };
  return modelOutput === undefined
    ? tool(made)
    : tool({ ...made, toModelOutput: () => modelOutput });
}

const ways = modes.flatMap(({ mode, speak }) =>
  providerKits.map((kit) => ({ kit, speak, name: `${mode}, ${kit.name}` })),
);

describe.each(pickCases(ways, 2))('an edited call, $name', ({ kit, speak }) => {
  test.each(pickCases(results, 3))('whose result is $name', async (result) => {
    await using played = await kit.play([
      { reasoning: 'Paris.', calls: [book('c1', 'Paris')] },
      done,
      done,
    ]);
    const agent = speak(
      createAgent({
        model: played.model,
        tools: { book: bookTool(result) },
        toolApproval: { book: { type: 'user-approval', editable: true } },
        store: memoryStore(),
        maxRetries: 0,
      }),
    );
    const thread = await agent.thread('t');
    const [request] = (await agent.run('Book Paris', thread)).approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    const yes = request.approve({ input: { city: 'Oslo "by night"' } });
    expect(await agent.run(yes, thread)).toMatchObject({ status: 'completed', text: done.text });
    const [, body = ''] = (played.bodies ?? []).map(textOf);
    expect(body).toContain(note);
    expect(body).toContain('Oslo "by night"');
    expect(body).toContain(result.wire);
    /* What the model asked for stays in its history. */
    expect(body).toContain('Paris');
    expect((await agent.run('Thanks', thread)).status).toBe('completed');
    expect(played.violations).toEqual([]);
    /* Later requests say the same. */
    expect(textOf(played.bodies?.[2])).toContain('Oslo "by night"');
  });
});

describe('an edited call that the client runs', () => {
  test.each([
    [{ status: 'succeeded', output: { ticket: 'T-17' } }, note],
    [{ status: 'failed', error: 'no seat T-17' }, 'before approving it. The edited input:'],
  ] as const)('and that has %j: the model learns of the edit', async (outcome, said) => {
    const played = scriptedModel([{ calls: [book('c1', 'Paris')] }, done]);
    const agent = createAgent({
      model: played.model,
      tools: { book: tool({ inputSchema: cityInput, outputSchema: z.unknown() }) },
      toolApproval: { book: { type: 'user-approval', editable: true } },
    });
    const thread = await agent.thread('t');
    const [request] = (await agent.run('Book Paris', thread)).approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    await agent.run(request.approve({ input: { city: 'Oslo' } }), thread);
    await agent.deliver(thread, 'c1', outcome);
    expect((await agent.run([], thread)).status).toBe('completed');
    const result = textOf(thread.messages.at(-2));
    expect(result).toContain(said);
    expect(result).toContain('Oslo');
    expect(result).toContain('T-17');
  });
});

/** The JSON of a body, without the escapes of the JSON texts in it. */
function textOf(body: unknown): string {
  return JSON.stringify(body).replaceAll(/\\+"/g, '"');
}
