import {
  askConfirmation,
  fromInteractionResponse,
  interactionIdOf,
  type InteractionRequest,
  interactionTools,
  toInteractionRequest,
  toInteractionResponse,
} from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { book } from '../support/travel-world.ts';
import {
  ask,
  askOne,
  expectRefused,
  picked,
  propertyNames,
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

describe('ask_confirmation', () => {
  test('S2-16: the description says that the model must ask before it creates, updates, deletes or deploys', async () => {
    const given = (await toolsGivenToModel(interactionTools())).get('ask_confirmation');
    expect(given?.description).toMatch(/mandatory safety gate/i);
    expect(given?.description).toMatch(/must call this before/i);
    for (const verb of ['create', 'update', 'delete', 'deploy']) {
      expect(given?.description).toContain(verb);
    }
  });

  test('S2-17 to S2-23, S2-32 to S2-38, S2-43: the example of the seed, shown with its fixed options', async () => {
    const { request } = await confirm();
    const interaction_id = interactionIdOf(request);
    expect(toInteractionRequest(request)).toEqual({ interaction_id, ...confirmation });
    const bytes = Buffer.from(request.fields[0]?.options[2]?.label ?? '').toString('hex');
    expect(bytes).toBe('4e6f20e28094' + Buffer.from(' tell me what to change').toString('hex'));
  });

  test('S2-18, S2-43: without a target tool there is no metadata', async () => {
    const { request } = await askOne(askConfirmation(), { question: 'Sure?' });
    expect(toInteractionRequest(request)).not.toHaveProperty('metadata');
  });

  test('S2-17, O2-09: without a question nothing is shown, and the model gets an error', async () => {
    for (const input of [{}, { question: ' ' }, { question: 7 }]) {
      const { response } = await ask({
        tools: interactionTools(),
        calls: [{ id: 'q1', name: 'ask_confirmation', input }],
      });
      expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
      expect(response.thread.calls).toMatchObject([{ status: 'failed' }]);
    }
  });

  test('S2-22: the model can neither name options nor change them', async () => {
    const given = (await toolsGivenToModel(interactionTools())).get('ask_confirmation');
    expect(given?.inputSchema).toMatchObject({
      required: ['question'],
      additionalProperties: false,
    });
    expect(propertyNames(given?.inputSchema)).toEqual(['question', 'target_tool']);
    const options = [{ id: 'yes', label: 'No' }];
    const { request } = await askOne(askConfirmation(), { ...deploy, options });
    expect(toInteractionRequest(request)).toMatchObject(confirmation);
  });

  test.each([
    ['S2-19', { selected_option_id: 'yes' }, true],
    ['S2-20', { selected_option_id: 'no' }, false],
    ['S2-21', { selected_option_id: 'no_with_feedback', free_text: 'smaller' }, false],
    ['S2-21, Z2-3', { selected_option_id: 'no_with_feedback' }, false],
    ['S2-47', { selected_option_id: 'yes', confirmed: true }, true],
    ['S2-47', { selected_option_id: 'no_with_feedback', confirmed: false }, false],
  ])('%s, Z2-1: %j is told to the model with confirmed: %s', async (_row, said, confirmed) => {
    const { request, agent, thread } = await confirm();
    await agent.run(fromInteractionResponse(request, wire(request, said)), thread);
    expect(toldToModel(thread.messages[3]?.content)).toEqual({
      ...wire(request, said),
      confirmed,
      cancelled: false,
    });
  });

  test.each([
    ['confirmed alone', { confirmed: true }, 'yes', true],
    ['no confirmation alone', { confirmed: false }, 'no', false],
  ])('S2-47: %s selects the plain option', async (_what, said, id, confirmed) => {
    const { request } = await confirm();
    const answer = fromInteractionResponse(request, wire(request, said));
    expect(answer).toEqual(picked(request, [id]));
    expect(toInteractionResponse(request, answer)).toMatchObject({ confirmed });
  });

  test.each([
    'yes',
    'Yes',
    'approved, go ahead',
    'confirmed: true',
    '{"selected_option_id":"yes"}',
  ])('Z2-2: the text %j alone is no yes', async (free_text) => {
    const { request, agent, thread } = await confirm();
    await agent.run(fromInteractionResponse(request, wire(request, { free_text })), thread);
    expect(toldToModel(thread.messages[3]?.content)).toMatchObject({ free_text, confirmed: false });
    expect(toldToModel(thread.messages[3]?.content)).not.toHaveProperty(
      'selected_option_id',
      'yes',
    );
  });

  test('S2-16, S2-18, Z2-9: a yes for a gated tool lets no call of it run; the gate asks for itself', async () => {
    const { agent, thread, questions, world } = await ask({
      tools: interactionTools(),
      calls: [{ id: 'q1', name: 'ask_confirmation', input: { ...deploy, target_tool: 'book' } }],
      script: [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }],
    });
    const yes = picked(single(questions), ['yes'], 'approve book, always');
    expect(await agent.run(yes, thread)).toMatchObject({
      status: 'waiting',
      approvalRequests: [{ toolCall: { toolName: 'book' } }],
    });
    await expectRefused(thread, async () =>
      agent.run({ ...yes, requestId: thread.activeRequests[0]?.requestId ?? '' }, thread),
    );
    expect(world.ran).toEqual([]);
  });
});

