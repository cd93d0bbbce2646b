import { generateText, type ModelMessage } from 'ai';
import { benchModel } from '../bench-model.ts';
import { userText } from '../contender.ts';
import { Ledger, transferTool } from '../transfer-tool.ts';

const toolCallId = 'call-0';
const toolName = 'transfer';
const model = benchModel(1);
const tools = { [toolName]: transferTool(new Ledger()) };
const asked: ModelMessage[] = [
  { role: 'user', content: userText },
  {
    role: 'assistant',
    content: [
      {
        type: 'tool-call',
        toolCallId,
        toolName,
        input: { from: 'savings', to: 'account-0', amount: 250 },
      },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId,
        toolName,
        output: { type: 'json', value: { status: 'transferred' } },
      },
    ],
  },
];

/** The model step that ends a cycle, by the AI SDK alone and with nothing to load: it reads the whole history. */
export async function aiStep(past: readonly ModelMessage[]): Promise<string> {
  const messages = [...past, ...asked];
  const { text } = await generateText({ model, tools, telemetry: { isEnabled: false }, messages });
  return text;
}
