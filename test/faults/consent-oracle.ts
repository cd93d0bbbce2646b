import {
  type Clause,
  type Deed,
  type EndingType,
  type Fault,
  isApproved,
  type Known,
  type Seen,
  type Start,
  type Statement,
} from './consent-facts.ts';
import { demandsOf, type Teams } from './consent-firm.ts';
import { Rights } from './consent-rights.ts';
import { explainByStanding } from './consent-standing.ts';

/**
 * Knows who said yes to which input, and in which right, by what people did and were told, and nothing of the log. What happens at once is judged
 * in the order that explains the most.
 */
export class ConsentOracle {
  readonly faults: Fault[] = [];
  readonly #teams: Teams;
  readonly #rights: Rights;
  readonly #known = new Map<string, Known>();
  readonly #starts = new Map<string, number>();
  readonly #retries = new Map<string, number>();
  #group = 0;
  #statements: Statement[] = [];
  #deeds: Deed[] = [];
  #started: Start[] = [];
  #undone: { ref: string; status: string }[] = [];

  constructor(teams: Teams) {
    this.#teams = teams;
    this.#rights = new Rights(teams);
  }

  see(seen: Seen): void {
    const known = this.#known.get(seen.requestId);
    if (known !== undefined) {
      known.inputs.add(seen.input);
      known.openBefore = this.#group;
      return;
    }
    this.#known.set(seen.requestId, {
      ...seen,
      openBefore: this.#group,
      said: [],
      inputs: new Set([seen.input]),
      wasEdited: false,
      isRejected: false,
      isOver: false,
      isCancelled: false,
      isHeld: false,
      lent: new Map(),
      completions: [],
      rememberedBy: [],
      isRevoked: false,
    });
  }

  say(statement: Statement): void {
    this.#statements.push(statement);
  }

  do(deed: Deed): void {
    this.#deeds.push(deed);
  }

  start(start: Start): void {
    this.#started.push(start);
  }

  /** A call whose approval was recorded has ended without having started. */
  undo(ref: string, status: string): void {
    this.#undone.push({ ref, status });
  }

  report(clause: Clause, sentence: string): void {
    this.faults.push({ clause, sentence: `${this.#group}: ${sentence}` });
  }

  /** The calls that enough people have approved, and that have not started. */
  listApproved(): string[] {
    return [...this.#known.values()]
      .filter(
        (known) =>
          isApproved(known) && !known.isOver && !known.isCancelled && !this.#starts.has(known.ref),
      )
      .map(({ ref }) => ref);
  }

  /** Judges what happened at once. */
  judge(now: number): void {
    this.#lend();
    this.#count(now);
    this.#release();
    for (const start of this.#started) this.#explain(start);
    for (const { ref, status } of this.#undone) this.#blame(ref, status, now);
    this.#conclude();
    this.#statements = [];
    this.#deeds = [];
    this.#started = [];
    this.#undone = [];
    this.#group += 1;
  }

  #done<TYPE extends Deed['type']>(type: TYPE): Extract<Deed, { type: TYPE }>[] {
    const isOfType = (deed: Deed): deed is Extract<Deed, { type: TYPE }> => deed.type === type;
    return this.#deeds.filter(isOfType).filter(({ end }) => end !== 'refused');
  }

  #lend(): void {
    for (const { requestId, person, to, end } of this.#done('reassign')) {
      const known = this.#known.get(requestId);
      if (known === undefined) continue;
      const rights = this.#rights.of(known, person);
      if (rights.size === 0 && end === 'taken')
        this.report('starts', `${person} reassigned ${known.ref} and had no right to it.`);
      for (const right of rights) {
        const from = right === 'own' ? person : right;
        known.lent.set(from, new Set([...(known.lent.get(from) ?? []), to]));
      }
    }
  }

  #find(requestId: string): Known {
    const known = this.#known.get(requestId);
    if (known === undefined) throw new Error(`Nobody has seen ${requestId}.`);
    return known;
  }

  #count(now: number): void {
    const taken = this.#statements.filter(({ end }) => end !== 'refused');
    const unentitled = taken.filter((statement) => !this.#record(statement, now));
    for (const requestId of new Set(taken.map((statement) => statement.requestId))) {
      const known = this.#known.get(requestId);
      if (known === undefined) continue;
      if (!known.isRejected) this.#rights.complete(known);
      this.#refuseLent(known);
    }
    for (const { requestId, person, isYes, end } of unentitled) {
      const known = this.#find(requestId);
      /* The same answer again is told the recorded outcome, whoever gives it. */
      const isDecided = isYes ? isApproved(known) : known.isRejected;
      if (end === 'taken' && !isDecided)
        this.report(
          'starts',
          `${person} answered ${known.ref} and had no right to it, or no time.`,
        );
    }
    for (const { requestId, edits, end } of taken) {
      if (edits && end === 'taken') this.#find(requestId).wasEdited = true;
    }
  }

  /** Records what somebody said, if they may. */
  #record(statement: Statement, now: number): boolean {
    const known = this.#find(statement.requestId);
    const { person, end, isYes, input, isNamed, remembers } = statement;
    const rights = this.#rights.of(known, person);
    if (rights.size === 0 || known.expiresAt <= now) return false;
    if (!isYes) {
      known.isRejected ||= end === 'taken';
      return true;
    }
    const before = known.said.find(
      (each) => each.person === person && each.input === input && each.remembers === remembers,
    );
    /* Who says something else has changed their mind. */
    if (end === 'taken')
      known.said = known.said.filter(
        (each) => each.person !== person || each.group === this.#group,
      );
    /* Who says the same again changes nothing, also where they say less, or in another right. */
    known.said.push({
      ...statement,
      group: this.#group,
      rights: new Set([...rights, ...(before?.rights ?? [])]),
      isNamed: isNamed || before?.isNamed === true,
      wasEdited: known.wasEdited && before?.wasEdited !== false,
    });
    known.inputs.add(input);
    return true;
  }

  /** Whoever answers in another's right has nothing remembered, unless they repeat what is decided, which changes nothing. */
  #refuseLent(known: Known): void {
    if (known.openBefore < this.#group) return;
    const { quorum } = demandsOf(known.toolName, known.isEscalated);
    const remembering = known.said.filter(({ remembers, end }) => remembers && end === 'taken');
    const own = remembering.filter(({ rights }) => rights.has('own'));
    if (own.length >= quorum) return;
    for (const { person, rights, group } of remembering) {
      if (group === this.#group && !rights.has('own'))
        this.report(
          'lent rights',
          `${person} has later calls decided like ${known.ref}, in the right of ${[...rights].join()}.`,
        );
    }
  }

  #release(): void {
    for (const { threadId, person } of this.#done('resume')) {
      if (person === undefined) continue;
      for (const known of this.#known.values()) {
        if (known.threadId === threadId && this.#rights.of(known, person).size > 0)
          known.isHeld = false;
      }
    }
  }

  #explain(start: Start): void {
    const { ref, toolName, input } = start;
    const label = `${toolName} ${ref} with ${input}`;
    const count = (this.#starts.get(ref) ?? 0) + 1;
    this.#starts.set(ref, count);
    const retried = this.#done('retry').filter((each) => each.ref === ref).length;
    if (count > 1 + (this.#retries.get(ref) ?? 0) + retried)
      this.report('starts', `${label} started ${count} times.`);
    const asked = [...this.#known.values()].filter(
      (known) => known.ref === ref && !known.isRejected && !known.isOver,
    );
    const found = asked
      .flatMap(({ completions, isHeld, isCancelled }) =>
        completions.map(({ lacks, ...completion }) => ({
          ...completion,
          lacks: [
            ...lacks,
            ...(isHeld ? ['stops' as const] : []),
            ...(isCancelled ? ['cancels' as const] : []),
          ],
        })),
      )
      .filter((completion) => completion.input === input)
      .toSorted((one, other) => one.lacks.length - other.lacks.length)[0];
    const by = found?.by.map(({ person }) => person).join(' and ');
    if (found !== undefined) {
      for (const clause of found.lacks) this.report(clause, `${label} started, approved by ${by}.`);
      return;
    }
    const lacks = explainByStanding(this.#known.values(), start, this.#teams);
    if (lacks === undefined) {
      this.report('starts', `${label} started, and nobody had approved it so.`);
    }
    for (const clause of lacks ?? [])
      this.report(clause, `${label} started on a standing approval.`);
  }

  /** A recorded approval is undone by somebody who may reject the call, or by nobody. */
  #blame(ref: string, status: string, now: number): void {
    if (this.#started.some((start) => start.ref === ref)) return;
    const approved = [...this.#known.values()].filter(
      (known) => known.ref === ref && isApproved(known),
    );
    if (approved.some(({ expiresAt }) => expiresAt <= now)) return;
    const enders = [...this.#done('cancel'), ...this.#done('interrupt')];
    const isDue = enders.some(
      ({ person }) =>
        person !== undefined && approved.some((known) => this.#rights.of(known, person).size > 0),
    );
    if (isDue) return;
    const all = [...enders, ...this.#done('stop')].map(({ person = 'nobody' }) => person);
    this.report(
      'stops',
      `The approval of ${ref} was undone (${status}) by ${all.join(' or ') || 'nobody'}.`,
    );
  }

  /** What counts from now on. */
  #conclude(): void {
    for (const { requestId, person, end } of this.#done('withdraw')) {
      const known = this.#known.get(requestId);
      if (known === undefined || end !== 'taken') continue;
      if (!known.said.some((said) => said.person === person))
        this.report(
          'names',
          `${person} took back an approval of ${known.ref} that they had not given.`,
        );
      /* What they said at once may have come after it. */
      known.said = known.said.filter(
        (said) => said.person !== person || said.group === this.#group,
      );
    }
    for (const { requestId, person, end } of this.#done('remember')) {
      const known = this.#known.get(requestId);
      if (known === undefined) continue;
      const hadRight = known.said.some((each) => each.person === person && each.rights.has('own'));
      const isOwn = hadRight && this.#rights.of(known, person).has('own');
      if (end === 'taken' && !isOwn)
        this.report(
          'lent rights',
          `${person} has later calls decided like ${known.ref}, and it was not theirs.`,
        );
      known.rememberedBy.push({ person, isOwn });
    }
    for (const { requestId, end } of this.#done('revoke')) {
      const known = this.#known.get(requestId);
      if (known !== undefined && end === 'taken') known.isRevoked = true;
    }
    for (const { ref, end } of this.#done('retry')) {
      this.#retries.set(ref, (this.#retries.get(ref) ?? 0) + 1);
      if (end !== 'taken') continue;
      for (const known of this.#known.values()) if (known.ref === ref) known.isOver = true;
    }
    for (const type of ['stop', 'cancel', 'interrupt'] as const) {
      for (const { threadId, end } of this.#done(type)) {
        if (end === 'taken') this.#end(type, threadId);
      }
    }
  }

  #end(type: EndingType, threadId: string): void {
    for (const known of this.#known.values()) {
      if (known.threadId !== threadId || this.#starts.has(known.ref)) continue;
      if (type === 'cancel') known.isCancelled = true;
      if (type === 'interrupt' && !isApproved(known)) known.isOver = true;
      /* Where an approval may have come at once with the stop, or was still missing to whoever looked, nothing is held for sure. */
      const isBefore =
        known.openBefore < this.#group && known.said.every(({ group }) => group < this.#group);
      if (type === 'stop' && isApproved(known) && isBefore) known.isHeld = true;
    }
  }
}
