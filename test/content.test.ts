import { questionRequestSchema, questionResponseSchema } from 'holdpoint/schemas';
import { expect, test } from 'vitest';

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
