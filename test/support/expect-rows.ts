import type { AgentThread, StoredRequest, ThreadStore } from 'holdpoint';
import { expect } from 'vitest';

/** Expects that the rows of a store say of a thread what its handle says. */
export function expectSameRows(rows: readonly StoredRequest[], thread: AgentThread): void {
  expect(describeRows(rows)).toEqual(describeThread(thread));
}

export async function expectRowsOf(store: ThreadStore, thread: AgentThread): Promise<void> {
  const rows = (await store.requests?.list({ threadId: thread.id, limit: 1_000 })) ?? [];
  expect(describeRows(rows)).toEqual(describeThread(thread));
  await thread.verify();
}

/** What rows say, in the order of their ids. */
function describeRows(rows: readonly StoredRequest[]) {
  const present = rows.filter(({ state }) => state !== 'settled');
  return present.map(describeRow).toSorted(byText);
}

function describeRow({ kind, requestId, state, text, agent }: StoredRequest): string {
  const content: unknown = JSON.parse(text ?? '');
  switch (kind) {
    case 'approval':
    case 'question':
      return JSON.stringify([requestId, state, state === 'open' ? agent : '', content]);
    case 'lost-call':
      return JSON.stringify([kind, Reflect.get(Object(content), 'call').toolCallId]);
    case 'stuck-thread':
      return kind;
  }
}

/** The same, as the handle of the thread says it. The rows of a sub-agent's thread are those of its lost calls. */
function describeThread(thread: AgentThread): string[] {
  const { activeRequests, decisions, calls, failure, agent = null, status, events } = thread;
  const [created] = events;
  const isBelow = created?.type === 'thread-created' && created.parent !== undefined;
  const open = activeRequests.map((request) => [request.requestId, 'open', agent, request]);
  const decided = decisions.map(({ status: end, request }) => [
    request.requestId,
    end,
    '',
    request,
  ]);
  const lost = calls.filter(
    (call) => call.status === 'indeterminate' && call.recoverAt === undefined,
  );
  const isStuck = status === 'stuck' && failure !== undefined;
  return [
    ...(isBelow ? [] : [...open, ...decided].map((each) => JSON.stringify(each))),
    ...lost.map(({ toolCallId }) => JSON.stringify(['lost-call', toolCallId])),
    ...(isStuck && !isBelow ? ['stuck-thread'] : []),
  ].toSorted(byText);
}

const byText = (one: string, other: string): number => Number(one > other) - Number(one < other);
