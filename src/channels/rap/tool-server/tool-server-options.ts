import type { FlexibleSchema } from 'ai';
import type { SigningOptions } from '../webhook-signatures.ts';
import type { GrantStore, SessionGrants } from './grant-store.ts';

/** What a person is asked to pick from. */
export interface UserChoice {
  /** What is asked, for the person. */
  prompt: string;
  /**
   * What can be picked, at least one. Each must say what it authorises, and no more than is needed. A label that is empty, or has
   * control, bidi or invisible characters, and one that is there twice, is a `TypeError`.
   */
  choices: readonly string[];
  /** The index of what stands when the person picks nothing: the choice that permits least. */
  default: number;
}

/** What a person picked. */
export interface Selection {
  /** The index of the choice. */
  selected: number;
  /** The choice itself. */
  label: string;
}

/** What a person is asked to permit. */
export interface SessionPermission {
  /** What is asked, for the person: it must say all that `key` covers. */
  prompt: string;
  /** What is permitted, as the tool names it: `delete:/tmp`. */
  key: string;
}

/** What a tool knows of the call it is running. */
export interface ServedCall {
  /** The id of the call. */
  id: string;
  /** The second id of the call, where the runtime has one. */
  callId: string | undefined;
  /** The conversation: what a session is. */
  groupId: string;
  /** The conversations above this one, as the runtime says. */
  threadAncestors: readonly string[];
  /** The user, as the runtime says. */
  userId: string | undefined;
  /** Aborts when the call is cancelled, its conversation is closed, its time is over, or the server closes. */
  signal: AbortSignal;
  /** What was permitted for the session. */
  grants: SessionGrants;
  /**
   * Asks the person, and waits. Ask before anything is done. Several questions of a call are asked one after the other.
   *
   * Throws a `TypeError` at once for a choice that can't be asked. Rejects when the runtime can't be reached, with what is no
   * selection, or when time is over (`request-closed`, `invalid-answer`); left uncaught, this is the result that the protocol wants.
   */
  askUser: (choice: UserChoice) => Promise<Selection>;
  /**
   * Whether the person permits something: asks `Yes for session`, `Yes once`, `No`, where nothing picked is no. After
   * `Yes for session` it is not asked again in this conversation.
   */
  askForSession: (permission: SessionPermission) => Promise<boolean>;
}

/** A tool that runs here, for a runtime far away. */
export interface ServedTool<INPUT> {
  /** What it is for. The server does not use it: it is here so that the runtime can be given the same definition. */
  description?: string;
  /** Zod, any Standard Schema, or the AI SDK's `jsonSchema` with `validate`. What does not pass never reaches `execute`. */
  inputSchema: FlexibleSchema<INPUT>;
  /**
   * Does the work. A text is the result as it is, `{ content }` is sent as content parts, anything else as its JSON. What it throws is
   * sent as `Error: ` and the message.
   */
  execute(input: INPUT, call: ServedCall): unknown;
}

/** The tools, by name, each with its own input. */
type ServedTools<INPUTS> = { [NAME in keyof INPUTS]: ServedTool<INPUTS[NAME]> };

/** What a tool server is made of. */
export interface ToolServerOptions<INPUTS = Record<string, unknown>> {
  tools: ServedTools<INPUTS>;
  /**
   * Where the runtime reaches this handler, for the URLs that selections are posted to. Default: `localhost`, with the port and the
   * path of the invocation.
   */
  baseUrl?: string | URL;
  /** The origins that callbacks may go to, as `https://agent.example.com`. Default: all. */
  allowedOrigins?: readonly string[];
  /**
   * Secrets of Standard Webhooks: base64 of at least 24 bytes, with `whsec_` before it or not. What comes must be signed with one of
   * them, else it is 401; what goes is signed with the first. Default: nothing is signed.
   */
  signing?: SigningOptions;
  /** What was permitted for a session. Default: in memory, the latest 10,000. */
  grants?: GrantStore;
  /** How long a call may take in all, the people's time included, in milliseconds. Default 24 hours. */
  deadlineMs?: number;
  /** How long a tool may take to stop after its signal has aborted, in milliseconds. Default 5,000. */
  graceMs?: number;
  /** How long a runtime may take to answer a callback, in milliseconds. Default 10,000. */
  callbackMs?: number;
  /** How often a callback is tried again after 5xx, or no answer: after 1 s, 2 s, 4 s … up to a minute. Default 10. */
  retries?: number;
  /** How many calls run at once; more are 429. Default 1,000. */
  maximumRunning?: number;
  /** How many calls that have ended are known, the latest: one that comes again does not run again. Default 10,000. */
  maximumRemembered?: number;
  /** How long a body may be, coming or going. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** For callbacks. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Waits; ends early, resolved or rejected, when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called with a result that could not be delivered, and with an invocation that was refused because it can't be answered. */
  onError?: (error: unknown) => void;
}
