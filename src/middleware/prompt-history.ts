import type { Agent } from '../agent/agent.ts';
import { type ModelMessage, modelMessageSchema } from 'ai';
import type { AnswerOptions } from '../agent/input/run-input.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ReadPrompt } from './read-prompt.ts';

/** Imports the history in the prompt for a thread without events. Throws `invalid-input` if the app does not import histories. */
export async function withHistory(
  agent: Pick<Agent, 'thread'>,
  prompt: ReadPrompt,
  { threadId, history, by }: { threadId: string; history: 'refuse' | 'import'; by: AnswerOptions },
): Promise<{ thread: AgentThread; prompt: ReadPrompt }> {
  const { earlier } = prompt;
  const thread = await agent.thread(threadId);
  if (thread.revision > 0 || earlier.length === 0) return { thread, prompt };
  if (history !== 'import') {
    throw new HoldpointError(
      'invalid-input',
      `Thread ${threadId} does not exist, but the prompt has ${earlier.length} earlier message(s). Send the new message alone, import them with agent.thread(id, { messages }), or create holdPoint with history: 'import'.`,
    );
  }
  const messages = earlier.flatMap(withoutApprovals);
  const imported = await agent.thread(threadId, { messages, openCalls: 'close', ...by });
  /* The answers in the history are to requests of the AI SDK; the model proposes the calls again. */
  return { thread: imported, prompt: { ...prompt, answers: [] } };
}

/* The AI SDK leaves its own approval requests out of a prompt, but not the answers to them. */
function withoutApprovals(message: ReadPrompt['earlier'][number], index: number): ModelMessage[] {
  const { role, content } = message;
  const kept =
    typeof content === 'string'
      ? content
      : content.filter(({ type }) => !type.startsWith('tool-approval'));
  if (kept.length === 0) return [];
  const parsed = modelMessageSchema.safeParse({ ...message, role, content: kept });
  if (parsed.success) return [parsed.data];
  throw new HoldpointError(
    'invalid-input',
    `Message ${index} of the prompt's history can't be imported: it does not match the AI SDK's schema.`,
    { cause: parsed.error },
  );
}
