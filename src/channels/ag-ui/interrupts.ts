import type { InputSchemas } from '../../agent.ts';
import {
  hidePrincipals,
  type UserInputRequest,
  type UserInputRequestContent,
} from '../../content/user-input.ts';
import { inertText } from '../../content/inert-text.ts';
import type { RequestRights } from '../../content/request-rights.ts';
import { renderRequesters } from '../../content/request-text.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import {
  interactionIdOf,
  type InteractionRequest,
  toInteractionRequest,
  toInteractionResponse,
} from '../../tools/interaction.ts';
import { makeRequestCard, renderCardLines } from '../../view/request-card.ts';
import type { RequestEnd } from '../../view/thread-items.ts';
import { makeAnswerSchema } from './answer-format.ts';
import type { Interrupt, AgUiEvent } from './ag-ui-event.ts';
import { readRequestId } from '../../thread/request-events.ts';

/** Facts about requests that are not part of them. */
export interface InterruptFacts {
  /** The schemas of the tools' inputs, for requests that allow edits. */
  schemas: InputSchemas;
  /** The rights of the run's person to each. */
  rights: ReadonlyMap<string, RequestRights>;
}

/** A request as an interrupt of the run that ends with it. See ADR 12. */
export function toInterrupt(
  content: UserInputRequestContent,
  { schemas, rights }: InterruptFacts,
): Interrupt {
  const request: UserInputRequest = hidePrincipals(content);
  const { requestId: id, expiresAt } = request;
  const requestedBy = renderRequesters(request);
  const toolCall = findOwnCall(request);
  const own = rights.get(id);
  return {
    id,
    reason: nameInterruptReason(request),
    message: renderInterruptMessage(request),
    ...(toolCall === undefined ? {} : { toolCallId: toolCall.toolCallId }),
    responseSchema: makeAnswerSchema(request, toolCall && schemas.get(toolCall.toolName)),
    ...(expiresAt === undefined
      ? {}
      : { expiresAt: new Date(Math.min(expiresAt, 8.64e15)).toISOString() }),
    metadata: {
      holdpoint: request,
      ...(requestedBy === undefined ? {} : { requestedBy }),
      ...(own === undefined ? {} : { rights: own }),
    },
  };
}

/*
 * The client doesn't have a sub-agent's call: it would show another call with that id as the one to approve. A sub-agent's tool may also
 * share its name with another tool here.
 */
function findOwnCall({ toolCall, path }: UserInputRequest): UserInputRequest['toolCall'] {
  return path === undefined ? toolCall : undefined;
}

/* The message of an approval says everything, because a client may show nothing else. A question has its form for the rest. */
function renderInterruptMessage(request: UserInputRequest): string {
  if (request.type !== 'approval-request') return inertText(request.text);
  const card = makeRequestCard(request);
  const { title, call } = card;
  return [
    inertText(title),
    ...(call === undefined ? [] : [inertText(`${call.toolName} ${JSON.stringify(call.input)}`)]),
    ...renderCardLines(card),
  ].join('\n');
}

function nameInterruptReason(request: UserInputRequest): Interrupt['reason'] {
  if (request.type === 'question-request') {
    return request.kind === 'confirmation' ? 'confirmation' : 'input_required';
  }
  return findOwnCall(request) === undefined ? 'confirmation' : 'tool_call';
}

/** A request as an `InteractionRequest`; `undefined` if that can't express it: an approval, a form, several picks, or no free text. */
function toInteraction(request: UserInputRequest): InteractionRequest | undefined {
  if (request.type !== 'question-request') return undefined;
  try {
    return toInteractionRequest(request);
  } catch {
    return undefined;
  }
}

/** The event of a request for front ends of interactions: in camel case, without empty fields. */
export function makeInteractionRequested(request: UserInputRequest): AgUiEvent[] {
  const interaction = toInteraction(request);
  if (interaction === undefined) return [];
  const { options, kind, ...rest } = interaction;
  const value = {
    ...toCamelCase(rest),
    kind: kind.toLowerCase(),
    ...(options.length === 0 ? {} : { options }),
  };
  return [{ type: 'CUSTOM', name: 'interaction_requested', value }];
}

/** The event of an interaction that has ended, for front ends that know only these events. */
export function makeInteractionEnded(
  event: RequestEnd,
  requests: ReadonlyMap<string, UserInputRequest>,
): AgUiEvent[] {
  const request = requests.get(readRequestId(event));
  if (request?.type !== 'question-request' || toInteraction(request) === undefined) return [];
  const interactionId = interactionIdOf(request);
  if (event.type === 'request-closed') {
    const { cause, reason, person } = event;
    switch (cause) {
      case 'expired':
        return [{ type: 'CUSTOM', name: 'interaction_expired', value: { interactionId } }];
      case 'cancelled':
      case 'invalidated':
        return [makeInteractionCancelled(interactionId, { reason, person })];
    }
  }
  if (event.response.type !== 'question-response') return [];
  if (event.response.status === 'dismissed') return [makeInteractionCancelled(interactionId)];
  const value = toCamelCase(toInteractionResponse(request, event.response));
  return [{ type: 'CUSTOM', name: 'interaction_resolved', value }];
}

/** The requests of a thread, open or not, by their ids. */
export function mapRequests(events: readonly ThreadEvent[]): Map<string, UserInputRequest> {
  const requests = new Map<string, UserInputRequest>();
  for (const event of events)
    if (event.type === 'request-opened') requests.set(event.request.requestId, event.request);
  return requests;
}

function makeInteractionCancelled(
  interactionId: string,
  { reason, person }: { reason?: string | undefined; person?: string | undefined } = {},
): AgUiEvent {
  const why = reason === undefined ? {} : { reason };
  const who = person === undefined ? {} : { cancelledBy: person };
  return {
    type: 'CUSTOM',
    name: 'interaction_cancelled',
    value: { interactionId, ...why, ...who },
  };
}

function toCamelCase(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      item,
    ]),
  );
}
