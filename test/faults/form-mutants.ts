import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Timed out/;
const forms = 'ui/page-forms';
const focus = 'ui/page-focus';
const refusal = 'ui/read-refusal';

/** What holds of the forms of a page while their person uses them. */
export const formMutants: readonly SourceMutant[] = [
  {
    promise: 'what is typed for a request that is over is not lost without a word',
    within: 'PageRequests.#drop',
    from: 'if (lost.length > 0) this.#page.showUnsent(lost);',
    to: '',
    suite: [forms, 'is shown when somebody else answers first'],
    sentence,
  },
  {
    promise: 'nor while the answer of somebody else is at work',
    within: 'PageRequests.settle',
    from: 'unsent !== undefined',
    to: 'unsent === null',
    suite: [forms, 'is shown while the answer of somebody else'],
    sentence,
  },

  {
    promise: 'buttons rest when something above them takes more room',
    within: 'PageRequests.#describeOpen',
    from: 'forms, this.#describeAbove()',
    to: 'forms',
    suite: [forms, 'when something above them'],
    sentence,
  },
  {
    promise: 'what is typed on goes nowhere once somebody else ends the request',
    within: 'PageFocus.follow',
    from: 'this.#stayAt(lost, open)',
    to: 'this.#moveOn(lost, open)',
    suite: [focus, 'stays at a request that somebody else ends'],
    sentence,
  },
  {
    promise: 'Enter counts once',
    within: 'ShownElement.#press',
    from: "else if (event.key === 'Enter') event.preventDefault();",
    to: '',
    suite: [focus, 'Enter counts once'],
    sentence,
  },
  {
    promise: 'a press that began before a request changed does not count',
    within: 'PageRequests.#acceptPress',
    from: 'pressed === this.#rested &&',
    to: '',
    suite: [focus, 'that went down before'],
    sentence,
  },

  {
    promise: 'the message of a refusal is shown inert',
    within: 'describeRefusal',
    from: 'inertText(message)',
    to: 'message',
    suite: [refusal, 'in a refusal of a code'],
    sentence,
  },
  {
    promise: 'the reason of a refusal is shown inert',
    within: 'pickCause',
    from: 'reason: inertText(reason)',
    to: 'reason',
    suite: [refusal, 'in the reason why'],
    sentence,
  },
  {
    promise: 'a failure is shown inert',
    within: 'ThreadChat.#fail',
    from: 'text: inertText(text)',
    to: 'text',
    suite: [refusal, 'in the failure of a run'],
    sentence,
  },
  {
    promise: 'a failure is shown inert also after a reload',
    within: 'PageState.showLoaded',
    from: 'inertText(failure.text)',
    to: 'failure.text',
    suite: [refusal, 'in the failure of a run'],
    sentence,
  },
];
