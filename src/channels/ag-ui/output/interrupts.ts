import { inertText } from '../../../content/inert-text.ts';
import { askerLines, requesterLine } from '../../../content/requester-text.ts';
import type { UserInputRequest, UserInputRequestContent } from '../../../content/user-input.ts';
import type { Interrupt } from './ag-ui-event.ts';
import { questionSchema } from '../input/question-schema.ts';

/** A request as an interrupt of the run that ends with it. */
export function toInterrupt(content: UserInputRequestContent): Interrupt {
  const request: UserInputRequest = { ...content };
  const { requestId: id, expiresAt } = request;
  const requestedBy = requesterLine(request.requestedBy);
  const toolCall = shownCall(request);
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
    metadata: {
      holdpoint: request,
      ...(requestedBy === undefined ? {} : { requestedBy }),
    },
  };
}

/* The client does not have a sub-agent's call: by its id, it would show another call as the one to approve. */
function shownCall({ toolCall, path }: UserInputRequest): UserInputRequest['toolCall'] {
  return path === undefined ? toolCall : undefined;
}

/* The call and who asks are in the message too, because a client may show only the message. */
function promptOf(request: UserInputRequest): string {
  const { text, toolCall, type } = request;
  if (type !== 'approval-request') return inertText(text);
  const call = toolCall && inertText(`${toolCall.toolName} ${JSON.stringify(toolCall.input)}`);
  return [inertText(text), ...(call === undefined ? [] : [call]), ...askerLines(request)].join(
    '\n',
  );
}

function reasonOf(request: UserInputRequest): Interrupt['reason'] {
  if (request.type === 'question-request') {
    return request.kind === 'confirmation' ? 'confirmation' : 'input_required';
  }
  return shownCall(request) === undefined ? 'confirmation' : 'tool_call';
}

/* There is no `editedArgs`: the call runs with the input that was shown. */
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
