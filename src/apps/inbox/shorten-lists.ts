import type { InboxEntry, InboxRequest } from './inbox-api.ts';

/* In characters of JSON. A longer entry, or one that makes a list longer, is read by itself. */
const longestEntry = 100_000;
const longestList = 2_000_000;

/** Leaves out the content of a long entry, or of one after long entries. Its digest is still that of all that is shown of it. */
export function shortenEntries(entries: readonly InboxEntry[]): InboxEntry[] {
  return leaveOut(entries, ({ request: _request, lostCall, stuck, ...entry }) => ({
    ...entry,
    details: [],
    ...(lostCall && {
      lostCall: { toolCallId: lostCall.toolCallId, toolName: lostCall.toolName },
    }),
    ...(stuck && { stuck: { failures: stuck.failures } }),
  }));
}

/** Leaves out the long arguments of earlier decisions. */
export function shortenEarlier(earlier: InboxRequest['earlier']): InboxRequest['earlier'] {
  return leaveOut(earlier, (decision) => ({ ...decision, input: undefined }));
}

function leaveOut<EACH>(list: readonly EACH[], shorten: (each: EACH) => EACH): EACH[] {
  let left = longestList;
  return list.map((each) => {
    const { length } = JSON.stringify(each);
    if (length > longestEntry || length > left) return shorten(each);
    left -= length;
    return each;
  });
}
