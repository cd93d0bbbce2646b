import { inertName } from '../../../content/inert-text.ts';
import {
  type AnswerFault,
  type AskedApproval,
  type Enter,
  lacksReason,
  type MadeAnswer,
  makeApprovalAnswer,
  makeDismissalAnswer,
  makeQuestionAnswer,
  makeRejectionAnswer,
  readEditedInput,
  restMs,
} from '../../../view/answer-form.ts';
import type { InboxAction, InboxEntry, InboxOutcome } from '../inbox-api.ts';
import {
  type Answer,
  approvingSteps,
  type Draft,
  needsSecondStep,
  placeRefusal,
  readAsked,
  type Step,
} from './answers.ts';
import type { InboxRefusal } from './decode-responses.ts';
import { describeUnread, explainWhyNot } from './entry-words.ts';
import type { InboxClient } from './inbox-client.ts';
import {
  describeOutcomes,
  describeRefused,
  describeUnseen,
  refuseAll,
  sendAnswers,
} from './outcomes.ts';
import type { Row } from './shown-list.ts';
import type { ShownState } from './shown-state.ts';

type Action = InboxAction['action'];

/** The part of the page that answering uses. */
export interface AnswersHost {
  client: Pick<InboxClient, 'answer' | 'act' | 'now'>;
  /** The page's own clock: the server's may be corrected at any time. */
  clock: () => number;
  /** The open row, as it was shown. */
  opened: () => { row: Row; key: string } | undefined;
  /** Explains why the open row can't be answered now, apart from unread fields. */
  whyNotCurrent: () => string | undefined;
  /** Returns the current state of a shown entry. */
  findKnown: (entry: InboxEntry) => InboxEntry;
  replaceEntry: (entry: InboxEntry) => void;
  /** Opens the next row after an answered one. */
  moveOn: (leftKey: string) => void;
  /** Describes the remaining requests, and the next one. */
  describeRest: () => string;
  /** Moves the focus into the step that has begun. */
  focusStep: () => void;
  changed: () => void;
  refresh: () => void;
}

/** The steps of an answer, the person's drafts, and the answers that are being sent. */
export class PageAnswers {
  readonly #host: AnswersHost;
  readonly #drafts = new Map<string, Draft>();
  readonly #sending = new Map<string, string>();
  readonly #refusals = new Map<string, InboxRefusal>();
  /** What kept an answer from being sent. */
  readonly #faults = new Map<string, readonly AnswerFault[]>();
  #step: Step = 'read';
  #seen: { key: string; seen: ShownState } | undefined;
  /** The time since which the shown content is there, by the page's own clock. */
  shownAt = 0;
  /** The outcome of the last answer, in words. */
  message = '';
  /** The last refusal, which stays until the person closes it. */
  alert: string | undefined;

  constructor(host: AnswersHost) {
    this.#host = host;
  }

  get step(): Step {
    return this.#step;
  }

  /** Restarts the steps, as something else is open. Drafts are kept. */
  reset(): void {
    this.#step = 'read';
    this.shownAt = this.#host.clock();
  }

  setStep(step: Step): void {
    this.#step = step;
    this.shownAt = this.#host.clock();
    this.#host.focusStep();
    this.#host.changed();
  }

  /** True if the shown content was there for the length of a double click. */
  get isRested(): boolean {
    return this.#host.clock() - this.shownAt >= restMs;
  }

