import { type ToolSet, wrapLanguageModel } from 'ai';
import type {
  AgentOptions,
  AgentThread,
  QuestionRequestContent,
  QuestionResponseContent,
  ThreadEvent,
  UserInputRequestContent,
} from 'holdpoint';
import { HoldpointError } from 'holdpoint';
import { interactionTools, questionTools } from 'holdpoint/tools';
import { expect } from 'vitest';
import type { ScriptedCall, ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { memoryWorld, travelTools } from '../support/travel-world.ts';
import type { ThreadEventOf } from '../../src/thread/thread-event.ts';

/** What a model asks in a test, and its tools in addition to the world's own, whose `book` needs approval. */
interface AskOptions extends Partial<AgentOptions> {
  tools: ToolSet;
  calls: ScriptedCall[];
  /** What the model says afterwards. */
  script?: ScriptedStep[];
}

/** A thread whose first step is made of these calls. */
export async function ask({ tools, calls, script = [{ text: 'Done.' }], ...options }: AskOptions) {
  const world = memoryWorld([{ calls }, ...script]);
  const inProcess = (changed: Partial<AgentOptions> = {}) =>
    world.agent({ ...options, tools: { ...travelTools(world.ran), ...tools }, ...changed });
  const agent = inProcess();
  const response = await agent.run('Go', await agent.thread('t'));
  const { thread, userInputRequests } = response;
  return { world, agent, inProcess, response, thread, questions: questionsOf(userInputRequests) };
}

/** A thread that waits for the answer to one question of one tool, which is called `ask`. */
export async function askOne(
  tool: ToolSet[string],
  input: object | string,
  options: Omit<AskOptions, 'tools' | 'calls'> = {},
) {
  const calls = [{ id: 'q1', name: 'ask', input }];
  const asked = await ask({ ...options, tools: { ask: tool }, calls });
  return { ...asked, request: single(asked.questions) };
}

/** The questions among requests. */
export function questionsOf(
  requests: readonly UserInputRequestContent[],
): QuestionRequestContent[] {
  return requests.filter((request) => request.type === 'question-request');
}

/** The one item of a list. */
export function single<ITEM>(items: readonly ITEM[]): ITEM {
  const [item] = items;
  if (item === undefined || items.length > 1)
    throw new Error(`There are ${items.length}, not one.`);
  return item;
}

/** An answer to the one field of a question. */
export function picked(
  request: QuestionRequestContent,
  optionIds: string[],
  text?: string,
): QuestionResponseContent {
  const key = single(request.fields).key;
  const answer = { key, optionIds, ...(text === undefined ? {} : { text }) };
  return { ...named(request), status: 'answered', answers: [answer] };
}

/** That a question was closed without an answer. */
export function dismissed(request: QuestionRequestContent): QuestionResponseContent {
  return { ...named(request), status: 'dismissed' };
}

function named({ requestId }: QuestionRequestContent) {
  return { type: 'question-response', requestId } as const;
}

/** The result of a call that the model received. */
export function resultOf(thread: AgentThread, toolCallId = 'q1'): unknown {
  const parts = thread.messages.flatMap(({ role, content }) =>
    role === 'tool' && typeof content !== 'string' ? content : [],
  );
  return parts
    .filter((part) => part.type === 'tool-result')
    .find((part) => part.toolCallId === toolCallId)?.output;
}

/** The code and the message of a refusal. */
export async function refusalOf(work: Promise<unknown> | (() => unknown)) {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    if (HoldpointError.isInstance(error)) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('Nothing was refused.');
}

/** Expects that work on a thread is refused and leaves no trace. */
export async function expectRefused(
  thread: AgentThread,
  work: () => Promise<unknown>,
  code = 'invalid-answer',
): Promise<void> {
  const { revision } = thread;
  const [before, asked] = [JSON.stringify(thread), thread.activeRequests.length];
  expect(await refusalOf(work())).toMatchObject({ code });
  expect(thread.revision).toBe(revision);
  expect(JSON.stringify(thread)).toBe(before);
  expect(thread.activeRequests).toHaveLength(asked);
}

/** A value as it comes over a wire: its type is not known. */
export function overTheWire(value: unknown) {
  return JSON.parse(JSON.stringify(value));
}

/** The tools as the model is given them: name, description, and the JSON Schema of the input. */
export async function toolsGivenToModel(tools: ToolSet) {
  const { model } = scriptedModel([{ text: '.' }]);
  if (typeof model === 'string' || model.specificationVersion !== 'v4')
    throw new Error('No model.');
  const given: { name: string; description?: string | undefined; inputSchema: unknown }[] = [];
  const watched = wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) => {
        given.push(...(params.tools ?? []).filter((each) => each.type === 'function'));
        return params;
      },
    },
  });
  const agent = memoryWorld([]).agent({ model: watched, tools, toolApproval: {} });
  await agent.run('Go', await agent.thread());
  return new Map(given.map((each) => [each.name, each]));
}

/** Every property name in a JSON Schema, however deep. */
export function propertyNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'properties' && typeof value === 'object'
      ? [...Object.keys(value), ...Object.values(value).flatMap(propertyNames)]
      : propertyNames(value),
  );
}

/** The events of a type. */
export function eventsOf<TYPE extends ThreadEvent['type']>(
  events: readonly ThreadEvent[],
  type: TYPE,
) {
  return events.filter((event): event is ThreadEventOf<TYPE> => event.type === type);
}

/** The item at an index, which is there. */
export function at<ITEM>(items: readonly ITEM[], index: number): ITEM {
  const item = items[index];
  if (item === undefined) throw new Error(`There is no item ${index}.`);
  return item;
}

/** The default set, and the confirmation that is added to it by name. */
export function everyQuestionTool() {
  return { ...questionTools(), ...interactionTools() };
}
