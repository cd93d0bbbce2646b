import { z } from 'zod';
import { hashText } from '../../content/crypto.ts';
import { parseJson } from '../../json/json-value.ts';
import { toolCallSchema } from '../../content/tool-call.ts';
import { hidePrincipals, userInputRequestSchema } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { replayRequests } from '../../thread/stored-requests.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { StoredRequest, ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import { readWholeLog } from '../../worker/whole-log.ts';
import { requireRequests } from './command-store.ts';

/** A request, a lost call or a stuck thread, as its log has it: rows of a store may be older, and decide nothing. */
export interface LoggedRequest {
  row: StoredRequest;
  content: LoggedContent;
  log: ThreadLog;
  /** The digest of everything that is shown: an answer repeats it, so that it counts only for that. */
  digest: string;
}

const lostCallSchema = z.object({
  type: z.literal('lost-call'),
  call: z.object(toolCallSchema.shape),
  error: z.string().optional(),
});
const stuckThreadSchema = z.object({
  type: z.literal('stuck-thread'),
  failures: z.number().optional(),
  error: z.string().optional(),
});
const contentSchema = z.union([userInputRequestSchema, lostCallSchema, stuckThreadSchema]);

/** The content of a row: a request, a lost call, or a stuck thread. */
export type LoggedContent = z.infer<typeof contentSchema>;

/** Reads the content of a row; `undefined` if its text was erased or is damaged. */
export function readContent({ text }: StoredRequest): LoggedContent | undefined {
  return text === null ? undefined : contentSchema.safeParse(parseJson(text)).data;
}

/** Finds what needs a person, by its id or, for a lost call, by `<threadId>/<toolCallId>`. The log is verified. */
export async function findLogged(store: ThreadStore, id: string): Promise<LoggedRequest> {
  const { requestId, threadId } = await findRow(requireRequests(store), id);
  const log = await readWholeLog(store, threadId);
  const row = replayRequests(log.state).get(requestId);
  const content = row && readContent(row);
  if (row === undefined || content === undefined) {
    throw new HoldpointError(
      'log-tampered',
      `Request ${requestId} is in the store, but not in the log of thread ${threadId}. Restore the store from a backup.`,
    );
  }
  return { row, content, log, digest: await digestShownContent(row, content) };
}

/** Finds the row of an id: see `findLogged`. Throws `not-found`. */
export async function findRow(requests: ThreadStoreRequests, id: string): Promise<StoredRequest> {
  const row = (await requests.get(id)) ?? (await findLostCall(requests, id));
  if (row !== undefined) return row;
  throw new HoldpointError(
    'not-found',
    `The store has no request ${id}. "holdpoint list" has their ids.`,
  );
}

async function findLostCall(
  requests: ThreadStoreRequests,
  id: string,
): Promise<StoredRequest | undefined> {
  const end = id.lastIndexOf('/');
  const lost = { kind: 'lost-call', state: 'open', threadId: id.slice(0, end) } as const;
  const rows = end <= 0 ? [] : await requests.list(lost);
  return rows.find((row) => {
    const content = readContent(row);
    return content?.type === 'lost-call' && content.call.toolCallId === id.slice(end + 1);
  });
}

/* The digest of an approval is the agent's own, with which the answer is compared when it is recorded. */
async function digestShownContent(
  { requestId, threadId }: StoredRequest,
  content: LoggedContent,
): Promise<string> {
  if (content.type === 'approval-request') return content.digest;
  const shown = JSON.stringify({ ...content, requestId, threadId });
  return hashText(`holdpoint/shown-request/v1\0${shown}`);
}

/** Throws `answer-mismatch` unless this content was shown. */
export function refuseOther({ digest, row }: LoggedRequest, shown: string): void {
  if (digest === shown) return;
  const { requestId } = row;
  throw new HoldpointError(
    'answer-mismatch',
    `Request ${requestId} is not what was shown with this digest. See it again: holdpoint show ${requestId}`,
    { requestId },
  );
}

/** A row for programs: its text as JSON, without the principals of those who voted and edited. */
export function toShownJson(row: StoredRequest, content = readContent(row)): object {
  const { text: _text, ...fields } = row;
  switch (content?.type) {
    case 'approval-request':
    case 'question-request':
      return { ...fields, request: hidePrincipals(content) };
    case 'lost-call': {
      const { toolCallId, toolName, input } = content.call;
      return { ...fields, lostCall: { toolCallId, toolName, input, error: content.error } };
    }
    case 'stuck-thread':
      return { ...fields, stuck: { failures: content.failures, error: content.error } };
    case undefined:
      return fields;
  }
}
