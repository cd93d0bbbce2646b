import type { SharedAgentOptions, PollingOptions } from '../../agent.ts';
import type { OriginOptions } from '../../http/receive-request.ts';
import type { GateProblem } from './gate-problem.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** The caller of the gate's tools. */
export interface GateCaller {
  /** The person, as your app identifies them. Recorded with each call; rules and `mayAnswer` see them as its requester. */
  principal?: unknown;
  /**
   * Distinguishes callers of one person that use the same client, such as by the working directory of a local agent. Only the same person,
   * client and place collect a call that was not answered in time.
   */
  place?: string;
}

/** A request that waits for a person, and the reader of its page's address. */
export interface WaitingCall {
  /** The id of the request. */
  requestId: string;
  /** The thread of the call. */
  threadId: string;
  /**
   * `person`: the client shows the address to its user, and it stays out of the conversation. `model`: it is in the text of a result, which
   * the model reads, so it must not let a program answer.
   */
  shownTo: 'person' | 'model';
}

/** Identifies the sender of an HTTP request. Return `undefined` or a `Response` to refuse it. */
type AuthorizeCaller = (context: {
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
   * The time that a call waits for a person, in milliseconds, before its client is told that it is pending and to call again. Default
   * 45,000, because common clients give up after 60 seconds.
   */
  holdMs?: number;
  /**
   * The maximum number of calls of one person that wait for a decision, over all their clients, including those told to call again. At this
   * number, each further call is refused at once, even one that needs no decision, and nobody is asked. Default 100. Needs a store that
   * keeps requests.
   */
  maximumWaiting?: number;
  /**
   * The address of the page where a person answers a request. The model gets it in the text, and clients that can show an address to their
   * user are asked to. Return `undefined` for none.
   */
  pageUrl?: (waiting: WaitingCall) => string | undefined | PromiseLike<string | undefined>;
  /** Identifies the sender of an HTTP request: required for `gate.handler`. The principal comes only from here. */
  authorize?: AuthorizeCaller;
  /** The longest HTTP body, in bytes. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** The maximum number of open HTTP sessions of older clients. A new one closes the one idle for the longest. Default 1,000. */
  maximumSessions?: number;
  /** The maximum number of these sessions for one person. A new one closes the one idle for the longest. Default 100. */
  maximumSessionsPerPerson?: number;
  /** The time that such a session may be idle, in milliseconds. Default four hours. */
  sessionIdleMs?: number;
  /** Receives problems that the gate works around, such as an upstream that can't be reached. Default: not reported. */
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

/*
 * The gate `x` has the agents `x-upstreams` and, in the command, `x-observed`: a gate of that name would share their threads and requests.
 */
const takenEndings = ['-upstreams', '-observed'];
/* These agents have names of at most 100 characters. */
const longestName = 90;

/** Throws a `TypeError` for a name that an agent of another gate may have, or that is too long or invalid for agents. */
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
