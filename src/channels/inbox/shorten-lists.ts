import type { InboxEntry, InboxRequest } from './inbox-api.ts';

/* In characters of JSON. What is longer, or makes a list longer, is read by itself. */
const longestEntry = 100_000;
const longestList = 2_000_000;

/** Entries of a list: where one is long, or those before it are, its content is left out. Its digest is still that of all that is shown of it. */
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

/** Earlier decisions: where the arguments of one are long, they are left out. */
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
