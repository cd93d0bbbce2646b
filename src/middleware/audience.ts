import type { ProviderResponse } from '../agent/model/collected-response.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { SentAnswer } from './recorded-steps.ts';

/** Who gets the parts of a run: what they know before, and what they bring. */
export interface Audience extends SentAnswer {
  thread: AgentThread;
  /** The names of the tools that the caller has beside the model. */
  callerTools: ReadonlySet<string>;
  /** The requests that the prompt rejected: the AI SDK says so to the caller itself. */
  rejected: ReadonlySet<string>;
  /** The calls that the caller has before their eyes, whose results may come alone. */
  shownCalls: ReadonlySet<string>;
  /** Whether the caller takes what is no part of the answer, too. */
  takesRaw: boolean;
  /** The model's latest answer. */
  answer: () => ProviderResponse | undefined;
  /** An error of the run, as the caller gets it. */
  failure: (error: unknown) => unknown;
}
