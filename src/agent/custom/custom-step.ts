import type { LanguageModelUsage, ModelMessage } from 'ai';
import type { RequestDecision } from '../../content/request-decision.ts';
import type { ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import type { Question } from '../calls/question-call.ts';
import type { RequestedApproval } from '../calls/requested-approval.ts';

/** What a custom agent's function gets for a step. */
export interface CustomStepInput<
  PROGRESS = unknown,
  CALL extends ToolCall = ToolCall,
  RUNTIME_CONTEXT = Record<string, unknown>,
> {
  threadId: string;
  /** The number of the step in its thread, from 0. It is the same when the step is repeated after a failure or a crash. */
  stepNumber: number;
  /** The whole history of the thread. */
  messages: readonly ModelMessage[];
  /** The app's messages since the previous step, which `messages` has too. Empty when the step follows an answer or a result. */
  input: readonly ModelMessage[];
  /** What the previous step returned as its `progress`; `undefined` if it returned none. */
  progress: PROGRESS | undefined;
  /** How the requests of the previous step were decided, by their keys. All of them have ended. */
  decisions: ReadonlyMap<string, RequestDecision>;
  /** The calls of the previous step, in order, each with its outcome. */
  toolCalls: readonly ToolCallRecord<CALL>[];
  /** The `runtimeContext` of `agent.run`; `{}` in a worker, and where somebody other than the requesters continues the turn. */
  runtimeContext: RUNTIME_CONTEXT;
  /** Aborts when the run ends early. */
  abortSignal: AbortSignal;
  /** Streams a piece of the reply in `agent.stream`. Provisional: if the step returns a `text`, that is recorded instead. */
  write: (text: string) => void;
}

/** What a custom agent's function returns: everything in it is recorded together, or not at all. */
export interface CustomStep<PROGRESS = unknown, CALL extends ToolCall = ToolCall> {
  /** The agent's reply. Default: what the step has written with `write`. */
  text?: string;
  /** Calls of the agent's tools. They need approval as `toolApproval` says, and start at most once; then the next step is taken. */
  toolCalls?: readonly NewToolCall<CALL>[];
  /** The requests to make, by keys of the app's choice. The next step is taken when all of them are answered or closed. */
  requests?: Readonly<Record<string, CustomRequest | undefined>>;
  /** Any JSON, saved in the thread for the next step. */
  progress?: PROGRESS;
  /** Whether the next step is taken at once. Default `false`: without calls and requests, the turn is complete. */
  continues?: boolean;
  /** The tokens that the step's own model requests used. */
  usage?: Partial<LanguageModelUsage>;
}

/** A call that a custom agent makes. The second part keeps the inferred `toolName` a literal. */
export type NewToolCall<CALL extends ToolCall = ToolCall> = NewCallOf<CALL> & {
  toolName: CALL['toolName'];
};

type NewCallOf<CALL extends ToolCall> = CALL extends unknown
  ? Pick<CALL, 'toolName' | 'input'>
  : never;

/** What a custom agent asks a person: to approve something, or a question. */
export type CustomRequest =
  | ({ type: 'approval-request' } & Omit<RequestedApproval, 'key'>)
  | ({ type: 'question-request' } & Question);

/** Takes one step of a custom agent. */
export type TakeCustomStep = (
  input: CustomStepInput<unknown, ToolCall, unknown>,
) => Promise<CustomStep>;
