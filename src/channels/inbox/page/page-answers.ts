import type { QuestionAnswer } from '../../../content/question.ts';
import type { InboxAction, InboxEntry, InboxOutcome } from '../inbox-api.ts';
import { type Answer, type Draft, makeAnswer, needsSecondStep, type Step } from './answers.ts';
import { readEditDraft, renewDraft } from './edit-draft.ts';
import type { InboxRefusal } from './decode-responses.ts';
import { explainWhyNot } from './entry-words.ts';
import type { InboxClient } from './inbox-client.ts';
import { restMs } from './key-gate.ts';
import {
  describeOutcomes,
  describeRefused,
  describeUnseen,
  findSuggestion,
  type OutcomeMessage,
  refuseAll,
} from './outcomes.ts';
import { pickApproval } from './request-words.ts';
import type { Row } from './shown-list.ts';
import type { ShownState } from './shown-state.ts';

type Action = InboxAction['action'];

/* The route takes so many answers at once. */
const most = 200;

/** What answering needs of the page around it. */
export interface AnswersHost {
  client: Pick<InboxClient, 'answer' | 'act' | 'now'>;
  /** The page's own clock: that of the server may be corrected at any time. */
  clock: () => number;
  /** What is open, as it was shown. */
  opened: () => { row: Row; key: string } | undefined;
  /** Why nothing of what is open may be answered now, apart from what the person has seen of it. */
  whyNotCurrent: () => string | undefined;
  /** An entry that was shown, as it is now. */
  findKnown: (entry: InboxEntry) => InboxEntry;
  replaceEntry: (entry: InboxEntry) => void;
  /** Opens what comes after a row that was answered. */
  moveOn: (leftKey: string) => void;
  /** What is left, and what is next, as words. */
  describeRest: () => string;
  /** The focus belongs into the step that has begun. */
  focusStep: () => void;
  changed: () => void;
  refresh: () => void;
}

/** The steps of an answer, what the person has filled in, and the answers that are on their way. */
export class PageAnswers {
  readonly #host: AnswersHost;
  readonly #drafts = new Map<string, Draft>();
  readonly #sending = new Map<string, string>();
  readonly #refusals = new Map<string, InboxRefusal>();
  #step: Step = 'read';
  #seen: { key: string; seen: ShownState } | undefined;
  /** Since when what is shown is there, by the page's own clock. */
  shownAt = 0;
  message: OutcomeMessage | undefined;
  /** The last refusal, which stays until the person closes it. */
  alert: string | undefined;

  constructor(host: AnswersHost) {
    this.#host = host;
  }

  get step(): Step {
    return this.#step;
  }

  /** Something else is open: the steps begin anew. Drafts are kept. */
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

  /** Whether what is shown was there for as long as a double click takes. */
  get isRested(): boolean {
    return this.#host.clock() - this.shownAt >= restMs;
  }

