import type { AssistantModelMessage, UserModelMessage } from 'ai';
import { z } from 'zod';
import { type BenchModel, benchModel } from './bench-model.ts';
import { type Contender, userText } from './contender.ts';
import { type Ledger, transferDescription } from './transfer-tool.ts';

type PromptMessage = Parameters<BenchModel['doGenerate']>[0]['prompt'][number];
/** The same shapes as the others': a user's content is a string. */
type BareMessage =
  | { role: 'user'; content: string }
  | Extract<PromptMessage, { role: 'assistant' | 'tool' }>;
type ToolMessage = Extract<PromptMessage, { role: 'tool' }>;

const messagesSchema = z.custom<BareMessage[]>((value) => Array.isArray(value));
const tools: Parameters<BenchModel['doGenerate']>[0]['tools'] = [
  {
    type: 'function',
    name: 'transfer',
    description: transferDescription,
    inputSchema: {
      type: 'object',
      properties: {
        from: { type: 'string' },
        to: { type: 'string' },
        amount: { type: 'number' },
      },
      required: ['from', 'to', 'amount'],
    },
  },
];

/** A loop by hand over the model's `doGenerate`, with messages as JSON and no check of any kind. */
export function bareContender(
  past: readonly (UserModelMessage | AssistantModelMessage)[],
  batch: number,
  ledger: Ledger,
): Contender {
  const stored = JSON.stringify(past);
  const open = async () => {
    const model = benchModel(batch);
    const messages = parse(stored);
    return async () => resume(benchModel(batch), await ask(model, messages), ledger);
  };
  return { key: 'bare', prepare: async () => ({ open }) };
}

async function ask(model: BenchModel, messages: BareMessage[]): Promise<string> {
  messages.push({ role: 'user', content: userText });
  await step(model, messages);
  return JSON.stringify(messages);
}

async function resume(model: BenchModel, text: string, ledger: Ledger): Promise<string> {
  const messages = parse(text);
  const proposed = messages.at(-1);
  const content: ToolMessage['content'] = [];
  for (const part of proposed?.role === 'assistant' ? proposed.content : []) {
    if (part.type !== 'tool-call') continue;
    const { toolCallId, toolName } = part;
    const value = await ledger.transfer();
    content.push({ type: 'tool-result', toolCallId, toolName, output: { type: 'json', value } });
  }
  messages.push({ role: 'tool', content });
  const said = await step(model, messages);
  JSON.stringify(messages);
  return said;
}

async function step(model: BenchModel, messages: BareMessage[]): Promise<string> {
  const { content } = await model.doGenerate({ prompt: messages.map(promptMessage), tools });
  let said = '';
  const spoken: Extract<PromptMessage, { role: 'assistant' }>['content'] = [];
  for (const part of content) {
    if (part.type === 'text') {
      said += part.text;
      spoken.push({ type: 'text', text: part.text });
    } else if (part.type === 'tool-call') {
      const { toolCallId, toolName } = part;
      spoken.push({ type: 'tool-call', toolCallId, toolName, input: JSON.parse(part.input) });
    }
  }
  messages.push({ role: 'assistant', content: spoken });
  return said;
}

function promptMessage(message: BareMessage): PromptMessage {
  if (message.role !== 'user') return message;
  return { role: 'user', content: [{ type: 'text', text: message.content }] };
}

function parse(text: string): BareMessage[] {
  return messagesSchema.parse(JSON.parse(text));
}
