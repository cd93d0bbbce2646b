import { generateText, isStepCount, type ModelMessage, type ToolModelMessage } from 'ai';
import { z } from 'zod';
import { benchModel } from '../bench-model.ts';
import { userText } from '../contender.ts';
import { checkDone, rulesOf, type SpeedTask, toolsOf } from './speed-task.ts';
import { type Competitor, timed } from './competitor.ts';

/** How the AI SDK's own cycle is made. */
export interface AiSetting {
  task: SpeedTask;
  /** Whether model and tools are kept, as in a server, or made anew for each request. */
  warm?: boolean;
  /** With what approvals are signed, if they are. */
  secret?: string;
  /** Whether nothing is said about telemetry. Otherwise it is off. */
  leavesTelemetry?: boolean;
  /** What was said before. With a past, the cycles of a turn go on with one conversation. */
  past?: readonly ModelMessage[];
}

type Speak = (messages: ModelMessage[]) => Promise<string>;

const messagesSchema = z.custom<ModelMessage[]>((value) => Array.isArray(value));

/** The AI SDK's own cycle: `generateText` in two processes, over messages that travel as JSON. */
export function aiCompetitor(setting: AiSetting): Competitor {
  const { task, warm = false, past = [] } = setting;
  const stored = JSON.stringify(past);
  return {
    async prepare() {
      const asking = process(setting, warm);
      const answering = process(setting, warm);
      let conversation = stored;
      const cycle = async (): Promise<void> => {
        let text = past.length === 0 ? stored : conversation;
        const half = async (speak: Speak, next: (messages: ModelMessage[]) => ModelMessage) => {
          const messages = messagesSchema.parse(JSON.parse(text));
          messages.push(next(messages));
          const said = await speak(messages);
          text = JSON.stringify(messages);
          return said;
        };
        let said = await half(asking(), () => ({ role: 'user', content: userText }));
        if (task.asks) said = await half(answering(), approveAll);
        checkDone(task, said);
        conversation = text;
      };
      await cycle();
      return timed(cycle);
    },
  };
}

/** What speaks in one process: new for each request, or the same. */
function process(setting: AiSetting, warm: boolean): () => Speak {
  const kept = warm ? speaker(setting) : undefined;
  return () => kept ?? speaker(setting);
}

function speaker({ task, secret, leavesTelemetry = false }: AiSetting): Speak {
  const model = benchModel(task.calls);
  const settings = {
    model,
    ...(leavesTelemetry ? {} : { telemetry: { isEnabled: false } }),
    tools: toolsOf(task),
    toolApproval: rulesOf(task),
    stopWhen: isStepCount(20),
    ...(secret === undefined ? {} : { experimental_toolApprovalSecret: secret }),
  };
  return async (messages) => {
    const { text, responseMessages } = await generateText({ ...settings, messages });
    messages.push(...responseMessages);
    return text;
  };
}

function approveAll(messages: ModelMessage[]): ToolModelMessage {
  const message = messages.at(-1);
  if (message?.role !== 'assistant' || typeof message.content === 'string') {
    throw new Error('Nothing was asked.');
  }
  const asked = message.content.filter((part) => part.type === 'tool-approval-request');
  return {
    role: 'tool',
    content: asked.map(({ approvalId }) => ({
      type: 'tool-approval-response',
      approvalId,
      approved: true,
    })),
  };
}