  /** Goes one level back; returns false at the first. */
  goBack(): boolean {
    if (this.#step === 'read') return false;
    this.setStep(this.#step === 'check' ? 'edit' : 'read');
    return true;
  }

  draft(requestId: string): Draft {
    return this.#drafts.get(requestId) ?? {};
  }

  setDraft(requestId: string, change: Draft): void {
    this.#drafts.set(requestId, { ...this.draft(requestId), ...change });
    this.#refusals.delete(requestId);
    this.#faults.delete(requestId);
    this.#host.changed();
  }

  enter(requestId: string, enter: Enter): void {
    this.setDraft(requestId, enter(this.draft(requestId)));
  }

  /** Finds the approval of an entry as it was shown, with the person's rights now; `undefined` for any other entry. */
  findAsked(entry: InboxEntry): AskedApproval | undefined {
    return readAsked(entry, this.#findRights(entry));
  }

  /** Lists what has to be corrected in the form of an entry: what was missing, or what the server refused. */
  findFaults({ requestId, request }: InboxEntry): readonly AnswerFault[] {
    const refusal = this.#refusals.get(requestId);
    if (refusal === undefined || request === undefined) return this.#faults.get(requestId) ?? [];
    return [placeRefusal(request, refusal)];
  }

  /** Describes an answer that is being sent; `undefined` for none. */
  describeSending(requestId: string): string | undefined {
    return this.#sending.get(requestId);
  }

  get sendingIds(): string[] {
    return [...this.#sending.keys()];
  }

  findRefusal(requestId: string): InboxRefusal | undefined {
    return this.#refusals.get(requestId);
  }

  /** The key of the shown content, which changes with it. */
  get shownKey(): string {
    const opened = this.#host.opened();
    return `${opened?.key ?? ''}${this.#step === 'check' ? ' check' : ''}`;
  }

  get seen(): ShownState | undefined {
    return this.#seen?.key === this.shownKey ? this.#seen.seen : undefined;
  }

  setSeen(key: string, seen: ShownState): void {
    /* The content may have been read late. */
    if (key !== this.#seen?.key) this.shownAt = this.#host.clock();
    this.#seen = { key, seen };
    this.#host.changed();
  }

  /** The open entries that an answer would go to, as they were shown. */
  get answerable(): InboxEntry[] {
    const { row } = this.#host.opened() ?? {};
    return (row?.entries ?? []).filter((entry) => this.#isAnswerable(entry));
  }

  #isAnswerable(entry: InboxEntry): boolean {
    const known = this.#host.findKnown(entry);
    const isSame = known.digest === entry.digest && known.state === 'open';
    return isSame && known.rights.mayAnswer && !this.#sending.has(entry.requestId);
  }

  /* Rights change without the digest: a withdrawn approval may be given again. */
  #findRights(entry: InboxEntry): InboxEntry['rights'] {
    return this.#host.findKnown(entry).rights;
  }

  /** Explains why the person can't answer now; `undefined` if they can. */
  get whyNot(): string | undefined {
    const { row } = this.#host.opened() ?? {};
    const [first] = row?.entries ?? [];
    if (row === undefined || first === undefined) return 'Nothing is open.';
    const known = this.#host.findKnown(first);
    if (this.#isAlone) {
      const sending = this.#sending.get(first.requestId);
      if (sending !== undefined) return `${sending} …`;
      const why = explainWhyNot(known);
      if (why !== undefined) return why;
      const { expiresAt = Infinity } = known;
      if (expiresAt <= this.#host.client.now) return 'It has expired.';
      if (known.digest !== first.digest) return 'It has changed since it was shown.';
    } else if (this.answerable.length === 0) return 'None of these waits for you any more.';
    return this.#host.whyNotCurrent();
  }

  /** Explains why an approval does not count now; `undefined` if it does. */
  get whyNotApprove(): string | undefined {
    const why = this.whyNot;
    if (why !== undefined) return why;
    const [asked] = this.#asked;
    if (asked === undefined) return 'This is no approval.';
    const { mayApprove, mayEdit } = asked.rights;
    if (!mayApprove) return 'You may not approve this.';
    /* The screen has the input as it was asked then. */
    if (this.#step === 'check' && !mayEdit) return 'You may not edit this.';
    const { seen } = this;
    if (seen === undefined || !seen.isWhole) return describeUnseen(seen);
    /* Refuses a second press that was meant for the previous content. */
    if (!this.isRested) return 'It has only just been shown.';
    return undefined;
  }

  /** Approves the open row, or goes to the step before that. Says why, if it can't. */
  approve(): void {
    const why = this.whyNotApprove;
    if (why !== undefined) return this.say(why);
    const step = this.#step;
    const lacks = this.#asked.some((asked) => lacksReason(asked, this.#openedDraft));
    /* A reason that was typed to reject it is to be read before it is one to approve it. */
    if (step === 'read' && this.needsReason) return this.setStep('give-reason');
    const isBefore = step === 'read' || (step === 'give-reason' && !lacks);
    if (isBefore && this.answerable.some(needsSecondStep)) return this.setStep('confirm');
    if (approvingSteps.includes(step)) this.#decide('Approving', makeApprovalAnswer);
  }

  get #asked(): AskedApproval[] {
    return this.answerable.flatMap((entry) => this.findAsked(entry) ?? []);
  }

  /** True if an approval of the open row needs a reason, which is then sent. */
  get needsReason(): boolean {
    return this.#asked.some(({ request }) => request.requireReason === true);
  }

  /** Opens the form for the reason of a rejection. */
  startReject(): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    const [first] = this.answerable;
    if (first && this.findAsked(first) && this.#findRights(first).mayReject) this.setStep('reject');
  }

  reject(): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    this.#decide('Rejecting', makeRejectionAnswer);
  }

  #decide(words: string, make: typeof makeApprovalAnswer): void {
    const draft = this.#shownDraft;
    this.#send(words, (entry) => {
      const asked = this.findAsked(entry);
      return asked && make(asked, draft);
    });
  }

  /* One reason is for all requests of a row: the draft is kept with the first that is shown. */
  get #openedDraft(): Draft {
    const [first] = this.#host.opened()?.row.entries ?? [];
    return first === undefined ? {} : this.draft(first.requestId);
  }

