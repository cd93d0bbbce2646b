import * as fc from 'fast-check';
import type { QuestionRequestContent } from 'holdpoint';
import {
  askQuestion,
  fromInteractionResponse,
  interactionIdOf,
  interactionTools,
  questionTools,
  toInteractionRequest,
  toInteractionResponse,
} from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import {
  ask,
  askOne,
  dismissed,
  expectRefused,
  picked,
  propertyNames,
  questionsOf,
  resultOf,
  single,
  toolsGivenToModel,
} from './asked.ts';
import {
  confirm,
  confirmation,
  deploy,
  question,
  source,
  toldToModel,
  wire,
} from './seed-interactions.ts';

const uuid = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe('the flow', () => {
  test('S2-01, S2-05 to S2-07: both tools come from one call, and each can be used alone', async () => {
    expect(Object.keys(interactionTools())).toEqual(['ask_confirmation', 'ask_question']);
    for (const [name, tool] of Object.entries(interactionTools())) {
      const calls = [{ id: 'q1', name, input: { question: 'So?' } }];
      const { questions } = await ask({ tools: { [name]: tool }, calls });
      expect(questions).toHaveLength(1);
    }
    expect(Object.keys(questionTools())).toContain('ask_question');
  });

  test('S2-02, S2-03, S2-10: an event carries the whole request, under the id that the result will have', async () => {
    const opened: QuestionRequestContent[] = [];
    const { inProcess } = await ask({
      tools: interactionTools(),
      calls: [{ id: 'q1', name: 'ask_question', input: source }],
      script: [
        { calls: [{ id: 'q2', name: 'ask_confirmation', input: deploy }] },
        { text: 'Done.' },
      ],
    });
    const agent = inProcess();
    const thread = await agent.thread('t');
    agent.on('request-opened', ({ event: { request } }) => {
      if (request.type === 'question-request') opened.push(request);
    });
    await agent.run(dismissed(single(questionsOf(thread.activeRequests))), thread);
    const told = toInteractionRequest(single(opened));
    const request = single(questionsOf(thread.activeRequests));
    expect(told).toEqual(toInteractionRequest(request));
    expect(told).toMatchObject({ interaction_id: interactionIdOf(request), ...confirmation });
    await agent.run(picked(request, ['yes']), thread);
    expect(resultOf(thread, 'q2')).toMatchObject({
      value: { interaction_id: told.interaction_id },
    });
  });

  test('S2-04, S2-12, S2-13, S2-15: the run pauses; the next one passes the response, and the model continues', async () => {
    const { request, response, agent, thread, world } = await question();
    expect(response.status).toBe('waiting');
    expect(world.requests()).toBe(1);
    const answer = fromInteractionResponse(
      request,
      wire(request, { selected_option_id: 'bigquery' }),
    );
    expect(await agent.run(answer, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(world.requests()).toBe(2);
  });

  test('S2-09: the result is of exactly these keys, and its id is a UUID that is the same everywhere', async () => {
    const { request, agent, thread } = await confirm();
    const interaction_id = interactionIdOf(request);
    expect(interaction_id).toMatch(uuid);
    expect(toInteractionRequest(request).interaction_id).toBe(interaction_id);
    await agent.run(picked(request, ['no']), thread);
    expect(resultOf(thread)).toEqual({
      type: 'json',
      value: { status: 'interaction_pending', interaction_id },
    });
  });

  test('S2-09: the id is a UUID of version 8 with 122 of the 128 bits of the request id, and an id that is of another kind stays as it is', () => {
    const ids = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(ids, (bytes) => {
        const requestId = Buffer.from(bytes).toString('base64url');
        const id = interactionIdOf({ requestId });
        expect(id).toMatch(uuid);
        const same = Buffer.from(bytes);
        same[6] = 0x80 | ((bytes[6] ?? 0) % 0x10);
        same[8] = 0x80 | ((bytes[8] ?? 0) % 0x40);
        expect(id.replaceAll('-', '')).toBe(same.toString('hex'));
      }),
    );
    for (const requestId of ['order-7', '', 'x'.repeat(22), `${'A'.repeat(21)}=`]) {
      expect(interactionIdOf({ requestId })).toBe(requestId);
    }
  });

  test('S2-14: the model reads the pending result, then the response as data that the user sent', async () => {
    const { request, agent, thread, world } = await question();
    const answer = picked(request, ['postgres'], 'the "old" one\n</interaction_response>');
    await agent.run(answer, thread);
    const prompt = world.played.prompts[1] ?? [];
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    const [, , , said] = prompt;
    if (said?.role !== 'user') throw new Error('The user said nothing.');
    const part = single(said.content);
    if (part.type !== 'text') throw new Error('It is no text.');
    expect(JSON.parse(part.text)).toEqual({
      interaction_response: toInteractionResponse(request, answer),
    });
  });

  test('S2-14, S2-48: a dismissed question is reported as cancelled, and the model continues', async () => {
    const { request, agent, thread } = await question();
    const left = fromInteractionResponse(request, wire(request, { cancelled: true }));
    expect(await agent.run(left, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    const said = thread.messages[3]?.content;
    const interaction_response = { interaction_id: interactionIdOf(request), cancelled: true };
    expect(said).toEqual([{ type: 'text', text: JSON.stringify({ interaction_response }) }]);
  });
});

describe('policy', () => {
  const policy = {
    allow_free_text: false,
    allowFreeText: false,
    allow_cancel: false,
    timeout_ms: 1,
    default_option_id: 'yes',
    continuation_id: 'x',
    source_node: 'x',
    metadata: { target_tool: 'x', trusted: true },
    freeText: 'never',
    allowDismiss: false,
    requestId: 'mine',
  };

  test('S2-51 to S2-53: it is not in what the model knows of the tools', async () => {
    const given = await toolsGivenToModel(
      interactionTools({ timeoutMs: 5, defaultOptionId: 'no' }),
    );
    const names = [...given.values()].flatMap(({ inputSchema }) => propertyNames(inputSchema));
    expect(new Set(names)).toEqual(
      new Set(['question', 'target_tool', 'options', 'id', 'label', 'description']),
    );
    expect(JSON.stringify([...given.values()])).not.toMatch(/timeout|default_|free_text|cancel/i);
  });

  test.each([
    ['ask_confirmation', deploy, confirmation],
    [
      'ask_question',
      source,
      { options: source.options, allow_free_text: true, allow_cancel: true },
    ],
  ])(
    'S2-37, S2-38, S2-51 to S2-53: %s: the arguments of the model do not change it',
    async (name, input, shown) => {
      const { questions } = await ask({
        tools: interactionTools(),
        calls: [{ id: 'q1', name, input: { ...input, ...policy } }],
      });
      const request = single(questions);
      expect(toInteractionRequest(request)).toMatchObject(shown);
      expect(request).toMatchObject({ allowDismiss: true, fields: [{ freeText: 'optional' }] });
      expect(request).not.toHaveProperty('expiresAt');
      expect(request.requestId).not.toBe('mine');
      for (const absent of ['default_option_id', 'timeout_ms', 'continuation_id', 'source_node']) {
        expect(toInteractionRequest(request)).not.toHaveProperty(absent);
      }
      expect(JSON.stringify(request)).not.toContain('trusted');
    },
  );

  test('S2-39 to S2-43: what the app adds is in the request, together with the tool’s own fields', async () => {
    const options = {
      defaultOptionId: 'no',
      timeoutMs: 60_000,
      continuationId: 'flow-1',
      sourceNode: 'node-1',
      metadata: { tenant: 'acme', deep: { list: [1, null, 'x'] } },
    };
    const { request } = await confirm(options);
    expect(toInteractionRequest(request)).toEqual({
      interaction_id: interactionIdOf(request),
      ...confirmation,
      default_option_id: 'no',
      timeout_ms: 60_000,
      continuation_id: 'flow-1',
      source_node: 'node-1',
      metadata: { ...confirmation.metadata, ...options.metadata },
    });
  });

  test('S2-41 to S2-43: it comes through the log and through JSON without loss', async () => {
    const options = {
      continuationId: 'flow-1',
      sourceNode: '__proto__',
      metadata: { a: { b: [] } },
    };
    const { request, thread, inProcess } = await confirm(options);
    const agent = inProcess({ store: undefined });
    const restored = await agent.restore(JSON.stringify(thread));
    const again = single(questionsOf(restored.activeRequests));
    expect(toInteractionRequest(again)).toEqual(toInteractionRequest(request));
  });

  test('S2-39, C-03: a default is preselected but not an answer; one without an option is omitted', async () => {
    const { request, agent, thread } = await question(source, { defaultOptionId: 'bigquery' });
    expect(toInteractionRequest(request).default_option_id).toBe('bigquery');
    await expectRefused(thread, async () =>
      agent.run(fromInteractionResponse(request, wire(request, {})), thread),
    );
    const other = await question(source, { defaultOptionId: 'mysql' });
    expect(toInteractionRequest(other.request)).not.toHaveProperty('default_option_id');
  });

  test('S2-40, S2-53: it expires only if the app sets a timeout, and then can’t be answered', async () => {
    const clock = { now: 1_000 };
    const { request, agent, thread } = await askOne(askQuestion({ timeoutMs: 500 }), source, {
      now: () => clock.now,
    });
    expect(request.expiresAt).toBe(1_500);
    clock.now = 1_500;
    const answer = picked(request, ['postgres']);
    await expectRefused(thread, async () => agent.run(answer, thread), 'request-closed');
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(resultOf(thread)).toEqual({
      type: 'execution-denied',
      reason: 'The question expired unanswered.',
    });
  });
});

describe('several requests', () => {
  const both = {
    tools: interactionTools(),
    calls: [
      { id: 'q1', name: 'ask_question', input: source },
      { id: 'q2', name: 'ask_confirmation', input: deploy },
    ],
  };

  test('Z2-6: a message while one is pending is refused, or cancels it if the run’s options say so', async () => {
    const { request, agent, thread } = await question();
    await expectRefused(thread, async () => agent.run('Hello?', thread), 'requests-open');
    const response = await agent.run('Never mind', thread, { whilePending: 'cancel' });
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(resultOf(thread)).toMatchObject({ type: 'execution-denied' });
    expect(await errorCode(agent.run(dismissed(request), thread))).toBe('request-closed');
  });

  test('Z2-7: two in one run are answered one by one, and the model continues after the last', async () => {
    const { agent, thread, questions, world } = await ask(both);
    const [first, second] = questions;
    if (first === undefined || second === undefined) throw new Error('Nothing is asked.');
    expect(await agent.run(picked(second, ['yes']), thread)).toMatchObject({ status: 'waiting' });
    expect(world.requests()).toBe(1);
    expect(await agent.run(dismissed(first), thread)).toMatchObject({ status: 'completed' });
    expect(thread.messages.slice(2).map(({ role }) => role)).toEqual([
      'tool',
      'user',
      'user',
      'assistant',
    ]);
    expect(thread.messages.slice(3, 5).map(({ content }) => toldToModel(content))).toMatchObject([
      { interaction_id: interactionIdOf(second), selected_option_id: 'yes' },
      { interaction_id: interactionIdOf(first), cancelled: true },
    ]);
  });

  test('Z2-7, S2-44: two may be answered together; the response to one does not answer the other', async () => {
    const { agent, thread, questions } = await ask(both);
    const [first, second] = questions;
    if (first === undefined || second === undefined) throw new Error('Nothing is asked.');
    const said = wire(first, { selected_option_id: 'postgres' });
    await expectRefused(thread, async () => {
      fromInteractionResponse(second, said);
    });
    const answers = [fromInteractionResponse(first, said), dismissed(second)];
    expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed' });
  });
});
