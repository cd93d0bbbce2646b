import { type Attributes, SpanKind } from '@opentelemetry/api';
import type {
  InvokedMessage,
  ModelName,
  PromptedMessage,
  TraceMessage,
} from '../thread/tracing/trace-message.ts';
import { providerName } from './provider-name.ts';
import {
  isApproval,
  jsonOf,
  type Recording,
  spanAbout,
  type SpanBeginning,
  spanNamed,
} from './span-beginning.ts';

type MessageOf<TYPE extends TraceMessage['type']> = Extract<TraceMessage, { type: TYPE }>;

/** The span of a message; `finished` has none, as it takes no time. Content is recorded only if `recording` says so. */
export function spanOfMessage(
  message: TraceMessage,
  recording: Recording,
): SpanBeginning | undefined {
  switch (message.type) {
    case 'invoked':
      return spanOfRun(message);
    case 'prompted':
      return spanOfModel(message);
    case 'requested':
      return spanOfRequest(message, recording);
    case 'answered':
      return spanOfAnswer(message, recording);
    case 'closed':
      return spanAbout(isApproval(message) ? 'approval_closed' : 'question_closed', message, {
        'holdpoint.outcome': message.cause,
        'holdpoint.wait': message.waitedMs / 1000,
      });
    case 'started':
      return spanOfTool(message, recording);
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

function spanOfRun(message: InvokedMessage): SpanBeginning {
  return spanNamed('invoke_agent', message.agentName, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': message.agentName,
    ...attributesOfModel(message),
  });
}

function spanOfModel(message: PromptedMessage): SpanBeginning {
  const beginning = spanNamed('chat', message.modelId, {
    'gen_ai.operation.name': 'chat',
    ...attributesOfModel(message),
    'holdpoint.step': message.step,
  });
  return { ...beginning, kind: SpanKind.CLIENT };
}

function attributesOfModel({
  threadId,
  provider,
  modelId,
}: ModelName & { threadId: string }): Attributes {
  return {
    'gen_ai.conversation.id': threadId,
    'gen_ai.provider.name': provider === undefined ? undefined : providerName(provider),
    'gen_ai.request.model': modelId,
  };
}

function spanOfRequest(
  message: MessageOf<'requested'>,
  { recordInputs }: Recording,
): SpanBeginning {
  const input = recordInputs ? message.request.toolCall?.input : undefined;
  return spanAbout(isApproval(message) ? 'approval_request' : 'question_request', message, {
    'gen_ai.tool.call.arguments': jsonOf(input),
  });
}

function spanOfAnswer(
  message: MessageOf<'answered'>,
  { recordPrincipals }: Recording,
): SpanBeginning {
  return spanAbout(isApproval(message) ? 'approval_decision' : 'question_answer', message, {
    'holdpoint.decision': message.decision,
    'holdpoint.wait': message.waitedMs / 1000,
    'holdpoint.channel': message.channel,
    'holdpoint.principal': recordPrincipals ? jsonOf(message.principal) : undefined,
  });
}

/* What runs here is a `function` to the conventions, and no `extension` of the provider's. */
function spanOfTool(message: MessageOf<'started'>, { recordInputs }: Recording): SpanBeginning {
  return spanAbout('execute_tool', message, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.description': message.description,
    'gen_ai.tool.call.arguments': recordInputs ? jsonOf(message.input) : undefined,
    'holdpoint.attempt': message.attempt,
  });
}
