import type { Agent } from '../../agent.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import type { GateOptions } from './gate-options.ts';
import type { GateProblem } from './gate-problem.ts';
import type { Upstreams } from './upstreams.ts';

/** The context that the parts of a gate share: its options with their defaults, its agent and its upstreams. */
export interface GateContext {
  readonly agent: Agent;
  readonly store: ThreadStore;
  readonly upstreams: Upstreams;
  readonly generateId: () => string;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  readonly pollMs: number;
  readonly holdMs: number;
  /** The time that another gate has to confirm that it still holds a call, in milliseconds. */
  readonly patienceMs: number;
  /** The maximum number of calls of one person that may wait for a decision. */
  readonly maximumWaiting: number;
  readonly pageUrl: GateOptions['pageUrl'];
  readonly report: (problem: GateProblem) => void;
  /** Aborts when the gate closes: no call is held any longer. */
  readonly closing: AbortSignal;
}

/** A call as a client made it, and its client. */
export interface ClientCall {
  tool: string;
  /** The name of the upstream that has the tool. */
  upstream: string;
  input: Readonly<Record<string, unknown>>;
  principal: unknown;
  /** The client's name, by its own account. */
  client: string;
  place: string | undefined;
  /** The client's own id of the call, if it sends one. */
  clientCallId: string | undefined;
}
