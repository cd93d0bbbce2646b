import { inertText, questionRequestSchema, questionResponseSchema } from 'holdpoint';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

test.each([
  ['\u001B[31mred', '\\u{1b}[31mred'],
  ['a\rb\bc\u0007', 'a\\u{d}b\\u{8}c\\u{7}'],
  ['evil\u202Etxt.exe', 'evil\\u{202e}txt.exe'],
  ['zero\u200Bwidth\u{E0041}', 'zero\\u{200b}width\\u{e0041}'],
  ['no\u00A0break\u2028', 'no\\u{a0}break\\u{2028}'],
  ['back\\slash', 'back\\\\slash'],
  ['Grüße, 東京 ✓', 'Grüße, 東京 ✓'],
])('inertText shows what is hidden in %j', (text, shown) => {
  expect(inertText(text)).toBe(shown);
});

test('inertText keeps different texts different, and shows nothing that acts', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(inertText(one) === inertText(other)).toBe(one === other);
      expect(inertText(one)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    }),
  );
});

test('a question is a request like an approval: several fields, options, free text by policy, dismissal apart', () => {
  const question = {
    type: 'question-request',
    kind: 'form',
    requestId: 'r',
    threadId: 't',
    text: 'Which flight?',
    fields: [
      {
        key: 'flight',
        label: 'Flight',
        options: [
          { id: 'a', label: 'Early' },
          { id: 'b', label: 'Late', description: 'with a stop' },
        ],
        min: 1,
        max: 1,
        preselected: ['a'],
        freeText: 'optional',
      },
    ],
    allowDismiss: true,
    dismissAnswer: [{ key: 'flight', optionIds: ['b'] }],
    createdAt: 1,
  };
  expect(questionRequestSchema.parse(question)).toEqual(question);
  const answered = {
    type: 'question-response',
    requestId: 'r',
    status: 'answered',
    answers: [{ key: 'flight', optionIds: ['a'] }],
  };
  expect(questionResponseSchema.parse(answered)).toEqual(answered);
  expect(questionResponseSchema.safeParse({ ...answered, approved: true }).success).toBe(false);
});
