import * as fc from 'fast-check';
import type { QuestionResponseContent } from 'holdpoint';
import {
  fromInteractionResponse,
  interactionIdOf,
  type InteractionResponse,
  questionTool,
  toInteractionRequest,
  toInteractionResponse,
} from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askOne, dismissed, expectRefused, overTheWire, picked, refusalOf } from './asked.ts';
import { confirm, question, source, wire } from './seed-interactions.ts';

const optional = <VALUE>(value: fc.Arbitrary<VALUE>) =>
  fc.option(value, { nil: undefined, freq: 2 });

describe('responses', () => {
  test('S2-44 to S2-48, O2-01: camel case is taken as snake case is', async () => {
    const { request } = await question();
    const interactionId = interactionIdOf(request);
    const camel = {
      interactionId,
      selectedOptionId: 'postgres',
      freeText: 'v18',
      cancelled: false,
    };
    const expected = picked(request, ['postgres'], 'v18');
    expect(fromInteractionResponse(request, camel)).toEqual(expected);
    expect(fromInteractionResponse(request, { interactionId, cancelled: true })).toEqual(
      dismissed(request),
    );
    const absent = { freeText: null, confirmed: null, selectedOptionId: 'postgres' };
    expect(fromInteractionResponse(request, { interactionId, ...absent })).toEqual(
      picked(request, ['postgres']),
    );
  });

  test('S2-44: the id of the request as holdpoint writes it is taken too', async () => {
    const { request } = await question();
    const said = { interaction_id: request.requestId, selected_option_id: 'postgres' };
    expect(fromInteractionResponse(request, said)).toEqual(picked(request, ['postgres']));
  });

  test.each<[string, object]>([
    [
      'S2-44: another id',
      { interaction_id: '00000000-0000-0000-0000-000000000000', free_text: 'x' },
    ],
    ['S2-44: no id', { interaction_id: undefined, free_text: 'x' }],
    ['S2-44: ids in both spellings', { interactionId: 'other', free_text: 'x' }],
    ['S2-45: an option that is no text', { selected_option_id: 1 }],
    ['S2-46: a text that is none', { free_text: ['x'] }],
    ['S2-47: confirmed as text', { confirmed: 'true' }],
    ['S2-48: cancelled as text', { cancelled: 'false', selected_option_id: 'yes' }],
    ['unknown keys', { selected_option_id: 'yes', approved: true }],
    ['Z2-1: no, and confirmed', { selected_option_id: 'no', confirmed: true }],
    [
      'Z2-1: no with feedback, and confirmed',
      { selected_option_id: 'no_with_feedback', confirmed: true },
    ],
    ['Z2-1: yes, and not confirmed', { selected_option_id: 'yes', confirmed: false }],
    ['Z2-1: cancelled with a selection', { cancelled: true, selected_option_id: 'no' }],
    ['Z2-1: cancelled with a text', { cancelled: true, free_text: 'later' }],
    ['Z2-1: cancelled and confirmed', { cancelled: true, confirmed: true }],
    ['Z2-4: an unknown option', { selected_option_id: 'maybe' }],
    ['Z2-4: the label of an option', { selected_option_id: 'Yes' }],
    ['Z2-4: an empty option', { selected_option_id: '' }],
    ['X-06: an option from the prototype', { selected_option_id: 'constructor' }],
    ['nothing said', {}],
  ])('%s is refused, and the request stays open', async (_what, said) => {
    const { request, agent, thread } = await confirm();
    await expectRefused(thread, async () =>
      agent.run(fromInteractionResponse(request, wire(request, said)), thread),
    );
  });

  test.each(['yes', null, 7, ['yes']])('%j is refused', async (said) => {
    const { request, thread } = await confirm();
    await expectRefused(thread, async () => {
      fromInteractionResponse(request, said);
    });
  });

  test('S2-49: metadata of a response is recorded, or refused, and never dropped', async () => {
    const { request } = await question();
    const said = wire(request, { free_text: 'x', metadata: { clicks: 3 }, cancelled: false });
    let answer: QuestionResponseContent;
    try {
      answer = fromInteractionResponse(request, said);
    } catch {
      return;
    }
    expect(toInteractionResponse(request, answer)).toEqual(said);
  });

  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'yes', 'cancelled', '__proto__', '\u202e', '\0', '{"a":1}'),
  );
  test.each<['Question' | 'Confirmation', () => ReturnType<typeof confirm>, string[]]>([
    ['Question', question, ['postgres', 'bigquery']],
    ['Confirmation', confirm, ['yes', 'no', 'no_with_feedback']],
  ])(
    'S2-44 to S2-48, Z2-1: every answer to a %s goes over the wire and back without loss',
    async (_kind, start, ids) => {
      const { request } = await start();
      const said = fc.record({ id: optional(fc.constantFrom(...ids)), typed: optional(text) });
      fc.assert(
        fc.property(said, ({ id, typed }) => {
          const answer =
            id === undefined && typed === undefined
              ? dismissed(request)
              : picked(request, id === undefined ? [] : [id], typed);
          const response: InteractionResponse = toInteractionResponse(request, answer);
          expect(fromInteractionResponse(request, overTheWire(response))).toEqual(answer);
        }),
      );
    },
  );

  test('O2-01: keys that are not set are left out of the wire', async () => {
    const { request } = await question();
    const response = toInteractionResponse(request, picked(request, ['postgres']));
    expect(Object.keys(response)).toEqual(['interaction_id', 'selected_option_id', 'cancelled']);
  });
});

describe('S2-54: a request or an answer that the shape can not hold is refused:', () => {
  test.each<[string, number, 'never' | 'optional' | 'only', number]>([
    ['a form', 2, 'optional', 1],
    ['a choice without text', 1, 'never', 1],
    ['a multiple choice', 1, 'optional', 2],
    ['options beside text alone', 1, 'only', 1],
  ])('%s', async (_what, fields, freeText, max) => {
    const custom = questionTool({
      description: 'asks',
      inputSchema: z.object({}),
      toQuestion: () => ({
        kind: 'question',
        text: 'So?',
        allowDismiss: true,
        fields: Array.from({ length: fields }, (_, index) => ({
          key: `f${index}`,
          label: 'So?',
          options: ['a', 'b'].map((id) => ({ id, label: id })),
          min: 1,
          max,
          freeText,
        })),
      }),
      toResult: () => ({ status: 'succeeded', output: null }),
    });
    const { request } = await askOne(custom, {});
    const refusal = await refusalOf(() => toInteractionRequest(request));
    expect(refusal).toMatchObject({ code: 'invalid-input' });
  });

  test('an answer of several options or fields', async () => {
    const { request } = await question();
    const several = picked(request, ['postgres', 'bigquery']);
    const refusal = await refusalOf(() => toInteractionResponse(request, several));
    expect(refusal).toMatchObject({ code: 'invalid-answer' });
  });

  test('metadata of an app that is not of the shape', async () => {
    const { request } = await question(source, { metadata: { timeout_ms: 'soon' } });
    const refusal = await refusalOf(() => toInteractionRequest(request));
    expect(refusal).toMatchObject({ code: 'invalid-input' });
  });
});
