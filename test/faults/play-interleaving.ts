import { setImmediate } from 'node:timers/promises';
import { vi } from 'vitest';
import { audit } from './auditor.ts';
import type { Interleaving } from './interleaving.ts';
import type { StoreView } from './mortal-world.ts';
import type { Outbox } from './outbox.ts';
import { runFaults } from './run-faults.ts';
import { leaseMs, type ScheduledProcess, ScheduledWorld } from './scheduled-world.ts';
import { makeMove, type Move, settle } from './thread-moves.ts';

const patienceMs = 30_000;

/** What an interleaving came to: how each move ended, and what was broken. */
interface InterleavingEnd {
  ends: string[];
  faults: string[];
}

/** Plays an interleaving, drives its thread to the end, and audits it. */
export async function playInterleaving(
  interleaving: Interleaving,
  view?: StoreView,
  outbox?: Outbox,
): Promise<InterleavingEnd> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  try {
    return await new Play(interleaving, view, outbox).play();
  } finally {
    vi.useRealTimers();
  }
}

class Play {
  readonly #interleaving: Interleaving;
  readonly #world: ScheduledWorld;
  readonly #ends: string[] = [];
  readonly #faults: string[] = [];
  /** How calls ended, as anybody saw it. */
  readonly #ended = new Map<string, string>();

  constructor(interleaving: Interleaving, view: StoreView | undefined, outbox: Outbox | undefined) {
    this.#interleaving = interleaving;
    this.#world = new ScheduledWorld({ ...interleaving, view, outbox });
  }

  async play(): Promise<InterleavingEnd> {
    const { isOpened, actors } = this.#interleaving;
    const opener = await this.#world.start('the opener');
    if (isOpened) await opener.agent.run('Book it', opener.thread, { messageId: 'm0' });
    this.#world.show(opener.thread);
    const processes = await Promise.all(
      actors.map(async (actor, index) => this.#world.start(`${index + 1}`, actor)),
    );
    this.#world.isScheduled = true;
    await this.#interleave(
      Promise.all([
        this.#tick(),
        ...processes.map(async (process, index) => this.#act(process, actors[index]?.moves ?? [])),
      ]),
    );
    this.#world.isScheduled = false;
    await this.#finish().catch((error: unknown) => {
      this.#faults.push(`The thread can't be brought to its end: ${String(error)}`);
    });
    this.#faults.push(...(await this.#audit()));
    return { ends: this.#ends, faults: this.#faults };
  }

  async #audit(): Promise<string[]> {
    const evidence = await this.#world.evidence();
    const { processes } = this.#world;
    const faults = evidence.flatMap((each) => [
      ...audit(each),
      ...runFaults(each.events, processes),
    ]);
    return [...faults, ...(await this.#world.rowFaults())];
  }

  /** Lets one step happen at a time until all have acted, and nothing is under way any more. */
  async #interleave(acting: Promise<unknown>): Promise<void> {
    const { scheduler } = this.#interleaving;
    const stuck = Promise.withResolvers<never>();
    let isDone = false;
    const done = acting.then(() => (isDone = true));
    /* All that a step leads to has come about before the next one. */
    const settled = async (step: () => Promise<void>): Promise<void> => {
      await step();
      await setImmediate();
      const begin = performance.now();
      for (let nth = 0; scheduler.count() === 0; nth += 1) {
        if (isDone) return;
        /* Whoever waits for another process to stop looks again after a while. */
        if (nth < 50) this.#world.pass(250);
        /* A module that is being loaded takes real time, and long on a busy machine. */
        else if (performance.now() - begin > patienceMs) {
          stuck.reject(new Error('Nobody can go on.'));
          return;
        }
        await setImmediate();
      }
    };
    await scheduler.waitFor(Promise.race([done, stuck.promise]), settled);
    await scheduler.waitIdle(settled);
  }

  async #tick(): Promise<void> {
    for (const { ms, rings } of this.#interleaving.ticks) {
      await this.#world.turn(`the clock moves by ${ms}`);
      if (rings && ms > 0) this.#world.pass(ms);
      else this.#world.jump(ms);
    }
  }

  async #act(process: ScheduledProcess, own: readonly Move[]): Promise<void> {
    for (const move of own) {
      await this.#world.turn(`${process.name} makes a move (${move.type})`);
      const { end, faults } = await makeMove(this.#world, process, move);
      this.#ends.push(`${move.type}: ${end}`);
      this.#faults.push(...faults);
      await this.#look(process);
    }
  }

  /** How a call ended is the same, whoever looks, and whenever. */
  async #look({ name, thread }: ScheduledProcess): Promise<void> {
    await this.#world.look();
    for (const { toolCallId, idempotencyKey = toolCallId, outcome } of thread.calls) {
      if (outcome === undefined) continue;
      const text = JSON.stringify(outcome);
      const before = this.#ended.get(idempotencyKey) ?? text;
      this.#ended.set(idempotencyKey, before);
      if (before !== text) this.#faults.push(`${name} saw ${toolCallId} end otherwise.`);
    }
  }

  /** What a patient worker and a person do until nothing is left to do. */
  async #finish(): Promise<void> {
    for (let attempt = 0; attempt < 12; attempt += 1) {
      this.#world.jump(leaseMs);
      const owner = await this.#world.owner();
      if (owner === undefined) return;
      const process = await this.#world.start('the finisher', { owner });
      const { agent, thread } = process;
      if ((await settle(this.#world, process, false)) === 'settled') continue;
      /* An answer is in time by the log, whose events may be later than this clock. */
      const time = Math.max(this.#world.time, thread.events.at(-1)?.at ?? 0);
      const answers = thread.activeApprovalRequests
        .filter(({ expiresAt = Infinity }) => expiresAt > time)
        .map((request) => request.approve());
      /* A stop holds calls, or what a custom agent's next step would use. */
      const isWaiting = thread.status === 'waiting' && thread.activeRequests.length === 0;
      const resumeStopped = isWaiting || thread.calls.some(({ held }) => held === true);
      const { status } = await agent.run(answers, thread, { principal: 'ann', resumeStopped });
      await this.#look(process);
      if ((status === 'completed' || status === 'cancelled') && thread.status === 'idle') return;
    }
    this.#faults.push('The thread never came to its end.');
  }
}