  /* What is sent of the draft: what the person sees of it. The reason that they began to reject it for is none to approve it. */
  get #shownDraft(): Draft {
    const { reason = '', remembered, edits } = this.#openedDraft;
    return {
      ...((this.needsReason || this.#step === 'reject') && { reason }),
      ...(this.#isAlone && { remembered, ...(this.#step === 'check' && { edits }) }),
    };
  }

  /* A draft for one request is not for another one that is the last of several to wait. */
  get #isAlone(): boolean {
    return this.#host.opened()?.row.entries.length === 1;
  }

  startEdit(): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    const [entry] = this.answerable;
    if (entry === undefined || !this.#isAlone) return;
    if (!this.#findRights(entry).mayEdit) return this.say('You may not edit this.');
    /* A masked value would be sent as its mask. */
    if (entry.masked.length > 0) return this.say('It has a secret, so it can’t be edited here.');
    this.setStep('edit');
  }

  /** Shows the call as it would run, before it is approved. */
  checkEdit(): void {
    const [asked] = this.#asked;
    if (asked === undefined || !this.#isAlone) return;
    if (!asked.rights.mayEdit) return this.say('You may not edit this.');
    const { faults } = readEditedInput(asked, this.#openedDraft);
    const names = faults.map(({ name = '' }) => (name === '' ? 'input' : inertName(name)));
    if (names.length > 0) return this.say(`Correct this first: ${names.join(', ')}.`);
    /* Reading an earlier edit doesn't count for this one. */
    this.#seen = undefined;
    this.setStep('check');
  }

  /** Answers the open question, or dismisses it. */
  answerQuestion({ isDismissed = false } = {}): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    this.#send(isDismissed ? 'Dismissing' : 'Answering', ({ request }) => {
      if (request?.type !== 'question-request') return undefined;
      return isDismissed
        ? makeDismissalAnswer(request)
        : makeQuestionAnswer(request, this.#openedDraft);
    });
  }

  /** Sends an action on the open entry, and moves on if the person is done with it. */
  act(action: Action, words: string): void {
    const opened = this.#host.opened();
    const [entry] = opened?.row.entries ?? [];
    if (opened === undefined || entry === undefined || this.#sending.has(entry.requestId)) return;
    const why = this.#host.whyNotCurrent();
    if (why !== undefined) return this.say(why);
    this.#start(words, [entry]);
    if (action.type !== 'withdraw') this.#host.moveOn(opened.row.key);
    const { requestId, threadId, digest } = entry;
    const given = { requestId, threadId, digest, action };
    void this.#finish([entry], async () => [await this.#host.client.act(given)]);
  }

  closeAlert(): void {
    this.alert = undefined;
    this.#host.changed();
  }

  say(text: string): void {
    this.message = text;
    this.#host.changed();
  }

  /** Sends the answers, unless something in one of them has to be corrected first. */
  #send(words: string, make: (entry: InboxEntry) => MadeAnswer | undefined): void {
    const opened = this.#host.opened();
    const entries = this.answerable;
    const answers: Answer[] = [];
    for (const entry of entries) {
      const made = make(entry);
      if (made?.type !== 'made') {
        const faults = made?.faults ?? [{ text: describeUnread(entry) }];
        this.#faults.set(entry.requestId, faults);
        /* A question says it at its field, which gets the focus. */
        const isSaid = entry.request?.type === 'question-request';
        return isSaid ? this.#host.changed() : this.say(faults[0]?.text ?? '');
      }
      const { requestId, threadId, digest } = entry;
      answers.push({ requestId, threadId, digest, answer: made.response });
    }
    if (opened === undefined || entries.length === 0) return;
    this.#start(words, entries);
    this.#host.moveOn(opened.row.key);
    void this.#finish(entries, async () => sendAnswers(this.#host.client, entries, answers));
  }

  #start(words: string, entries: readonly InboxEntry[]): void {
    this.message = '';
    this.alert = undefined;
    for (const { requestId } of entries) {
      this.#sending.set(requestId, words);
      this.#refusals.delete(requestId);
    }
    this.#host.changed();
  }

  async #finish(
    entries: readonly InboxEntry[],
    send: () => Promise<InboxOutcome[]>,
  ): Promise<void> {
    const outcomes = await send().catch((error: unknown) => refuseAll(entries, error));
    for (const { requestId } of entries) this.#sending.delete(requestId);
    for (const outcome of outcomes) this.#take(outcome);
    const refused = outcomes.filter(({ status }) => status === 'refused');
    if (refused.length < outcomes.length) {
      this.message = `${describeOutcomes(outcomes)} ${this.#host.describeRest()}`;
    }
    if (refused.length > 0) this.alert = describeRefused(entries, refused);
    this.#host.changed();
    this.#host.refresh();
  }

  #take(outcome: InboxOutcome): void {
    if (outcome.entry !== undefined) this.#host.replaceEntry(outcome.entry);
    if (outcome.status === 'refused') this.#refusals.set(outcome.requestId, outcome.error);
    else this.#drafts.delete(outcome.requestId);
  }
}
