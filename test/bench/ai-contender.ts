import { generateText, type ModelMessage, type ToolModelMessage } from 'ai';
import { z } from 'zod';
import { benchModel } from './bench-model.ts';
import { type Contender, userText } from './contender.ts';
import { type Ledger, transferTool } from './transfer-tool.ts';

const messagesSchema = z.custom<ModelMessage[]>((value) => Array.isArray(value));

/** The AI SDK's own approvals: `generateText` over messages that travel as JSON. */
export function aiContender(
  past: readonly ModelMessage[],
  batch: number,
  ledger: Ledger,
): Contender {
  const stored = JSON.stringify(past);
  const open = async () => {
    const speak = speaker(batch, ledger);
    const messages = parse(stored);
    return async () => {
      messages.push({ role: 'user', content: userText });
      await speak(messages);
      return resume(speaker(batch, ledger), JSON.stringify(messages));
    };
  };
  return { key: 'ai', prepare: async () => ({ open }) };
}

type Speak = (messages: ModelMessage[]) => Promise<string>;

/** One model step of a new process, whose messages are appended. */
function speaker(batch: number, ledger: Ledger): Speak {
  const model = benchModel(batch);
  const tools = { transfer: transferTool(ledger) };
  const telemetry = { isEnabled: false };
  return async (messages) => {
    const { text, responseMessages } = await generateText({ model, tools, telemetry, messages });
    messages.push(...responseMessages);
    return text;
  };
}

async function resume(speak: Speak, text: string): Promise<string> {
  const messages = parse(text);
  messages.push({ role: 'tool', content: approvals(messages.at(-1)) });
  const said = await speak(messages);
  JSON.stringify(messages);
  return said;
}

function approvals(message: ModelMessage | undefined): ToolModelMessage['content'] {
  if (message?.role !== 'assistant' || typeof message.content === 'string') return [];
  return message.content
    .filter((part) => part.type === 'tool-approval-request')
    .map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved: true }));
}

function parse(text: string): ModelMessage[] {
  return messagesSchema.parse(JSON.parse(text));
}
