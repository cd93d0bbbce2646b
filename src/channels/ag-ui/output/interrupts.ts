import { hidePrincipals } from '../../../content/hide-principals.ts';
import { inertText } from '../../../content/inert-text.ts';
import { renderAsker, renderRequesters } from '../../../content/requester-text.ts';
import type { InputSchemas } from '../../../agent/input-schemas.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import { lookAlikeWarnings } from '../../../content/look-alikes.ts';
import { renderTerms } from '../../../content/term-lines.ts';
import type { UserInputRequest, UserInputRequestContent } from '../../../content/user-input.ts';
import type { Interrupt } from './ag-ui-event.ts';
import { makeApprovalSchema } from '../input/approval-schema.ts';
import { makeQuestionSchema } from '../input/question-schema.ts';

/** A request as an interrupt of the run that ends with it. `schemas` are those of the tools' inputs, for a request that allows edits. */
export function toInterrupt(content: UserInputRequestContent, schemas: InputSchemas): Interrupt {
  const request: UserInputRequest = hidePrincipals(content);
  const { requestId: id, expiresAt } = request;
  const requestedBy = renderRequesters(request);
  const toolCall = findOwnCall(request);
  return {
    id,
    reason: nameInterruptReason(request),
    message: renderInterruptMessage(request),
    ...(toolCall === undefined ? {} : { toolCallId: toolCall.toolCallId }),
    responseSchema:
      request.type === 'approval-request'
        ? makeApprovalSchema(request, findInputSchema(request, schemas))
        : makeQuestionSchema(request),
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
function findOwnCall({ toolCall, path }: UserInputRequest): UserInputRequest['toolCall'] {
  return path === undefined ? toolCall : undefined;
}

/* A sub-agent's tool may have the name of another tool here. */
function findInputSchema({ toolCall, path }: ApprovalRequest, schemas: InputSchemas): unknown {
  return path === undefined && toolCall ? schemas.get(toolCall.toolName) : undefined;
}

/* The call, who asks and who decides are in the message too, because a client may show only the message. */
function renderInterruptMessage(request: UserInputRequest): string {
  if (request.type !== 'approval-request') return inertText(request.text);
  const { text, toolCall } = request;
  const call = toolCall && inertText(`${toolCall.toolName} ${JSON.stringify(toolCall.input)}`);
  return [
    inertText(text),
    ...(call === undefined ? [] : [call]),
    ...renderAsker(request),
    ...renderTerms(request),
    ...lookAlikeWarnings(request),
  ].join('\n');
}

function nameInterruptReason(request: UserInputRequest): Interrupt['reason'] {
  if (request.type === 'question-request') {
    return request.kind === 'confirmation' ? 'confirmation' : 'input_required';
  }
  return findOwnCall(request) === undefined ? 'confirmation' : 'tool_call';
}
