import { hidePrincipals } from '../../../content/hide-principals.ts';
import { inertText } from '../../../content/inert-text.ts';
import { askerLines, requestersLine } from '../../../content/requester-text.ts';
import type { InputSchemas } from '../../../agent/input-schemas.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import { lookAlikeWarnings } from '../../../content/look-alikes.ts';
import { termLines } from '../../../content/term-lines.ts';
import type { UserInputRequest, UserInputRequestContent } from '../../../content/user-input.ts';
import type { Interrupt } from './ag-ui-event.ts';
import { approvalSchema } from '../input/approval-schema.ts';
import { questionSchema } from '../input/question-schema.ts';

/** A request as an interrupt of the run that ends with it. `schemas` are those of the tools' inputs, for a request that allows edits. */
export function toInterrupt(content: UserInputRequestContent, schemas: InputSchemas): Interrupt {
  const request: UserInputRequest = hidePrincipals(content);
  const { requestId: id, expiresAt } = request;
  const requestedBy = requestersLine(request);
  const toolCall = shownCall(request);
  return {
    id,
    reason: reasonOf(request),
    message: promptOf(request),
    ...(toolCall === undefined ? {} : { toolCallId: toolCall.toolCallId }),
    responseSchema:
      request.type === 'approval-request'
        ? approvalSchema(request, inputSchemaOf(request, schemas))
        : questionSchema(request),
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

/* A sub-agent's tool may have the name of another tool here. */
function inputSchemaOf({ toolCall, path }: ApprovalRequest, schemas: InputSchemas): unknown {
  return path === undefined && toolCall ? schemas.get(toolCall.toolName) : undefined;
}

/* The call, who asks and who decides are in the message too, because a client may show only the message. */
function promptOf(request: UserInputRequest): string {
  if (request.type !== 'approval-request') return inertText(request.text);
  const { text, toolCall } = request;
  const call = toolCall && inertText(`${toolCall.toolName} ${JSON.stringify(toolCall.input)}`);
  return [
    inertText(text),
    ...(call === undefined ? [] : [call]),
    ...askerLines(request),
    ...termLines(request),
    ...lookAlikeWarnings(request),
  ].join('\n');
}

function reasonOf(request: UserInputRequest): Interrupt['reason'] {
  if (request.type === 'question-request') {
    return request.kind === 'confirmation' ? 'confirmation' : 'input_required';
  }
  return shownCall(request) === undefined ? 'confirmation' : 'tool_call';
}
