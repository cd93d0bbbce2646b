import {
  generateText,
  isStepCount,
  type ModelMessage,
  type ToolApprovalResponse,
  wrapLanguageModel,
} from 'ai';
import { createAgent, type RunOptions } from 'holdpoint';
import { heldCall, holdPoint } from 'holdpoint/middleware';
import { applyChange, type Change, type Note, type Program, type Settings } from './programs.ts';
import type { ParityModel, RecordedProvider } from './recorded-providers.ts';

/** A way to run a program with a model: returns the replies. */
export type Way = (program: Program, model: ParityModel, note: Note) => Promise<object[]>;

/** Runs a program with a provider: its requests, what its tools and callbacks noted, and its replies or its error. */
export async function observe(provider: RecordedProvider, way: Way, change: Change) {
  const noted: unknown[] = [];
  const note: Note = (...what) => void noted.push(structuredClone(what));
  const program = applyChange(change, note);
  const { model: played, requests } = provider.play(program.script);
  const { middleware = [] } = program;
  const model = wrapLanguageModel({ model: played, middleware });
  try {
    return { requests, noted, replies: await way(program, model, note) };
  } catch (error) {
    return { requests, noted, error: error instanceof Error ? error.name : error };
  }
}

/** The AI SDK alone. */
export const runPlain: Way = async (program, model, note) => {
  const { toolsContext, ...settings } = program.settings;
  /* Its type is that of the tools. */
  const contexts: object = { toolsContext };
  const call = { stopWhen: isStepCount(20), ...settings, ...contexts, model };
  return runLoop(program, note, async (messages) => generateText({ ...call, messages }));
};

/** The loop of an app with the AI SDK, in which a person approves what is asked. */
async function runLoop(
  { settings, turns }: Program,
  note: Note,
  generate: (messages: ModelMessage[]) => Promise<Result>,
): Promise<object[]> {
  const replies: object[] = [];
  const messages: ModelMessage[] = [];
  for (const turn of turns) {
    messages.push(...toMessages(turn));
    const before = messages.length;
    for (;;) {
      const result = await generate(messages);
      messages.push(...result.responseMessages);
      const asked = result.content
        .filter((part) => part.type === 'tool-approval-request')
        .filter(({ isAutomatic }) => isAutomatic !== true);
      if (asked.length === 0) {
        replies.push(readReply(result, settings, messages.slice(before)));
        break;
      }
      note('asked', asked.length);
      messages.push({ role: 'tool', content: asked.map(approve) });
    }
  }
  return replies;
}

type Result = Awaited<ReturnType<typeof generateText>>;
type Request = Extract<Result['content'][number], { type: 'tool-approval-request' }>;

function approve({ approvalId, toolCall: { providerExecuted } }: Request): ToolApprovalResponse {
  const answer = { type: 'tool-approval-response', approvalId, approved: true } as const;
  return providerExecuted === true ? { ...answer, providerExecuted } : answer;
}

/** An agent; a run may have settings of its own. */
export function runAgent(ofRun: RunOptions = {}): Way {
  return async ({ settings, turns }, model, note) => {
    const { runtimeContext, abortSignal, ...own } = settings;
    const agent = createAgent({ ...own, model });
    const replies: object[] = [];
    const [first = []] = turns;
    const history = typeof first === 'string' ? [] : splitTurn(first).history;
    const thread = await agent.thread('t', history.length > 0 ? { messages: history } : undefined);
    for (const turn of turns) {
      const { input } = splitTurn(toMessages(turn));
      const before = thread.messages.length;
      const options = { runtimeContext, abortSignal, ...ofRun };
      let response = await agent.run(input, thread, options);
      while (response.approvalRequests.length > 0) {
        note('asked', response.approvalRequests.length);
        const answers = response.approvalRequests.map((request) => request.approve());
        response = await agent.run(answers, thread, options);
      }
      replies.push(readReply(response, settings, thread.messages.slice(before)));
    }
    return replies;
  };
}

/** An agent whose runs have a setting, or whose `prepareStep` returns it. */
export function runWith(name: string, place: 'run' | 'step'): Way {
  return async ({ settings, ...program }, model, note) => {
    const moved = Object.fromEntries(Object.entries(settings).filter(([each]) => each === name));
    const way = runAgent(place === 'run' ? moved : { prepareStep: () => moved });
    return way({ ...program, settings: { ...settings, [name]: undefined } }, model, note);
  };
}

/** The same loop with a model behind `holdPoint`, and the settings where the guide says. */
export const runBehindHoldPoint: Way = async (program, model, note) => {
  const { tools = {}, toolsContext, toolApproval = () => 'approved', ...others } = program.settings;
  const { prepareStep, stopWhen, onStepEnd, repairToolCall, toolCallConcurrency, ...rest } = others;
  const { telemetry, ...call } = rest;
  const middleware = holdPoint({
    tools,
    toolsContext,
    toolApproval,
    prepareStep,
    stopWhen,
    onStepEnd,
    repairToolCall,
    toolCallConcurrency,
    telemetry,
    history: 'import',
  });
  const held = wrapLanguageModel({ model, middleware });
  const providerOptions = { ...call.providerOptions, holdpoint: { threadId: 't' } };
  const checked = heldCall({ ...call, tools, model: held, providerOptions });
  return runLoop(program, note, async (messages) => generateText({ ...checked, messages }));
};

/** A turn's reply, with the text of all its steps. The output is read only where there is one: the AI SDK throws otherwise. */
function readReply(
  result: { finishReason: unknown; sources: readonly unknown[]; readonly output: unknown },
  { output }: Settings,
  messages: readonly ModelMessage[],
): object {
  const { finishReason, sources } = result;
  const text = readText(messages);
  return { text, finishReason, sources, ...(output !== undefined && { output: result.output }) };
}

function readText(messages: readonly ModelMessage[]): string {
  const said = messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string' ? content : [],
  );
  return said.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function toMessages(turn: string | ModelMessage[]): ModelMessage[] {
  return typeof turn === 'string' ? [{ role: 'user', content: turn }] : turn;
}

/** What a thread begins with, and what it is then given. */
function splitTurn(messages: readonly ModelMessage[]) {
  const last = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  return { history: messages.slice(0, last + 1), input: messages.slice(last + 1) };
}
