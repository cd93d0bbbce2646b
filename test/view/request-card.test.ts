import { renderRequest } from 'holdpoint/terminal';
import { describe, expect, test } from 'vitest';
import { toInterrupt } from '../../src/channels/ag-ui/interrupts.ts';
import { renderRequestPage } from '../../src/apps/links/request-page.ts';
import { PageRequests } from '../../src/channels/ui/browser/page-requests.ts';
import { makeAnswerable } from '../../src/content/answerable.ts';
import { hidePrincipals } from '../../src/content/user-input.ts';
import { hiddenFact, now, richRequest, shownFacts } from './rich-request.ts';

const { requestId, threadId } = richRequest;
const rights = {
  requestId,
  threadId,
  mayAnswer: true,
  mayApprove: true,
  mayReject: true,
  mayEdit: true,
  mayRemember: richRequest.remember,
  mayWithdraw: false,
  mayReassign: false,
};

/** What each channel shows of the request, as text. That of the inbox is read in Chromium: `test/inbox/reading.deep.ts`. */
const channels: Record<string, () => string> = {
  terminal: () => renderRequest(richRequest, { timeZone: 'UTC', now: () => now }),
  'AG-UI': () =>
    toInterrupt(makeAnswerable(richRequest), { schemas: new Map(), rights: new Map() }).message,
  'a link': () => {
    const page = renderRequestPage({
      request: richRequest,
      masked: 0,
      rights,
      person: 'fay',
      needsSignIn: false,
      endsAt: now,
      reader: { now, timeZone: 'UTC' },
      inboxUrl: undefined,
      code: 'c',
    });
    return readMarkup(page.markup);
  },
  'a page of a chat': () => {
    const [shown] = openPage().shown;
    return [
      shown?.text,
      ...(shown?.lines ?? []),
      shown?.call,
      ...(shown?.fields ?? []).flatMap(({ label, text }) => [label, text?.value]),
    ].join('\n');
  },
};

describe.each(Object.entries(channels))('%s shows', (_name, show) => {
  test.each(Object.entries(shownFacts))('%s', (_fact, words) => {
    expect(show()).toMatch(words);
  });

  test('nothing of a principal but its name and id', () => {
    expect(show()).not.toContain(hiddenFact);
  });
});

/** A page of a chat with the request. */
function openPage(): PageRequests {
  const part = {
    type: 'data-approval-request' as const,
    id: requestId,
    data: hidePrincipals(richRequest),
  };
  return new PageRequests({
    messages: () => [{ id: 'm', role: 'assistant', parts: [part] }],
    now: () => now,
    problem: () => undefined,
    rightsFor: () => rights,
    isSending: () => false,
    changed: () => undefined,
    clearProblem: () => undefined,
    answer: () => undefined,
    withdraw: () => undefined,
    showUnsent: () => undefined,
    wait: async () => undefined,
    signal: () => new AbortController().signal,
  });
}

/** The text of a page's markup. */
function readMarkup(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_found, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/[^\S\n]+/g, ' ');
}
