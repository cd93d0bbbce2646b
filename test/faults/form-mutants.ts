import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Timed out/;
const forms = 'ui/page-forms';
const focus = 'ui/page-focus';
const refusal = 'ui/read-refusal';
const answer = 'view/answer-form';

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
    promise: 'nothing is sent while an entry of a form can’t be read',
    within: 'makeApprovalAnswer',
    from: "if (all.length > 0) return { type: 'faulty', faults: all };",
    to: '',
    suite: [answer, 'is not sent while an entry'],
    sentence,
  },
  {
    promise: 'one person rejects no later calls where several must approve',
    within: 'makeRejectionAnswer',
    from: '&& !isForQuorum(asked)',
    to: '',
    suite: [answer, 'reject later calls where several'],
    sentence,
  },
  {
    promise: 'a form edits nothing that its person may not edit',
    within: 'readEditedInput',
    from: 'mayEdit(asked) ? asked : { request: {} }',
    to: 'asked',
    suite: [answer, 'where the person may not edit'],
    sentence,
  },
  {
    promise: 'what was entered and is not shown any more lets nothing be approved without it',
    within: 'readEdits',
    from: '!names.has(name)',
    to: "!names.has(name) && name === ''",
    suite: [answer, 'whose argument may not be edited any more'],
    sentence,
  },
  {
    promise: 'a request in whose form a field was emptied is not approved with others',
    within: 'isFilledIn',
    from: '(edits?.size ?? 0) > 0',
    to: "[...(edits?.values() ?? [])].some(({ text }) => text !== '')",
    suite: [answer, 'an emptied field too'],
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
