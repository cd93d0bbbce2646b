import { inertText } from '../../../content/inert-text.ts';
import type { UserInputRequest, UserInputRequestContent } from '../../../content/user-input.ts';
import type { Interrupt } from './ag-ui-event.ts';
import { questionSchema } from '../input/question-schema.ts';
import { requesterLine } from './shown-requester.ts';

/** A request, as the run that ends with it says it. */
export function toInterrupt(content: UserInputRequestContent): Interrupt {
  const request: UserInputRequest = { ...content };
  const { requestId: id, toolCall, expiresAt } = request;
  const requestedBy = requesterLine(request);
  return {
    id,
    reason: reasonOf(request),
    message: promptOf(request),
    ...(toolCall === undefined ? {} : { toolCallId: toolCall.toolCallId }),
    responseSchema:
      request.type === 'approval-request' ? approvalSchema(request) : questionSchema(request),
    ...(expiresAt === undefined
      ? {}
      : { expiresAt: new Date(Math.min(expiresAt, 8.64e15)).toISOString() }),
    metadata: { holdpoint: request, ...(requestedBy === undefined ? {} : { requestedBy }) },
  };
}

/* What an approval is about stands in the message too, and who asked for it: a client may show no more than that. */
function promptOf(request: UserInputRequest): string {
  const { text, toolCall, type } = request;
  if (type !== 'approval-request') return inertText(text);
  const call = toolCall && inertText(`${toolCall.toolName} ${JSON.stringify(toolCall.input)}`);
  const requester = requesterLine(request);
  return [
    inertText(text),
    ...(call === undefined ? [] : [call]),
    ...(requester === undefined ? [] : [`Asked for by: ${requester}`]),
  ].join('\n');
}

function reasonOf(request: UserInputRequest): Interrupt['reason'] {
  if (request.type === 'question-request') {
    return request.kind === 'confirmation' ? 'confirmation' : 'input_required';
  }
  return request.toolCall === undefined ? 'confirmation' : 'tool_call';
}

/* No `editedArgs`: what was shown is what runs. */
function approvalSchema({ digest }: { digest: string }): Record<string, unknown> {
  return {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      reason: { type: 'string' },
      digest: { const: digest },
    },
    required: ['approved'],
    additionalProperties: false,
  };
}
