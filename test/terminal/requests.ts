import type { ApprovalRequest, QuestionRequestContent } from 'holdpoint';

type QuestionField = QuestionRequestContent['fields'][number];

const options = (labels: readonly string[]): QuestionField['options'] =>
  labels.map((label, index) => ({ id: `option-${index}`, label }));

/** An approval as it stands in a log. */
export function approval(request: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    type: 'approval-request',
    requestId: 'approval-1',
    threadId: 'thread',
    text: 'May I book this flight?',
    reason: 'A booking costs money.',
    toolCall: {
      toolCallId: 'call-1',
      toolName: 'bookFlight',
      input: { flight: 'AF1234', price: 420 },
    },
    digest: 'digest',
    createdAt: 1,
    ...request,
  };
}

/** A field: by default one that is picked from. */
export function field(labels: readonly string[], more: Partial<QuestionField> = {}): QuestionField {
  return {
    key: 'field',
    label: '',
    options: options(labels),
    min: 1,
    max: 1,
    freeText: 'never',
    ...more,
  };
}

/** A question as it stands in a log. */
export function question(
  fields: QuestionField | QuestionField[],
  more: Partial<QuestionRequestContent> = {},
): QuestionRequestContent {
  return {
    type: 'question-request',
    kind: 'question',
    requestId: 'question-1',
    threadId: 'thread',
    text: 'Which one?',
    fields: [fields].flat(),
    allowDismiss: true,
    createdAt: 1,
    ...more,
  };
}

/** Seed 004's own example. */
export const refactoring = {
  question: 'How would you like me to proceed with this refactoring?',
  options: ['Apply the changes now', 'Show me a diff first', 'Create a separate branch', 'Cancel'],
};