  /** One level back; false at the first. */
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
    this.#host.changed();
  }

  /** The words for an answer that is on its way; `undefined` for none. */
  describeSending(requestId: string): string | undefined {
    return this.#sending.get(requestId);
  }

  get sendingIds(): string[] {
    return [...this.#sending.keys()];
  }

  findRefusal(requestId: string): InboxRefusal | undefined {
    return this.#refusals.get(requestId);
  }

  /** A key for what is shown: another one as soon as something else is. */
  get shownKey(): string {
    const opened = this.#host.opened();
    return `${opened?.key ?? ''}${this.#step === 'check' ? ' check' : ''}`;
  }

  get seen(): ShownState | undefined {
    return this.#seen?.key === this.shownKey ? this.#seen.seen : undefined;
  }

  setSeen(key: string, seen: ShownState): void {
    /* It may have been read late. */
    if (key !== this.#seen?.key) this.shownAt = this.#host.clock();
    this.#seen = { key, seen };
    this.#host.changed();
  }

  /** The entries of what is open that an answer would go to, as they were shown. */
  get answerable(): InboxEntry[] {
    const { row } = this.#host.opened() ?? {};
    return (row?.entries ?? []).filter((entry) => this.#isAnswerable(entry));
  }

  #isAnswerable(entry: InboxEntry): boolean {
    const known = this.#host.findKnown(entry);
    const isSame = known.digest === entry.digest && known.state === 'open';
    return isSame && known.rights.mayAnswer && !this.#sending.has(entry.requestId);
  }

  /* They change without the digest: after an approval is taken back, it may be given again. */
  #findRights(entry: InboxEntry): InboxEntry['rights'] {
    return this.#host.findKnown(entry).rights;
  }

  /** Why nobody can answer now; `undefined` if the person may. */
  get whyNot(): string | undefined {
    const { row } = this.#host.opened() ?? {};
    const [first] = row?.entries ?? [];
    if (row === undefined || first === undefined) return 'Nothing is open.';
    const known = this.#host.findKnown(first);
    const isAlone = row.entries.length === 1;
    if (isAlone) {
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

  /** Why an approval does not count now; `undefined` if it does. */
  get whyNotApprove(): string | undefined {
    const why = this.whyNot;
    if (why !== undefined) return why;
    const [first] = this.answerable;
    if (first === undefined || pickApproval(first) === undefined) return 'This is no approval.';
    if (!this.#findRights(first).mayApprove) return 'You may not approve this.';
    const { seen } = this;
    if (seen === undefined || !seen.isWhole) return describeUnseen(seen);
    /* A second press that was meant for what was shown before. */
    if (!this.isRested) return 'It has only just been shown.';
    return undefined;
  }

  /** Approves what is open, or goes to the step that comes before. Says why, if it can't be. */
  approve(): void {
    const why = this.whyNotApprove;
    if (why !== undefined) return this.say(why);
    const { reason = '' } = this.#openedDraft;
    const needsReason = this.answerable.some((each) => pickApproval(each)?.requireReason === true);
    const lacksReason = needsReason && reason.trim() === '';
    const isCritical = this.answerable.some(needsSecondStep);
    switch (this.#step) {
      case 'read':
        if (lacksReason) return this.setStep('give-reason');
        if (isCritical) return this.setStep('confirm');
        return this.#sendApproval();
      case 'give-reason':
        if (lacksReason) return this.say('Give a reason to approve this.');
        if (isCritical) return this.setStep('confirm');
        return this.#sendApproval();
      case 'check':
        if (lacksReason) return this.say('Give a reason to approve this.');
        return this.#sendApproval();
      case 'confirm':
        return this.#sendApproval();
      case 'reject':
      case 'edit':
      case 'reassign':
      case 'settle':
    }
  }

  #sendApproval(): void {
    const entries = this.answerable;
    const isEdited = this.#step === 'check';
    this.#send('Approving', entries, (entry) => {
      const { reason, rememberedFor, edit } = this.#openedDraft;
      const { mayRemember } = entry.rights;
      return makeAnswer(entry, true, {
        reason,
        ...(rememberedFor === entry.digest && this.#isAlone ? { remember: mayRemember } : {}),
        ...(isEdited ? { input: readEditDraft(edit)?.input } : {}),
      });
    });
  }

  /** Opens the reason of a rejection. */
  startReject(): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    const [first] = this.answerable;
    if (first === undefined || pickApproval(first) === undefined) return;
    if (this.#findRights(first).mayReject) this.setStep('reject');
  }

  reject(): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    const entries = this.answerable;
    this.#send('Rejecting', entries, (entry) =>
      makeAnswer(entry, false, { reason: this.#openedDraft.reason }),
    );
  }

  /* One reason is for all requests of a row: what was filled in is kept with the first that is shown. */
  get #openedDraft(): Draft {
    const [first] = this.#host.opened()?.row.entries ?? [];
    return first === undefined ? {} : this.draft(first.requestId);
  }

  /* What was filled in for one request is not for another that is the last of several to wait. */
  get #isAlone(): boolean {
    return this.#host.opened()?.row.entries.length === 1;
  }

  startEdit(): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    const [entry] = this.answerable;
    if (entry === undefined || !this.#isAlone) return;
    if (!this.#findRights(entry).mayEdit) return this.say('You may not edit this.');
    /* What is masked would be sent as its mask. */
    if (entry.masked.length > 0) return this.say('It has a secret, so it can’t be edited here.');
    const draft = this.draft(entry.requestId);
    /* The request may have changed since the draft was made. */
    this.#drafts.set(entry.requestId, { ...draft, edit: renewDraft(entry, draft.edit) });
    this.setStep('edit');
  }

  /** Shows what would run, before it is approved. */
  checkEdit(): void {
    const [entry] = this.answerable;
    if (entry === undefined || !this.#isAlone) return;
    const { faults = [] } = readEditDraft(this.draft(entry.requestId).edit) ?? {};
    if (faults.length > 0) return this.say(`Correct this first: ${faults.join(', ')}.`);
    /* What was read of the edit before is not this one. */
    this.#seen = undefined;
    this.setStep('check');
  }

  answerQuestion(answers: readonly QuestionAnswer[] | undefined): void {
    const why = this.whyNot;
    if (why !== undefined) return this.say(why);
    const given =
      answers === undefined
        ? { status: 'dismissed' as const }
        : { status: 'answered' as const, answers: [...answers] };
    const words = answers === undefined ? 'Dismissing' : 'Answering';
    this.#send(words, this.answerable, ({ requestId, threadId, digest }) => ({
      requestId,
      threadId,
      digest,
      answer: { type: 'question-response', requestId, ...given },
    }));
  }

  /** Sends an action on what is open, and goes on if the person is done with it. */
  act(action: Action, words: string): void {
    const opened = this.#host.opened();
    const [entry] = opened?.row.entries ?? [];
    if (opened === undefined || entry === undefined || this.#sending.has(entry.requestId)) return;
    const why = this.#host.whyNotCurrent();
    if (why !== undefined) return this.say(why);
    this.#start(words, [entry]);
    if (action.type !== 'withdraw') this.#host.moveOn(opened.row.key);
    void this.#finish([entry], async () => this.#act(entry, action));
  }

  /** Makes the suggested rule, from the approval that was given. */
  acceptSuggestion(): void {
    const { suggestion } = this.message ?? {};
    if (suggestion === undefined) return;
    const { entry, terms } = suggestion;
    this.#start('Making the rule', [entry]);
    void this.#finish(
      [entry],
      async () => this.#act(entry, { type: 'remember', remember: terms.remember }),
      'The rule is made. It can be taken back like any other.',
    );
  }

  async #act({ requestId, threadId, digest }: InboxEntry, action: Action) {
    return [await this.#host.client.act({ requestId, threadId, digest, action })];
  }

  closeAlert(): void {
    this.alert = undefined;
    this.#host.changed();
  }

  say(text: string): void {
    this.message = { text };
    this.#host.changed();
  }

  #send(words: string, entries: readonly InboxEntry[], make: (entry: InboxEntry) => Answer): void {
    const opened = this.#host.opened();
    if (opened === undefined || entries.length === 0) return;
    const answers = entries.map(make);
    this.#start(words, entries);
    this.#host.moveOn(opened.row.key);
    void this.#finish(entries, async () => {
      const outcomes: InboxOutcome[] = [];
      for (let from = 0; from < answers.length; from += most) {
        const sent = this.#host.client.answer(answers.slice(from, from + most));
        const refuse = (error: unknown) => refuseAll(entries.slice(from, from + most), error);
        outcomes.push(...(await sent.catch(refuse)));
      }
      return outcomes;
    });
  }

  #start(words: string, entries: readonly InboxEntry[]): void {
    this.message = undefined;
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
    words?: string,
  ): Promise<void> {
    const outcomes = await send().catch((error: unknown) => refuseAll(entries, error));
    for (const { requestId } of entries) this.#sending.delete(requestId);
    for (const outcome of outcomes) this.#take(outcome);
    const recorded = outcomes.filter(({ status }) => status === 'recorded');
    const refused = outcomes.filter(({ status }) => status === 'refused');
    if (recorded.length > 0) {
      const suggestion = words === undefined ? findSuggestion(outcomes) : undefined;
      const text = `${words ?? describeOutcomes(outcomes)} ${this.#host.describeRest()}`;
      this.message = { text, ...(suggestion && { suggestion }) };
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
