import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Timed out/;
const forms = 'ui/page-forms';
const focus = 'ui/page-focus';
const refusal = 'ui/read-refusal';
const requestsFile = 'channels/ui/browser/page-requests.ts';
const focusFile = 'channels/ui/browser/page-focus.ts';

/** What holds of the forms of a page while their person uses them. */
export const formMutants: readonly SourceMutant[] = [
  {
    promise: 'what is typed for a request that is over is not lost without a word',
    file: requestsFile,
    from: 'if (lost.length > 0) this.#page.showUnsent(lost);',
    to: '',
    suite: [forms, 'is shown when somebody else answers first'],
    sentence,
  },
  {
    promise: 'nor while the answer of somebody else is at work',
    file: requestsFile,
    from: 'unsent !== undefined && shown.has(request.requestId)',
    to: 'unsent === null && shown.has(request.requestId)',
    suite: [forms, 'is shown while the answer of somebody else'],
    sentence,
  },
  {
    promise: 'what was sent is not said to be lost',
    file: 'channels/ui/browser/request-form.ts',
    from: 'this.#isUnsent = false;\n    this.host.focus.leave',
    to: 'this.host.focus.leave',
    suite: [forms, 'is not said to be lost'],
    sentence,
  },
  {
    promise: 'buttons rest when something above them takes more room',
    file: requestsFile,
    from: 'JSON.stringify([forms, this.#describeAbove()])',
    to: 'JSON.stringify([forms])',
    suite: [forms, 'when something above them'],
    sentence,
  },
  {
    promise: 'what is typed on goes nowhere once somebody else ends the request',
    file: focusFile,
    from: 'this.#stayAt(lost, open);',
    to: 'this.#moveOn(lost, open);',
    suite: [focus, 'stays at a request that somebody else ends'],
    sentence,
  },
  {
    promise: 'Enter counts once',
    file: focusFile,
    from: "else if (event.key === 'Enter') event.preventDefault();",
    to: '',
    suite: [focus, 'Enter counts once'],
    sentence,
  },
  {
    promise: 'a press that began before a request changed does not count',
    file: requestsFile,
    from: 'return pressed === this.#rested && ',
    to: 'return ',
    suite: [focus, 'that went down before'],
    sentence,
  },
  {
    promise: 'a request that an app shows twice keeps its element',
    file: focusFile,
    from: 'if (element === null) return;',
    to: 'if (element === null) return this.#elements.clear();',
    suite: [focus, 'where an app has shown that twice'],
    sentence,
  },
  {
    promise: 'a late refusal leaves the focus where the person has put it',
    file: focusFile,
    from: 'return this.#movedTo !== undefined && this.#movedTo === focused;',
    to: 'return this.#movedTo !== focused || this.#movedTo === focused;',
    suite: [focus, 'stays where the person has put it'],
    sentence,
  },
  {
    promise: 'a late refusal takes nobody away who types',
    file: focusFile,
    from: 'keep(): void {\n    this.#movedTo = undefined;',
    to: 'keep(): void {',
    suite: [focus, 'stays in the message in which'],
    sentence,
  },
  {
    promise: 'the message of a refusal is shown inert',
    file: 'channels/ui/browser/read-refusal.ts',
    from: 'texts.get(code) ?? inertText(message)',
    to: 'texts.get(code) ?? message',
    suite: [refusal, 'in a refusal of a code'],
    sentence,
  },
  {
    promise: 'the reason of a refusal is shown inert',
    file: 'channels/ui/browser/read-refusal.ts',
    from: '{ reason: inertText(reason) }',
    to: '{ reason }',
    suite: [refusal, 'in the reason why'],
    sentence,
  },
  {
    promise: 'a failure is shown inert',
    file: 'channels/ui/browser/thread-chat.ts',
    from: "{ type: 'failed', text: inertText(text) }",
    to: "{ type: 'failed', text }",
    suite: [refusal, 'in the failure of a run'],
    sentence,
  },
  {
    promise: 'a failure is shown inert also after a reload',
    file: 'channels/ui/browser/page-state.ts',
    from: 'text: inertText(failure.text)',
    to: 'text: failure.text',
    suite: [refusal, 'in the failure of a run'],
    sentence,
  },
];
