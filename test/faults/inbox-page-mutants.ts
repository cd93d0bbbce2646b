import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;

/** What holds on the page of the inbox. */
export const inboxPageMutants: readonly SourceMutant[] = [
  {
    promise: 'no key in a field answers a request of the inbox',
    file: 'channels/inbox/page/key-map.ts',
    from: "if (place === 'field') return undefined;",
    to: '',
    suite: ['inbox/page-keys', 'in a field every key is text'],
    sentence: failed,
  },
  {
    promise: 'a held key answers one request of the inbox',
    file: 'channels/inbox/page/key-gate.ts',
    from: 'if (repeat || this.#down.has(code)) {',
    to: 'if (repeat && this.#down.size === 0) {',
    suite: ['inbox/page-keys', 'a key counts once'],
    sentence: failed,
  },
  {
    promise: 'on the page of the inbox nothing is approved before all of it was shown',
    file: 'channels/inbox/page/page-answers.ts',
    from: 'if (seen === undefined || !seen.isWhole) return describeUnseen(seen);',
    to: '',
    suite: ['inbox/page-answers', 'before all of the request was shown'],
    sentence: failed,
  },
  {
    promise: 'what was seen of a call does not count for its edit',
    file: 'channels/inbox/page/page-answers.ts',
    from: "${this.#step === 'check' ? ' check' : ''}",
    to: '',
    suite: ['inbox/page-answers', 'an edit is checked before it runs'],
    sentence: failed,
  },
  {
    promise: 'a page of the inbox that slept reads the log before an answer counts',
    file: 'channels/inbox/page/freshness.ts',
    from: 'return this.#settled === this.#doubts && !this.#hasGap(now);',
    to: 'return this.#settled === this.#doubts;',
    suite: ['inbox/page-answers', 'after eight hours of sleep'],
    sentence: /expects to receive a string/,
  },
  {
    promise: 'arrivals move no row of the inbox',
    file: 'channels/inbox/page/shown-list.ts',
    from: 'for (const entry of entries) this.replace(entry);',
    to: 'this.show();',
    suite: ['inbox/page-list', 'arrivals are counted'],
    sentence: failed,
  },
  {
    promise: 'a row of the inbox that has changed since it was shown is not answered',
    file: 'channels/inbox/page/page-answers.ts',
    from: 'const isSame = known.digest === entry.digest && ',
    to: 'const isSame = ',
    suite: ['inbox/page-answers', 'one of several that has changed'],
    sentence: failed,
  },
  {
    promise: 'one reason is for all requests of the inbox that are answered together',
    file: 'channels/inbox/page/page-answers.ts',
    from: "const { reason = '' } = this.#openedDraft;",
    to: "const { reason = '' } = this.draft(first.requestId);",
    suite: ['inbox/page-answers', 'one reason is for all'],
    sentence: failed,
  },
  {
    promise: 'what somebody else has changed is shown anew before it is approved',
    file: 'channels/inbox/page/page-answers.ts',
    from: "if (known.digest !== first.digest) return 'It has changed since it was shown.';",
    to: '',
    suite: ['inbox/page-answers', 'a request that has changed since it was shown'],
    sentence: /AssertionError|expects to receive a string/,
  },
];
