import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;

/** What holds where the page of the inbox shows a request. */
export const readingMutants: readonly SourceMutant[] = [
  {
    promise: 'no text of a request reaches the page of the inbox raw',
    file: 'channels/inbox/page/inert.tsx',
    from: 'return <Escaped text={inertText(text)} />;',
    to: 'return <Escaped text={inertText(text) && text} />;',
    suite: ['inbox/reading.deep', 'is inert in every field'],
    sentence: failed,
  },
  {
    promise: 'what lies under a dialog was not shown',
    file: 'channels/inbox/page/shown-tracker.ts',
    from: 'if (name === undefined || !this.#isUncovered(end)) continue;',
    to: 'if (name === undefined || this.#isUncovered(end) === undefined) continue;',
    suite: ['inbox/reading.deep', 'is nothing while the page is hidden'],
    sentence: failed,
  },
  {
    promise: 'nothing was shown while the page was hidden',
    file: 'channels/inbox/page/shown-tracker.ts',
    from: "document.visibilityState === 'visible'",
    to: "document.visibilityState !== 'prerender'",
    suite: ['inbox/reading.deep', 'is nothing while the page is hidden'],
    sentence: failed,
  },
  {
    promise: 'what is in a closed fold was not shown',
    file: 'channels/inbox/page/reading.tsx',
    from: 'return shown?.addField(name, { label, open, start: start.current });',
    to: 'return undefined;',
    suite: ['inbox/reading.deep', 'is not what is in a closed fold'],
    sentence: failed,
  },
  {
    promise: 'what was passed over was not shown',
    file: 'channels/inbox/page/shown-tracker.ts',
    from: 'if (intersectionRatio >= 0.5) this.#inWindow.add(target);',
    to: 'if (intersectionRatio >= 0) this.#reached.add(String(this.#names.get(target)));',
    suite: ['inbox/reading.deep', 'is not what was passed over by End'],
    sentence: failed,
  },
  {
    promise: 'a masked argument is not shown, and counted',
    file: 'channels/inbox/page/arguments.tsx',
    from: 'if (isMasked(declared, path))',
    to: 'if (isMasked(declared, path) && path.length > 1)',
    suite: ['inbox/reading.deep', 'counts what can’t be shown'],
    sentence: failed,
  },
  {
    promise: 'a link that runs a script can’t be opened from the inbox',
    file: 'channels/inbox/page/web-address.ts',
    from: 'if (!opened.includes(protocol)) return plain;',
    to: '',
    suite: ['inbox/files-and-links', 'can’t be opened'],
    sentence: failed,
  },
  {
    promise: 'an amount is shown to its last digit',
    file: 'channels/inbox/page/format-value.ts',
    from: 'maximumFractionDigits: Math.max(digits, given)',
    to: 'maximumFractionDigits: digits',
    suite: ['inbox/format-value', 'to the last digit'],
    sentence: failed,
  },
  {
    promise: 'a number that was edited is no rounded one',
    file: 'channels/inbox/page/edit-draft.ts',
    from: 'return isKept(value) ? { value } : { fault: tooLarge };',
    to: 'return { value };',
    suite: ['inbox/edit-draft', 'makes of'],
    sentence: failed,
  },
  {
    promise: 'what nobody has touched stays in an edited input',
    file: 'channels/inbox/page/edit-draft.ts',
    from: 'const item = values.has(name) ? values.get(name) : readOwn(input, name);',
    to: 'const item = values.get(name);',
    suite: ['inbox/edit-draft', 'keeps what nobody has touched'],
    sentence: failed,
  },
];
