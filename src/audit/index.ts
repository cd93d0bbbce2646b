import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { applyEntry } from '../thread/apply-events.ts';
import { readEntry } from '../thread/log-entry.ts';
import { parseThreadJson, verifyEntries } from '../thread/thread-json.ts';
import { listCalls, makeEmptyThread } from '../thread/thread-state.ts';
import { type AuditTrail, makeAuditTrail } from './audit-trail.ts';

export type { AuditTrail } from './audit-trail.ts';

/**
 * The history of a thread, in rows for people who review it: who asked, what was shown, who answered and through which channel, what was
 * edited, what ran under which idempotency key, and how it ended. It is derived from the log, and ends with the log's hash.
 *
 * The log is read from its beginning and verified first, as by `thread.verify()`. Rejects with `log-tampered` if anything was changed.
 *
 * @example
 * const trail = await auditTrail(thread);
 * await writeFile('trail.csv', trail.toCsv());
 */
export async function auditTrail(thread: AgentThread): Promise<AuditTrail> {
  await thread.verify();
  /* The handle may have been opened when the store had another log. */
  return deriveTrail(thread.toJSON());
}

/**
 * Checks a trail, in any of its three forms, against the JSON form of its thread: verifies the log's hashes, derives the trail again, and
 * compares the texts. For a reviewer who has both and trusts neither. Rejects with `log-tampered` for a log that was changed, and with
 * `invalid-input` and the first line that differs for a trail that differs from the log. A log that has grown since differs at the end.
 */
export async function checkAuditTrail(trail: string, json: unknown): Promise<AuditTrail> {
  const derived = await deriveTrail(json);
  const forms = [derived.toText(), derived.toJsonLines(), derived.toCsv()];
  if (forms.includes(trail)) return derived;
  const line = Math.max(...forms.map((form) => findFirstDifference(form, trail)));
  throw new HoldpointError(
    'invalid-input',
    `The audit trail of thread ${derived.threadId} differs from its log at line ${line}. Make it again with auditTrail, and compare the two.`,
  );
}

/** The trail of the JSON form of a thread, whose hashes are verified first. */
async function deriveTrail(json: unknown): Promise<AuditTrail> {
  const { threadId, entries } = parseThreadJson(json);
  const hash = (await verifyEntries(entries)).at(-1)?.hash ?? '';
  const state = makeEmptyThread(threadId);
  for (const entry of entries) applyEntry(state, readEntry(entry));
  return makeAuditTrail({
    threadId,
    events: state.events.slice(),
    calls: listCalls(state, 0),
    hash,
  });
}

/** The number of the first line, from 1, in which two texts differ. */
function findFirstDifference(one: string, other: string): number {
  const lines = one.split('\n');
  const others = other.split('\n');
  const index = lines.findIndex((line, at) => line !== others[at]);
  return (index === -1 ? lines.length : index) + 1;
}
