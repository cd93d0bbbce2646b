import type { FlexibleSchema } from 'ai';
import type { SigningOptions } from '../webhook-signatures.ts';

/** A prompt for a person, with choices to pick from. */
export interface ChoicePrompt {
  /** The text that the person reads. */
  prompt: string;
  /**
   * The labels of the choices, at least one. Each should say what it authorises, and no more than is needed. A label that is empty, is
   * repeated, or has control, bidi or invisible characters is a `TypeError`.
   */
  choices: readonly string[];
  /** The index of the choice that counts if the person picks nothing: it should be the one that permits least. */
  default: number;
}

/** The choice that a person picked. */
export interface Selection {
  /** The index of the choice. */
  selected: number;
  /** The label of the choice. */
  label: string;
}

/** A permission that a person is asked for. */
export interface SessionPermission {
  /** The text that the person reads: it must say all that `key` covers. */
  prompt: string;
  /** The tool's name for the permission, such as `delete:/tmp`. */
  key: string;
}

/** The grants of the conversation of a call. */
export interface SessionGrants {
  /** Checks whether the key was permitted in this session. */
  get(key: string): Promise<boolean>;
  /** Permits the key in this session. */
  set(key: string): Promise<void>;
}

/** The call that a tool is running. */
export interface ServedCall {
  /** The id of the call. */
  id: string;
  /** The second id of the call, if the runtime sent one. */
  callId: string | undefined;
  /** The id of the conversation. A session is a conversation. */
  groupId: string;
  /** The ids of the parent conversations, as sent by the runtime. */
  threadAncestors: readonly string[];
  /** The name of the caller in `signing.callers`; `undefined` where callers have no secrets of their own. */
  caller: string | undefined;
  /** The id of the user, as sent by the runtime. */
  userId: string | undefined;
  /** Aborts when the call is cancelled or exceeds its deadline, its conversation is closed, or the server closes. */
  signal: AbortSignal;
  /** The session permissions that people gave to this caller and user. */
  grants: SessionGrants;
  /**
   * Asks the person and resolves to the selection. Ask before the tool does anything. Several prompts of a call are asked one after the
   * other.
   *
   * Throws a `TypeError` at once for an invalid prompt. Rejects with a `HoldpointError` when the runtime can't be reached or the deadline
   * has passed (`request-closed`), or when the selection is not valid (`invalid-answer`). If the tool does not catch it, the call ends with
   * the result that the protocol prescribes.
   */
  askUser: (choice: ChoicePrompt) => Promise<Selection>;
  /**
   * Asks the person for a permission with `Yes for session`, `Yes once` and `No` (the default), and resolves to whether it was given.
   * After `Yes for session`, the person is not asked again in this conversation of the same caller and user.
   */
  askForSession: (permission: SessionPermission) => Promise<boolean>;
}

/** A tool that this server runs for a runtime in another process. */
export interface ServedTool<INPUT> {
  /** Describes the tool. The server does not use it, but the runtime can be given the same definition. */
  description?: string;
  /** Zod, any Standard Schema, or the AI SDK's `jsonSchema` with `validate`. Invalid input never reaches `execute`. */
  inputSchema: FlexibleSchema<INPUT>;
  /** As `@ai-sdk/mcp` sets it, by which a tool of an MCP client is recognised. */
  metadata?: unknown;
  /**
   * Runs the tool. A string is sent as it is, `{ content }` as content parts, anything else as its JSON. An error is sent as `Error: ` and
   * its message, and so is the result of a tool of `@ai-sdk/mcp` whose `isError` is `true`.
   */
  execute(input: INPUT, call: ServedCall): unknown;
}

/** The tools by name, each with its own type of input. */
type ServedTools<INPUTS> = { [NAME in keyof INPUTS]: ServedTool<INPUTS[NAME]> };

/** A secret of its own for each caller. */
interface CallerSecrets {
  /**
   * The secrets by the names of the callers. A caller sees and stops no other's calls, and its grants are kept under its name. Of several
   * secrets of one caller, the first signs what is sent to it and all are accepted.
   */
  callers: Readonly<Record<string, SigningOptions['secret']>>;
  /** Not beside `callers`. */
  secret?: never;
}

/**
 * Stores the permissions of a session. The tool server keeps these grants; the agent does not. Both texts are opaque: `conversation` names
 * the caller and its `group_id`, `key` the user and the permitted action.
 */
export interface GrantStore {
  /** Checks whether `key` was permitted in this conversation. Only `true` counts. */
  get(conversation: string, key: string): boolean | PromiseLike<boolean>;
  /** Permits `key` in this conversation. */
  set(conversation: string, key: string): unknown;
  /** Deletes the grants of a closed conversation. */
  clear?(conversation: string): unknown;
}

/** Options of `createToolServer`. */
export interface ToolServerOptions<INPUTS = Record<string, unknown>> {
  /** The tools that are served, by their names. */
  tools: ServedTools<INPUTS>;
  /**
   * The URL at which the runtime reaches this handler; it is part of the URLs that selections are posted to. Default: `localhost`,
   * with the port and the path of the invocation.
   */
  baseUrl?: string | URL;
  /** The origins that callbacks may be sent to, such as `https://agent.example.com`. Default: all. */
  allowedOrigins?: readonly string[];
  /**
   * Secrets of Standard Webhooks: base64 of at least 24 bytes, optionally with the prefix `whsec_`. Requests must be signed with one of
   * them, else the response is 401; callbacks are signed with the first. All who sign with a `secret` count as the same caller: give
   * callers that must not share calls and grants a secret each, `{ callers: { acme: acmeSecret, globex: globexSecret } }`. Default: no
   * signatures, and a caller is the origin of its callbacks, which anybody can claim.
   */
  signing?: (SigningOptions & { callers?: never }) | CallerSecrets;
  /**
   * Stores the permissions of a session. A grant that was stored before callers were told apart is never used again. Default: in memory, at
   * most 10,000 grants.
   */
  grants?: GrantStore;
  /** The time that a call may take, including people's answers, in milliseconds. Default 24 hours. */
  deadlineMs?: number;
  /** The time that a tool may take to stop after its signal has aborted, in milliseconds. Default 5,000. */
  graceMs?: number;
  /** The time that a runtime may take to acknowledge a callback, in milliseconds. Default 10,000. */
  callbackMs?: number;
  /** The maximum number of retries of a callback after 5xx or without a response: after 1 s, 2 s, 4 s … up to a minute. Default 10. */
  retries?: number;
  /**
   * The maximum number of running calls of each signing caller, or of all callers that don't sign; more are refused with 429. Default
   * 1,000.
   */
  maximumRunning?: number;
  /** The number of ended calls to remember for each signing caller: one that is sent again does not run again. Default 10,000. */
  maximumRemembered?: number;
  /** The maximum length of a body, received or sent, in bytes. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** Sends the callbacks. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Waits; it resolves or rejects early when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called with an error for each result that could not be delivered, and for each invocation without a valid or allowed callback URL. */
  onError?: (error: unknown) => void;
}

/** The names of these options, and no others. */
export const toolServerSettings = {
  tools: true,
  baseUrl: true,
  allowedOrigins: true,
  signing: true,
  grants: true,
  deadlineMs: true,
  graceMs: true,
  callbackMs: true,
  retries: true,
  maximumRunning: true,
  maximumRemembered: true,
  maximumBodyBytes: true,
  fetch: true,
  wait: true,
  onError: true,
} satisfies Record<keyof ToolServerOptions, true>;