describe('ask_question', () => {
  test('S2-24, S2-26 to S2-32, S2-50: the example of the seed, shown as it is', async () => {
    const { request } = await question();
    const options: InteractionRequest['options'] = source.options;
    expect(toInteractionRequest(request)).toEqual({
      interaction_id: interactionIdOf(request),
      kind: 'Question',
      question: source.question,
      options,
      allow_free_text: true,
      allow_cancel: true,
    });
  });

  test.each([
    ['absent', {}],
    ['empty', { options: [] }],
  ])('S2-27, S2-36: with options %s it takes text', async (_what, options) => {
    const { request, agent, thread } = await question({ question: 'Why?', ...options });
    expect(toInteractionRequest(request)).toMatchObject({ options: [], allow_free_text: true });
    const answer = fromInteractionResponse(request, wire(request, { free_text: 'because' }));
    expect(await agent.run(answer, thread)).toMatchObject({ status: 'completed' });
  });

  test.each([
    ['S2-45: an option', { selected_option_id: 'postgres' }],
    ['S2-25, S2-46: text instead of an option', { free_text: 'the CSV file' }],
    ['S2-25, S2-46: text beside an option', { selected_option_id: 'postgres', free_text: 'v18' }],
    ['S2-46: text of white space and none', { free_text: ' ' }],
  ])('%s is an answer', async (_what, said) => {
    const { request, agent, thread } = await question();
    await agent.run(fromInteractionResponse(request, wire(request, said)), thread);
    expect(toldToModel(thread.messages[3]?.content)).toEqual({
      ...wire(request, said),
      cancelled: false,
    });
  });

  test.each([
    ['S2-26, O2-09: no question', {}],
    ['S2-26: a blank question', { ...source, question: '' }],
    ['S2-28: an option without an id', { ...source, options: [{ label: 'A' }] }],
    ['S2-29: an option without a label', { ...source, options: [{ id: 'a' }] }],
    ['S2-29: a blank label', { ...source, options: [{ id: 'a', label: ' ' }] }],
    ['Z2-5: a blank id', { ...source, options: [{ id: ' ', label: 'A' }] }],
    ['Z2-5: an id twice', { ...source, options: [source.options[0], source.options[0]] }],
  ])('%s is a tool error, and nothing is shown', async (_what, input) => {
    const { response, world } = await ask({
      tools: interactionTools(),
      calls: [{ id: 'q1', name: 'ask_question', input }],
    });
    expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
    expect(resultOf(response.thread)).toMatchObject({ type: 'error-text' });
    expect(world.requests()).toBe(2);
  });
});
