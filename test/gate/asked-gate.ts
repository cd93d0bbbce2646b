import type { QuestionRequestContent, QuestionResponseContent } from 'holdpoint';
import { createGate, type Gate, type GateOptions } from 'holdpoint/mcp';
import { expect } from 'vitest';
import { askingServers } from './asking-servers.ts';
import type { connect } from './gate-world.ts';

export const seats = {
  message: 'How many seats?',
  requestedSchema: {
    type: 'object',
    properties: { seats: { type: 'integer', minimum: 1, maximum: 10 } },
    required: ['seats'],
  },
};
export const visit = {
  mode: 'url' as const,
  message: 'Sign in.',
  url: 'https://login.example/x?y=1',
  elicitationId: 'e1',
};

export function openGate(kind: string, options: Partial<GateOptions> = {}) {
  const transport = askingServers[kind]?.();
  if (transport === undefined) throw new Error(`No server of ${kind}.`);
  return createGate({
    upstreams: { desk: { transport } },
    toolApproval: () => 'approved',
    ...options,
  });
}

/** The open questions of a gate, oldest first. */
export async function listQuestions({ agent }: Gate): Promise<QuestionRequestContent[]> {
  const { requests } = await agent.requests({ principal: 'boss' });
  return requests.flatMap(({ request }) => (request?.type === 'question-request' ? [request] : []));
}

/** The only open question, once it is asked. */
export async function onlyQuestion(gate: Gate): Promise<QuestionRequestContent> {
  await expect.poll(async () => (await listQuestions(gate)).length, { timeout: 8_000 }).toBe(1);
  const [question] = await listQuestions(gate);
  if (question === undefined) throw new Error('Nothing is asked.');
  return question;
}

export type Answers = Record<string, string[] | string> | 'dismissed';

function makeAnswer(requestId: string, given: Answers): QuestionResponseContent {
  const type = 'question-response';
  if (given === 'dismissed') return { type, requestId, status: 'dismissed' };
  const answers = Object.entries(given).map(([key, value]) =>
    typeof value === 'string' ? { key, optionIds: [], text: value } : { key, optionIds: value },
  );
  return { type, requestId, status: 'answered', answers };
}

/** Answers a question as the inbox does: only the answer is recorded. */
export async function answer(
  gate: Gate,
  { threadId, requestId }: QuestionRequestContent,
  given: Answers,
) {
  const thread = await gate.agent.thread(threadId);
  await gate.agent.respond(makeAnswer(requestId, given), thread, { principal: 'boss' });
}

export function callBook(client: Awaited<ReturnType<typeof connect>>, ...ask: unknown[]) {
  return client.callTool({ name: 'book', arguments: { ask } }, { timeout: 20_000 });
}

/** Lets everything happen that happens by itself. */
export async function passTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
}

export const kinds = Object.keys(askingServers);
export const oldKinds = kinds.filter((kind) => kind.startsWith('an older'));
export const newKinds = kinds.filter((kind) => !kind.startsWith('an older'));
