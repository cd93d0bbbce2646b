import type { SharedAgentOptions } from '../../agent/agent-options.ts';
import type { PollingOptions } from '../../agent/follow-thread.ts';
import type { OriginOptions } from '../../http/receive-request.ts';
import type { GateProblem } from './gate-problem.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** Who calls the gate's tools. */
export interface GateCaller {
  /** The person, as your app identifies them. Recorded with each call; rules and `mayAnswer` see them as its requester. */
  principal?: unknown;
  /**
   * Tells callers of one person apart that use the same client, such as the working directory of a local agent. A call that was not
   * answered in time is collected by the same person, client and place only.
   */
  place?: string;
}

/** A request that waits for a person, and who gets to see the address of its page. */
export interface WaitingCall {
  /** The id of the request. */
  requestId: string;
  /** The thread of the call. */
  threadId: string;
  /**
   * `person`: the client shows the address to its user, and it stays out of the conversation. `model`: it is in the text of a result, which the
   * model reads, so it must not have anything with which a program could answer.
   */
  shownTo: 'person' | 'model';
}

/** Decides who sent an HTTP request. Return `undefined` or a `Response` to refuse it. */
export type AuthorizeCaller = (context: {
  /** Its body has already been read. */
  request: Request;
}) => SignIn | PromiseLike<SignIn>;

type SignIn = (GateCaller & { principal: unknown }) | Response | undefined;

/** The options of `createGate`. */
export interface GateOptions
  extends
    Pick<
      SharedAgentOptions,
      | 'name'
      | 'store'
      | 'toolApproval'
      | 'mayAnswer'
      | 'principalId'
      | 'onUnrecorded'
      | 'leaseMs'
      | 'now'
      | 'generateId'
    >,
    PollingOptions,
    OriginOptions {
  /**
   * The MCP servers behind the gate, by names that match `/^[a-z][a-z0-9-]{0,31}$/`. The tools of a single one keep their names; with
   * several, they are named `<upstream>__<tool>`.
   */
  upstreams: Readonly<Record<string, UpstreamOptions>>;
  /**
   * How long a call waits for a person, in milliseconds, before its client is told that it is pending and to call again. Default 45,000,
   * because common clients give up after 60 seconds.
   */
  holdMs?: number;
  /**
   * How many calls of one person may wait for a decision, over all their clients, those that were told to call again included. While there are so
   * many, each further one is refused at once, also one that needs nobody, and nobody is asked. Default 100. Needs a store that keeps requests.
   */
  maximumWaiting?: number;
  /**
   * The address of the page where a person answers a request. It is named in the text that the model gets, and clients that can show an
   * address to their user are asked to. Return `undefined` for none.
   */
  pageUrl?: (waiting: WaitingCall) => string | undefined | PromiseLike<string | undefined>;
  /** Decides who sent an HTTP request: required for `gate.handler`. The principal comes from here alone. */
  authorize?: AuthorizeCaller;
  /** The longest HTTP body, in bytes. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** How many sessions of older clients may be open over HTTP. The one that was idle for the longest is closed for a new one. Default 1,000. */
  maximumSessions?: number;
  /** How many of these sessions one person may have open. The one that was idle for the longest is closed for a new one. Default 100. */
  maximumSessionsPerPerson?: number;
  /** How long such a session may be idle, in milliseconds. Default four hours. */
  sessionIdleMs?: number;
  /** Receives problems that the gate works around, such as an upstream that can't be reached. Default: none is reported. */
  onProblem?: (problem: GateProblem) => unknown;
}

/** The settings of `createGate`. */
export const gateSettings = {
  upstreams: true,
  name: true,
  store: true,
  toolApproval: true,
  mayAnswer: true,
  principalId: true,
  onUnrecorded: true,
  leaseMs: true,
  now: true,
  generateId: true,
  pollMs: true,
  wait: true,
  holdMs: true,
  maximumWaiting: true,
  pageUrl: true,
  authorize: true,
  allowedOrigins: true,
  maximumBodyBytes: true,
  maximumSessions: true,
  maximumSessionsPerPerson: true,
  sessionIdleMs: true,
  onProblem: true,
} satisfies Record<keyof GateOptions, true>;

/* The gate `x` has the agents `x-upstreams` and, of the command, `x-observed`: a gate of that name would have their threads and requests. */
const takenEndings = ['-upstreams', '-observed'];
/* These agents have names of at most 100 characters. */
const longestName = 90;

/** Throws a `TypeError` for a name that the agents of another gate may have, or from which none can be made. */
export function checkGateName({ name = '' }: Pick<GateOptions, 'name'>): void {
  if (name.length > longestName) {
    throw new TypeError(
      `The name of a gate has at most ${longestName} characters; got ${name.length}.`,
    );
  }
  const ending = takenEndings.find((each) => name.endsWith(each));
  if (ending === undefined) return;
  throw new TypeError(
    `A gate can't be named '${name}', because the gate '${name.slice(0, -ending.length)}' keeps records of its own under that name. Choose a name that does not end in '${ending}'.`,
  );
}
