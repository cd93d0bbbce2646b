import { type Agent, checkPolling, type PollingOptions, type MayAnswer } from '../../agent.ts';
import {
  checkLimit,
  checkMs,
  refuseUnknown,
  requireFunctions,
} from '../../content/check-settings.ts';
import { checkOrigins, type OriginOptions } from '../../http/receive-request.ts';
import type { StoredRequest } from '../../thread/thread-store-requests.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import { checkFormats, type ToolFormats } from '../../view/field-format.ts';
import type { InboxDetail } from './inbox-detail.ts';

/** The user of an inbox, as returned by the app's `authorize`. */
interface InboxSignIn {
  /** The person: a text that is not blank, or an object that the agent's `principalId` or an id field names. Recorded with each answer. */
  principal: unknown;
  /**
   * The strings for which the person answers, such as their name, roles and teams. The store finds requests that name one of them by an
   * index. Without it, `mine` reads all open requests, and `mayAnswer` alone decides.
   */
  as?: readonly string[];
  /** The channel that is recorded with each answer. Default `'inbox'`. */
  channel?: string;
}

/** The options of `createInboxHandler`: `agents`, or `store` and `mayAnswer`. */
export interface InboxHandlerOptions extends OriginOptions, PollingOptions {
  /**
   * The agents whose requests are shown. They share one store. Requests of sub-agents are those of the agent above them; to settle a
   * sub-agent's lost call, name the sub-agent too.
   */
  agents?: readonly Agent[];
  /**
   * Instead of `agents`: the store of all requests, for a process that has no tools and no model. Answers are recorded, and a worker
   * elsewhere runs the calls. Actions that need a tool or a model are refused there: a question whose answer a tool takes, and the retry of
   * a call or a thread.
   */
  store?: ThreadStore;
  /** With `store`: decides who may answer which request, as in `createAgent`. Default: everybody may. */
  mayAnswer?: MayAnswer;
  /** With `store`: returns the id of a principal, as in `createAgent`. It must be that of the agents. */
  principalId?: (principal: unknown) => string;
  /** With `store`: the time, in milliseconds since 1970. Default: the store's clock. */
  now?: () => number;
  /**
   * Identifies the sender of a request: nothing else does. `undefined` is refused with 403, a `Response` is sent unchanged, such as a
   * redirect to your sign-in. It is called for each request, and again before an open stream sends changes.
   */
  authorize: (context: {
    /** Its body has already been read. */
    request: Request;
  }) => Decided | PromiseLike<Decided>;
  /**
   * True if a person may see a request with its arguments, or the conversation that it comes from. Only `true` allows it. `byDefault` is
   * the default: a person sees requests that they may answer, could have answered, asked for or decided; lost calls and stuck threads that
   * they may settle; and no conversation.
   */
  maySee?: (asked: {
    /** The person. */
    principal: unknown;
    /** The request, as the store keeps it. */
    row: StoredRequest;
    /** The kind of content to show. */
    what: 'request' | 'conversation';
    /** Default. */
    byDefault: boolean;
  }) => boolean | PromiseLike<boolean>;
  /**
   * True if a person may settle a lost call, and retry a stuck thread. Only `true` allows it. Default: nobody, since settling a call states
   * what has happened in the world.
   */
  maySettle?: (asked: {
    /** The person. */
    principal: unknown;
    /** The lost call or stuck thread, as the store keeps it. */
    row: StoredRequest;
  }) => boolean | PromiseLike<boolean>;
  /**
   * Runs the approved call of a thread although no client waits for it: `gate.runNow` of `holdpoint/mcp`. With it, people who could answer
   * the request may have such a call run, and a stuck call of a gate is retried with it. Default: nobody.
   */
  runNow?: (
    threadId: string,
    by: {
      /** The person. */
      principal: unknown;
      /** The channel that is recorded. */
      channel: string;
    },
  ) => PromiseLike<unknown>;
  /** The path at which the handler is mounted. Default `'/inbox'`. */
  path?: string;
  /** The URL of a stylesheet that the page loads after its own, with your values of its custom properties. */
  stylesheet?: string;
  /** The pages that may show this one in a frame: origins, or `'self'`. Default: none. */
  frameAncestors?: readonly string[];
  /** The maximum size of a body. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** Called with an error that is not the client's, and with one of your functions here; returns the text that the client gets. */
  onError?: (error: unknown) => string;
  /** Returns the place in your app that a request comes from: an http(s) URL, or a path that begins with `/`. */
  sourceUrl?: (asked: {
    /** The thread of the request. */
    threadId: string;
    /** The agent's name; `null` for an agent without one. */
    agent: string | null;
    /** The request. */
    requestId: string;
  }) => string | undefined;
  /**
   * The formats of arguments, by tool: amounts, times, code, files, secrets. They add to those that the tool's input schema declares:
   * `format` `date-time`, `date`, `duration` and `password`, and `x-holdpoint-format`.
   */
  formats?: ToolFormats;
  /**
   * Your details about a call beside its arguments, by tool: texts, values, differences, links, made from the input that would run. They
   * are part of what an answer is about, so return the same for the same state.
   */
  details?: Readonly<
    Record<string, (input: unknown) => readonly InboxDetail[] | PromiseLike<readonly InboxDetail[]>>
  >;
  /** The interval at which an idle stream of changes sends a keep-alive, in milliseconds, below 2^31. Default 15,000. */
  keepAliveMs?: number;
}

type Decided = InboxSignIn | Response | undefined;

const settings = {
  agents: true,
  store: true,
  mayAnswer: true,
  principalId: true,
  now: true,
  authorize: true,
  maySee: true,
  maySettle: true,
  runNow: true,
  path: true,
  stylesheet: true,
  frameAncestors: true,
  maximumBodyBytes: true,
  onError: true,
  sourceUrl: true,
  formats: true,
  details: true,
  keepAliveMs: true,
  allowedOrigins: true,
  pollMs: true,
  wait: true,
} satisfies Record<keyof InboxHandlerOptions, true>;

/** Throws a `TypeError` for options that are unknown, contradict each other, or are not valid. */
export function checkInboxOptions(options: InboxHandlerOptions): void {
  refuseUnknown('createInboxHandler', options, settings);
  checkOrigins(options);
  checkPolling(options);
  checkMs(options.keepAliveMs ?? 1, 'keepAliveMs');
  checkLimit(options.maximumBodyBytes ?? 0, 'maximumBodyBytes');
  requireFunctions('createInboxHandler', options, ['authorize']);
  checkPath(options.path ?? '/inbox');
  checkFormats(options.formats);
}

function checkPath(path: string): void {
  if (/^(\/[\w.~-]+)+$/.test(path)) return;
  throw new TypeError(
    `path must be a URL path such as '/inbox', without a slash at its end; got ${JSON.stringify(path)}.`,
  );
}
