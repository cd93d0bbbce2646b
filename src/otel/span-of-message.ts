import { type Attributes, type Link, SpanKind } from '@opentelemetry/api';
import type {
  CallFacts,
  InvokedMessage,
  ModelName,
  RequestFacts,
  TraceMessage,
} from '../thread/trace-message.ts';
import { placeOf } from './place-in-trace.ts';
import { providerName } from './provider-name.ts';

/** What is recorded beside the facts. */
export interface Recording {
  recordInputs: boolean;
  recordOutputs: boolean;
  recordPrincipals: boolean;
}

/** What a span begins with. */
export interface SpanBeginning {
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  links: Link[];
}

/** The span of a message; `finished` has none, as nothing happens in it. What people, models and tools wrote is there when asked for. */
export function spanOfMessage(
  message: TraceMessage,
  { recordInputs, recordPrincipals }: Recording,
): SpanBeginning | undefined {
  switch (message.type) {
    case 'invoked':
      return spanNamed('invoke_agent', message.agentName, {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': message.agentName,
        'gen_ai.conversation.id': message.threadId,
        ...modelAttributes(message),
      });
    case 'prompted': {
      const beginning = spanNamed('chat', message.modelId, {
        'gen_ai.operation.name': 'chat',
        'gen_ai.conversation.id': message.threadId,
        ...modelAttributes(message),
        'holdpoint.step': message.step,
      });
      return { ...beginning, kind: SpanKind.CLIENT };
    }
    case 'requested': {
      const kind = isApproval(message) ? 'approval_request' : 'question_request';
      const input = recordInputs ? message.request.toolCall?.input : undefined;
      return spanAbout(kind, message, { 'gen_ai.tool.call.arguments': jsonOf(input) });
    }
    case 'answered': {
      const kind = isApproval(message) ? 'approval_decision' : 'question_answer';
      return spanAbout(kind, message, {
        'holdpoint.decision': message.decision,
        'holdpoint.wait': message.waitedMs / 1000,
        'holdpoint.channel': message.channel,
        'holdpoint.principal': recordPrincipals ? jsonOf(message.principal) : undefined,
      });
    }
    case 'closed': {
      const kind = isApproval(message) ? 'approval_closed' : 'question_closed';
      return spanAbout(kind, message, {
        'holdpoint.outcome': message.cause,
        'holdpoint.wait': message.waitedMs / 1000,
      });
    }
    case 'started':
      return spanAbout('execute_tool', message, {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.description': message.description,
        'gen_ai.tool.call.arguments': recordInputs ? jsonOf(message.input) : undefined,
        'holdpoint.attempt': message.attempt,
      });
    case 'delivered':
      return spanAbout('answer_delivery', message, {});
    case 'indeterminate':
      return spanAbout('indeterminate_call', message, {
        'error.type': 'indeterminate',
        'holdpoint.attempt': message.attempt,
      });
    case 'finished':
      return undefined;
  }
}

/** What is added to a span at the end of an operation that succeeded. */
export function attributesAtEnd(message: TraceMessage, { recordOutputs }: Recording): Attributes {
  switch (message.type) {
    case 'invoked':
      return known({
        'holdpoint.run.id': message.runId,
        'holdpoint.status': message.status,
        ...answerAttributes(message),
      });
    case 'prompted':
      return known({
        'gen_ai.response.id': message.answer?.id,
        'gen_ai.response.model': message.answer?.modelId,
        ...answerAttributes(message.answer ?? {}),
      });
    case 'started':
      return known({
        'gen_ai.tool.call.result': recordOutputs ? jsonOf(message.result) : undefined,
      });
    default:
      return {};
  }
}

/** What is told of a request that is open no more. */
export type EndOfRequest = Extract<TraceMessage, { type: 'answered' | 'closed' }>;

/** The span of a request from its opening to its close. */
export function waitOf(
  message: EndOfRequest,
  { recordPrincipals }: Recording,
): Pick<SpanBeginning, 'name' | 'attributes'> {
  const kind = isApproval(message) ? 'approval_wait' : 'question_wait';
  if (message.type === 'closed') {
    return spanAbout(kind, message, { 'holdpoint.outcome': message.cause });
  }
  return spanAbout(kind, message, {
    'holdpoint.outcome': message.decision,
    'holdpoint.channel': message.channel,
    'holdpoint.principal': recordPrincipals ? jsonOf(message.principal) : undefined,
  });
}

/** Whether a message is about an approval, and not about a question. */
export function isApproval({ requestType }: RequestFacts): boolean {
  return requestType === 'approval-request';
}

/** The JSON of a value; nothing for what has none. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function modelAttributes({ provider, modelId }: ModelName): Attributes {
  return {
    'gen_ai.provider.name': provider === undefined ? undefined : providerName(provider),
    'gen_ai.request.model': modelId,
  };
}

function answerAttributes({
  finishReason,
  usage,
}: Pick<InvokedMessage, 'finishReason' | 'usage'>): Attributes {
  return {
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
  };
}

type Facts = (RequestFacts | CallFacts) & { follows?: string | undefined };

function spanAbout(kind: string, facts: Facts, attributes: Attributes): SpanBeginning {
  const { threadId, conversationId, toolName, toolCallId, requestId, follows } = facts;
  const beginning = spanNamed(kind, toolName, {
    'gen_ai.conversation.id': conversationId ?? threadId,
    'holdpoint.thread.id': conversationId === undefined ? undefined : threadId,
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolCallId,
    'holdpoint.request.id': requestId,
    ...attributes,
  });
  return { ...beginning, links: follows === undefined ? [] : [{ context: placeOf(follows) }] };
}

function spanNamed(kind: string, of: string | undefined, attributes: Attributes): SpanBeginning {
  return {
    name: of === undefined ? kind : `${kind} ${of}`,
    kind: SpanKind.INTERNAL,
    attributes: known(attributes),
    links: [],
  };
}

function known(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
