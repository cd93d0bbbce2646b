import type { Agent } from '../agent/agent.ts';
import { type ModelMessage, modelMessageSchema } from 'ai';
import {
  type HistoryOption,
  importFromClient,
  isOnlyImported,
  type SentPlace,
} from '../agent/import-from-client.ts';
import { type AnswerOptions, invalidAt } from '../agent/input.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ReadPrompt } from './read-prompt.ts';

/** Imports the history in the prompt for a thread without events. Throws `invalid-input` if the app does not import histories. */
export async function withHistory(
  agent: Pick<Agent, 'thread'>,
  prompt: ReadPrompt,
  { threadId, history, by }: { threadId: string; history: HistoryOption; by: AnswerOptions },
): Promise<{ thread: AgentThread; prompt: ReadPrompt }> {
  const { earlier } = prompt;
  const thread = await agent.thread(threadId);
  /* The answers in the history are to requests of the AI SDK; the model proposes the calls again. */
  const withoutAnswers = { ...prompt, answers: [], answeredIds: [] };
  if (thread.revision > 0)
    return { thread, prompt: isOnlyImported(thread) ? withoutAnswers : prompt };
  if (earlier.length === 0) return { thread, prompt };
  if (history !== 'import') {
    throw new HoldpointError(
      'invalid-input',
      `Thread ${threadId} does not exist, but the prompt has ${earlier.length} earlier message(s). Send the new message alone, import them with agent.thread(id, { messages }), or create holdPoint with history: 'import'.`,
    );
  }
  const first = prompt.instructions.length;
  const sent = earlier.flatMap((message, index) =>
    withoutApprovals(message, `prompt[${first + index}]`),
  );
  const imported = await importFromClient(
    agent,
    { threadId, messages: sent.map(({ message }) => message), sent },
    by,
  );
  return { thread: imported, prompt: withoutAnswers };
}

/* The AI SDK leaves its own approval requests out of a prompt, but not the answers to them. */
function withoutApprovals(
  message: ReadPrompt['earlier'][number],
  position: string,
): (SentPlace & { message: ModelMessage })[] {
  const { role, content } = message;
  const parts = typeof content === 'string' ? [] : [...content.entries()];
  const kept = parts.filter(([, { type }]) => !type.startsWith('tool-approval'));
  if (typeof content !== 'string' && kept.length === 0) return [];
  const withContent = typeof content === 'string' ? content : kept.map(([, part]) => part);
  const parsed = modelMessageSchema.safeParse({ ...message, role, content: withContent });
  const places = kept.map(([index]) => `content[${index}]`);
  if (parsed.success) return [{ position, message: parsed.data, places }];
  throw invalidAt(position, 'it does not match the schema of the AI SDK', parsed.error);
}
