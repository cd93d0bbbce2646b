import type { Inbox } from './inbox.ts';

const readMs = 3_000;
/* A claim lapses by itself, so whoever still reads says so again. */
const againMs = 60_000;

/**
 * Lets others know that the person is reading a request: after some seconds, as it is, and again while it stays open. A hint, which keeps
 * nobody from answering.
 */
export function claimOpened(inbox: Inbox): void {
  let openKey: string | undefined;
  let timer: number | undefined;
  const claim = (): void => {
    const [entry, ...others] = inbox.opened?.row.entries ?? [];
    if (entry === undefined || others.length > 0) return;
    if (!inbox.needsPerson(inbox.findKnown(entry))) return;
    const { requestId, threadId, digest } = entry;
    timer = window.setTimeout(claim, againMs);
    if (document.hidden) return;
    /* Nobody needs to know that a hint was not taken. */
    void inbox.client
      .act({ requestId, threadId, digest, action: { type: 'claim' } })
      .catch(() => undefined);
  };
  inbox.subscribe(() => {
    if (inbox.opened?.key === openKey) return;
    openKey = inbox.opened?.key;
    clearTimeout(timer);
    timer = window.setTimeout(claim, readMs);
  });
}
